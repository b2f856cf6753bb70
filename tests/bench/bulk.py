"""How long a large project takes to be there, by batches and in bulk, and what it costs then.

Rows are made once in --data-dir, which keeps them. The commands are those that people run, each in
a process of its own whose memory is watched, with that of its Neo4j.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from drift.contracts.filter import Filter
from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.graph.graph import Neo4jGraph
from drift.http import wiring
from drift.llm import local_embedding
from drift.local.cli.servers import running
from drift.local.stack.record import read_record
from drift.local.stack.stack import StackOptions
from drift.local.wiring import closing
from drift.model.graph import FollowupQuery
from tests.bench.bulk_rows import YEARS, write_rows
from tests.bench.command import Options, milliseconds, read_options, run, seconds_of, show, stack_of

PROJECT = "made"
WORDS_OF_A_QUESTION = 9
_LOOK_EVERY_S = 0.25


async def bench(asked: Options) -> None:
    """Make the rows, load them both ways, and ask what was loaded in bulk."""
    options = stack_of(asked)
    options.data_dir.mkdir(parents=True, exist_ok=True)
    rows = options.data_dir.resolve() / f"rows-{asked.chunks}.jsonl"
    if not rows.exists():
        draft = rows.with_suffix(".draft")
        seconds = await seconds_of(asyncio.to_thread(write_rows, draft, asked.chunks))
        draft.rename(rows)
        show({"rows": asked.chunks, "mb": rows.stat().st_size >> 20, "seconds": seconds}, asked)

    ingest = "ingest", "--chunks", str(rows), "--project", PROJECT
    for way in asked.ways.split(","):
        place = options.data_dir / way
        more = ("--bulk",) if way == "bulk" and not place.exists() else ()
        show({"load": way, **await command(options, place, *ingest, *more)}, asked)

    place = options.data_dir / "bulk"
    show(await asked_of(options, place, rows, asked.repeat), asked)
    with tempfile.TemporaryDirectory(dir=options.data_dir) as folder:
        export = "projects", "export", str(Path(folder) / "out"), "--project", PROJECT
        show({"export": True, **await command(options, place, *export)}, asked)
    changed = rows.with_name("changed") / rows.name
    change_first(rows, changed)
    # Under the place of the first, so that it is the same source.
    kept = rows.rename(rows.with_suffix(".kept"))
    changed.rename(rows)
    try:
        show({"one document changed": True, **await command(options, place, *ingest)}, asked)
    finally:
        kept.rename(rows)


def change_first(rows: Path, changed: Path) -> None:
    """Copy the rows with another title of the first document."""
    changed.parent.mkdir(exist_ok=True)
    with rows.open(encoding="utf-8") as lines, changed.open("w", encoding="utf-8") as out:
        for line in lines:
            is_first = line.startswith('{"document": "made/0"')
            other = {**json.loads(line), "title": "Another title"} if is_first else {}
            out.write(json.dumps(other) + "\n" if is_first else line)


async def command(options: StackOptions, place: Path, *words: str) -> dict[str, Any]:
    """Run a command on a data folder; return its time, and the most memory that was seen."""
    where = "--data-dir", str(place), "--neo4j", options.neo4j_version
    most = {"command_mb": 0, "neo4j_mb": 0}
    cpu: dict[int, float] = {}
    as_json = ["--json"] if words[0] == "ingest" else []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        began = time.perf_counter()
        words = (sys.executable, "-m", "drift", *words, *as_json, *where)
        process = psutil.Popen(words, stdout=out, stderr=told)
        while process.poll() is None:
            names = {process.pid: "command_mb", read_record(place).pids.get("neo4j"): "neo4j_mb"}
            with suppress(psutil.Error):
                for one in (process, *process.children(recursive=True)):
                    cpu[one.pid] = sum(one.cpu_times()[:2])
                    if name := names.get(one.pid):
                        most[name] = max(most[name], one.memory_info().rss >> 20)
            await asyncio.sleep(_LOOK_EVERY_S)
        seconds = round(time.perf_counter() - began, 1)
        if process.returncode:
            told.seek(0)
            raise LocalStackError(told.read().decode(errors="replace")[-1000:])
        out.seek(0)
        stages = json.load(out)["seconds"] if as_json else {}
    most["cpu_s"] = round(sum(cpu.values()))  # of all processes, servers' starts as well
    return {"seconds": seconds, **most, "stages": {n: round(s, 1) for n, s in stages.items()}}


async def asked_of(options: StackOptions, place: Path, rows: Path, repeat: int) -> dict[str, Any]:
    """Ask the follow-up's statement, with a filter and without, until warm and then `repeat`."""
    with rows.open(encoding="utf-8") as lines:
        texts = [
            json.loads(line)["text"].split() for line, _ in zip(lines, range(20), strict=False)
        ]
    questions = [" ".join(words[:WORDS_OF_A_QUESTION]) for words in texts]
    vectors = local_embedding.embed(questions).tolist()
    here = StackOptions(options.neo4j_version, place, options.cache_dir, given=options.given)
    year = Filter(type="eq", key="metadata.year", value=YEARS[0])
    async with running(here) as (stack, values), closing(wiring.build_graph(values)) as graph:

        async def once(number: int, *, is_filtered: bool) -> float:
            text, vector = questions[number % 20], tuple(vectors[number % 20])
            query, left = FollowupQuery(PROJECT, text, vector, ()), graph
            began = time.perf_counter()
            if is_filtered:
                left = await _within(graph, year)
            await left.followup(query, Deadline.after(120))
            return time.perf_counter() - began

        found: dict[str, Any] = {}
        for name, is_filtered in (("followup", False), ("filtered", True)):
            seconds = [await once(n, is_filtered=is_filtered) for n in range(2 * repeat)]
            found[name] = milliseconds(seconds[repeat:], (50, 95))
        found["neo4j_mb"] = psutil.Process(stack.pids["neo4j"]).memory_info().rss >> 20
    return found


async def _within(graph: Neo4jGraph, wanted: Filter) -> Neo4jGraph:
    """Return the graph of the documents that fit."""
    left = await graph.reader().allowed(PROJECT, wanted, Deadline.after(120))
    return graph.within(left)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            chunks=(50_000, "rows"),
            repeat=(100, "runs of each statement that are timed, after as many"),
            ways=("batches,bulk", "how they are loaded, with commas between"),
        ),
    )
