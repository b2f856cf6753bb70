"""The follow-up's times by the schema of this project and by those of others, in one run.

Two databases hold the same one project: one as ingestion writes it, the other turned into the shape
of another tool after that. Each question is asked of both in turn, so that what else the machine
does falls on both. `p95_ratio` is the p95 of the other shape over that of ours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from drift.graph.cypher.schema import schema_named
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.cli.console import say
from drift.local.prepare.preparer import Neo4jPreparer
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of
from tests.bench.graph import INDEX_TIMEOUT_S, QUESTIONS, WARM_UP_RUNS, _database, _load
from tests.bench.graph_trials import Trial, WatchedConnection, followup
from tests.bench.synthetic import TENANTS, Query, SyntheticProject

_LARGE = next(iter(TENANTS))
_BATCHES = "IN TRANSACTIONS OF 5000 ROWS"
_OURS = "project_id, n.project_key, n.name_words, n.title_key"


def _relabelled(old: str, new: str) -> str:
    return f"MATCH (n:{old}) CALL (n) {{ SET n:{new} REMOVE n:{old}, n.{_OURS} }} {_BATCHES}"


def _turned(old: str, new: str) -> str:
    return f"MATCH {old} CALL (a, r, b) {{ CREATE {new} DELETE r }} {_BATCHES}"


SHAPES: Mapping[str, Sequence[str]] = {
    "llm-graph-builder": (
        _turned("(a:__Document__)-[r:HAS_CHUNK]->(b)", "(b)-[:PART_OF]->(a)"),
        _turned(
            "(a:__Community__)-[r:IN_COMMUNITY]->(b:__Community__)", "(a)-[:PARENT_COMMUNITY]->(b)"
        ),
        _relabelled("__Chunk__", "Chunk"),
        _relabelled("__Document__", "Document"),
        f"MATCH (n:__Entity__|__Community__) CALL (n) {{ REMOVE n.{_OURS} }} {_BATCHES}",
        "MATCH (n:__Project__) CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
    ),
    "simple-kg-pipeline": (
        _turned("(a)-[r:PART_OF]->(b)", "(a)-[:FROM_DOCUMENT]->(b)"),
        _turned("(a)-[r:HAS_ENTITY]->(b)", "(b)-[:FROM_CHUNK]->(a)"),
        _turned("(a)-[r:PARENT_COMMUNITY]->(b)", "(a)-[:IN_COMMUNITY]->(b)"),
    ),
}
"""What makes each of the one before it, the first of ours."""


async def bench(asked: Options) -> None:
    """Measure every size, in two databases of its own."""
    options = stack_of(asked)
    apart = replace(options, data_dir=options.data_dir / "turned")
    rows = []
    for chunks in asked.chunks:
        project = SyntheticProject(_LARGE, round(chunks / TENANTS[_LARGE]), asked.dims, asked.seed)
        shape = chunks, asked.dims
        async with (
            _database(options, shape) as (ours, names),
            _database(apart, shape) as (theirs, _),
        ):
            for connection in (ours, theirs):
                await _load(connection, names, [project])
            own = followup("default", Neo4jGraph(ours, names), ours, project)
            for name, texts in SHAPES.items():
                await _turn(theirs, names, name, texts, asked.dims)
                graph = Neo4jGraph(theirs, names, schema=name)
                other = followup(name, graph, theirs, project)
                queries = project.queries(QUESTIONS)
                await _timed((own, other), queries, WARM_UP_RUNS)
                found = await _timed((own, other), queries, asked.repeat)
                ratios = {
                    f"{key.removesuffix('_ms')}_ratio": round(found[name][key] / value, 2)
                    for key, value in found["default"].items()
                }
                rows.append({"chunks": project.chunks, "shape": name, **found, **ratios})
                say(f"{project.chunks} chunks: {rows[-1]}")
    show({"cores": os.cpu_count(), "load": os.getloadavg()[0], "rows": rows}, asked)


async def _turn(
    connection: WatchedConnection, names: IndexNames, name: str, texts: Sequence[str], dims: int
) -> None:
    began = time.perf_counter()
    for kind, listed in (
        ("CONSTRAINT", "CONSTRAINTS YIELD name"),
        ("INDEX", "INDEXES YIELD name, type WHERE type <> 'LOOKUP'"),
    ):
        for row in await connection.rows(f"SHOW {listed} RETURN name"):
            await connection.write(f"DROP {kind} `{row['name']}` IF EXISTS", {})
    for text in texts:
        await connection.write_in_batches(text, {})
    await Neo4jPreparer(connection, names, schema_named(name)).prepare(dims, wait_s=INDEX_TIMEOUT_S)
    say(f"turned into {name} in {time.perf_counter() - began:.0f} s")


async def _timed(
    trials: Sequence[Trial], queries: Sequence[Query], number: int
) -> dict[str, dict[str, float]]:
    """Ask each question of all of them in turn, each time another one first."""
    seconds: dict[str, list[float]] = {trial.name: [] for trial in trials}
    for place in range(number):
        for trial in trials[:: 1 if place % 2 else -1]:
            began = time.perf_counter()
            found: Sequence[Any] = await trial.ask(queries[place % len(queries)])
            seconds[trial.name].append(time.perf_counter() - began)
            assert found
    return {name: milliseconds(own, (50, 95)) for name, own in seconds.items()}


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            chunks=((10_000, 100_000), "chunks of the project, with commas between them"),
            dims=(256, "length of the embeddings"),
            repeat=(200, "times that each is asked"),
            seed=(1, "which random graph"),
        ),
    )
