"""An ingestion with its progress on the terminal: for `ingest`, and for the sample corpus."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from drift.core.errors import IngestError
from drift.graph.writing.lease import MAX_WAIT_S
from drift.http import wiring
from drift.http.page import STAND_IN
from drift.http.settings import Settings, load_reading
from drift.indexing.reading_process import Guard, ReadingProcess, guarded
from drift.local.cli.console import say, stderr
from drift.local.cli.ingest_options import IngestOptions
from drift.local.cli.ingest_report import as_document, left_out, say_report, skipped_in_words
from drift.local.cli.knowledge import confirmed, plan, wanted_knowledge
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.placing import Placement, placed
from drift.local.cli.project_graph import require_default_schema, run_context, tend_vectors
from drift.local.cli.sample import sample_sources
from drift.local.cli.servers import recommend_up, running
from drift.local.ingest import pipeline
from drift.local.ingest.blobs import read_container
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.context import IngestContext
from drift.local.ingest.graphrag.importing import import_index
from drift.local.ingest.graphrag.index import read_index
from drift.local.ingest.places import REMOTE
from drift.local.ingest.progress_bar import progress_bar
from drift.local.ingest.report import STAGES, IngestReport
from drift.local.ingest.sources import Source, read_changed, read_source
from drift.local.stack.stack import StackOptions
from drift.local.wiring import build_writer, closing

CHUNKS = STAGES[1]


async def ingest_places(stack_options: StackOptions, given: IngestOptions) -> list[dict[str, Any]]:
    """Ingest what the options name, or plan it; return a JSON document for each place."""
    places = given.places[:1] if given.changed else given.places or [""]
    names = _named(given.places[1:]) if given.changed else []
    with ReadingProcess(load_reading().reading_memory_mb) as process:
        read = partial(_read, given, names, process.guarded)
        sources = {place: await asyncio.to_thread(read, place) for place in places}
        for line in chain.from_iterable(map(left_out, sources.values())):
            say(line)

        pace = given.calls_a_minute, given.tokens_a_minute
        async with (
            running(stack_options) as (stack, values),
            placed(values, process.guarded, given.scheduler, *pace) as placement,
        ):
            require_default_schema(values, "ingest")
            by_model = await _agreed(given, values, [*sources.values()], placement)
            documents = []
            for place, source in sources.items():
                if given.dry_run:
                    planned = await plan(values, source, given, by_model, placement.stages)
                    documents.append(planned)
                    continue

                report = await ingest_documents(
                    values,
                    source,
                    given.project_id,
                    placement,
                    force=given.force,
                    wait_s=given.wait,
                    again=partial(read, place),
                    guard=process.guarded,
                    # The model is asked once, about all that the project holds in the end.
                    by_model=by_model if place == places[-1] else None,
                )
                documents.append(as_document(report))
            recommend_up(stack)

    return documents


def _named(files: Sequence[str]) -> list[Path]:
    """Return the files, with those that standard input names in the place of a dash."""
    named = [Path(file) for file in files if file != "-"]
    if len(named) < len(files):
        told = sys.stdin.buffer.read()
        names = told.split(b"\0" if b"\0" in told else b"\n")
        named += [Path(os.fsdecode(name)) for name in names if name]
    return named


def _read(given: IngestOptions, names: list[Path], guard: Guard, place: str) -> Source:
    return _read_place(given, names, guard, place).saying(given.said)


def _read_place(given: IngestOptions, names: list[Path], guard: Guard, place: str) -> Source:
    uri, selection = given.source_uri, given.selection
    if given.sample:
        return sample_sources()
    if place.startswith(REMOTE):
        return read_container(place, uri, may_be_empty=given.yes, selection=selection)
    if given.changed:
        return read_changed(Path(place), names, uri, guard=guard, selection=selection)
    return read_source(Path(place), uri, may_be_empty=given.yes, guard=guard, selection=selection)


async def _agreed(
    given: IngestOptions, values: Settings, sources: Sequence[Source], placement: Placement
) -> ByModel | None:
    """Return what a chat model writes: as the options say, else what is confirmed."""
    by_model = wanted_knowledge(placement, given.knowledge, given.knowledge_tokens)
    if by_model is None or given.is_agreed or given.dry_run:
        return by_model
    return await confirmed(values, sources, given.project_id, by_model, placement.stages)


async def ingest_sample(values: Settings) -> None:
    """Have the sample corpus in its project, with all that the stand-in can write about it."""
    async with placed(values) as placement:
        by_model = wanted_knowledge(placement, "facts", None)
        if by_model is not None and by_model.model != STAND_IN:
            by_model = None
        await ingest_documents(values, sample_sources(), DEMO_PROJECT, placement, by_model=by_model)


async def ingest_documents(
    values: Settings,
    documents: Source,
    project: str,
    placement: Placement,
    *,
    force: bool = False,
    wait_s: float = MAX_WAIT_S,
    again: Callable[[], Source] | None = None,
    guard: Guard = guarded,
    by_model: ByModel | None = None,
) -> IngestReport:
    """Ingest the documents into a project, and say what that changed.

    `again` reads them once more, when another run over the project had to be waited for. The
    work on each of them is done under the guard. `by_model` says what a chat model writes, and
    `placement` where files are read and texts embedded.

    Raises:
        IngestError: GRAPH_SCHEMA names another schema than the one that ingestion writes.
    """
    require_default_schema(values, "ingest")
    stored: list[int] = []

    async def work(context: IngestContext) -> IngestReport:
        def told(stage: str, done: int, total: int) -> None:
            if stage == CHUNKS:
                stored[:] = done, total
            context.report(stage, done, total)

        run = replace(context, report=told, guard=guard, stages=placement.stages, by_model=by_model)
        return await pipeline.ingest(documents, project, run, force=force, again=again)

    try:
        report = await with_progress(values, placement, work, wait_s)
    except asyncio.CancelledError:
        say(f"Stopped: {_stored_skipped_in_words(*stored)} The same command continues from there.")
        raise

    if values.chunk_fulltext_index_name in report.created and report.unchanged:
        say(
            "The full-text index is new: documents that have not changed are found by the words of "
            "their names once they are written anew (--force)."
        )

    for skipped in report.skipped:
        if skipped not in documents.skipped:
            say(skipped_in_words(skipped))

    say_report(report)
    return report


def _stored_skipped_in_words(done: int | None = None, total: int = 0) -> str:
    if done is None:
        return "nothing was written."
    if done >= total:
        return "all documents are stored, their knowledge is not."
    return f"{done:,} of {total:,} new chunks are stored, and no document is cut in two."


async def with_progress(
    values: Settings,
    placement: Placement,
    work: Callable[[IngestContext], Awaitable[IngestReport]],
    wait_s: float,
) -> IngestReport:
    """Write a project's documents with progress shown, then tend its vectors."""
    async with closing(build_writer(values)) as writer:
        with progress_bar(stderr, lambda: str(placement.usage())) as show:
            report = await work(run_context(values, writer, placement.models, show, wait_s))

        report.usage = placement.usage()
        await tend_vectors(values, writer, wiring.build_models(values)[1], report)

    return report


async def import_graphrag(
    stack_options: StackOptions, folder: Path, given: IngestOptions
) -> dict[str, Any]:
    """Import the index in a folder, say what that changed, and return it as JSON.

    Raises:
        IngestError: it cannot be read or written, as `read_index` and `import_index` say.
    """
    if find_spec("duckdb") is None:
        raise IngestError(
            "Nothing was read: the tables of GraphRAG need `pip install 'drift-neo4j[graphrag]'`."
        )

    with ReadingProcess(memory_mb=None) as process:  # tables are read whole
        index = await asyncio.to_thread(read_index, folder, process.guarded)

    async with (
        running(stack_options) as (stack, values),
        placed(values, calls=given.calls_a_minute, tokens=given.tokens_a_minute) as placement,
    ):
        require_default_schema(values, "ingest")

        work = partial(import_index, index, given.project_id, force=given.force)
        report = await with_progress(values, placement, work, given.wait)
        say_report(report)
        recommend_up(stack)

    return as_document(report)
