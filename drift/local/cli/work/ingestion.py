"""An ingestion with its progress on the terminal: for `ingest`, and for the sample corpus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from shlex import quote
from typing import Any

from drift.core.errors import IngestError
from drift.http import wiring
from drift.http.page import STAND_IN
from drift.http.settings import Settings
from drift.indexing.documents import Skipped
from drift.indexing.reading_process import Guard, guarded
from drift.local.cli.console import say, stderr
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.work.knowledge import wanted_knowledge
from drift.local.cli.work.placing import Place, placed
from drift.local.cli.work.sample import sample_sources
from drift.local.ingest import pipeline
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.progress_bar import progress_bar
from drift.local.ingest.report import STAGES, IngestReport, Report
from drift.local.ingest.sources import Source
from drift.local.ingest.thresholds import measure_and_keep
from drift.local.prepare.vectors import fill_second_vectors
from drift.local.wiring import build_writer, closing
from drift.ports import Embedder

CHUNKS = STAGES[1]
MAX_KINDS = 8
"""Kinds of ignored files that are named; the rest is counted."""
MAX_NOTES = 20
"""Documents of which it is said how they were read."""


async def ingest_sample(values: Settings) -> None:
    """Have the sample corpus in its project, with all that the stand-in can write about it."""
    async with placed(values) as place:
        by_model = wanted_knowledge(place, "graph", None)
        if by_model is not None and by_model.model != STAND_IN:
            by_model = None
        await ingest_documents(values, sample_sources(), DEMO_PROJECT, place, by_model=by_model)


async def ingest_documents(
    values: Settings,
    documents: Source,
    project: str,
    place: Place,
    *,
    force: bool = False,
    wait_s: float = 600.0,
    again: Callable[[], Source] | None = None,
    guard: Guard = guarded,
    by_model: ByModel | None = None,
) -> IngestReport:
    """Ingest the documents into a project, and say what that changed.

    `again` reads them once more, when another run over the project had to be waited for. The
    work on each of them is done under the guard. `by_model` says what a chat model writes, and
    `place` where files are read and texts embedded.

    Raises:
        IngestError: GRAPH_SCHEMA names another schema than the one that ingestion writes.
    """
    require_default_schema(values, "ingest")
    writer = build_writer(values)
    last = _LastStage()
    try:
        with progress_bar(stderr, lambda: str(place.usage())) as show:
            report = await pipeline.ingest(
                documents,
                project,
                IngestContext(
                    writer,
                    place.models,
                    values.vector_index_dimensions,
                    report=last.then(show),
                    model=values.oai_embed_model_name,
                    wait_s=wait_s,
                    say=say,
                    guard=guard,
                    stages=place.stages,
                    by_model=by_model,
                ),
                force=force,
                again=again,
            )
        report.usage = place.usage()
        await tend_vectors(values, writer, wiring.build_models(values)[1], report)
    except asyncio.CancelledError:
        say(f"Stopped: {last.stored()} The same command continues from there.")
        raise
    finally:
        await writer.close()

    if values.chunk_fulltext_index_name in report.created and report.unchanged:
        say(
            "The full-text index is new: documents that have not changed are found by the words of "
            "their names once they are written anew (--force)."
        )

    for skipped in report.skipped:
        if skipped not in documents.skipped:
            say(_about(skipped))

    say_report(report)
    return report


def require_default_schema(values: Settings, what: str) -> None:
    """Check that the graph is one of projects.

    Raises:
        IngestError: GRAPH_SCHEMA names another schema.
    """
    if values.graph_schema != "default":
        raise IngestError(
            f"Only the default schema has projects with documents to {what}, and GRAPH_SCHEMA "
            f"names another: leave it out to {what}."
        )


async def tend_vectors(
    values: Settings, writer: Neo4jWriter, embedder: Embedder, report: IngestReport
) -> None:
    """Do for a project's vectors what a change leaves to be done, or say who does it."""
    await measure_threshold(values, writer, embedder, report)
    await fill_second_vectors(values, report.project_id, say)
    if report.wrote:
        for line in (await writer.own.said()).left_behind(await writer.own.version()):
            say(line)


async def measure_threshold(
    values: Settings, writer: Neo4jWriter, embedder: Embedder, report: IngestReport
) -> None:
    """Measure how near texts of the project have to be to a question, where they have changed."""
    async with closing(wiring.build_graph(values)) as graph:
        await measure_and_keep(
            graph.finder(),
            embedder,
            writer,
            report.project_id,
            values.vector_index_dimensions,
            values.oai_embed_model_name,
            say=say,
        )


class _LastStage:
    """Remembers how far an ingestion came, for whoever stops it."""

    def __init__(self) -> None:
        self._written: tuple[int, int] | None = None

    def then(self, show: Report) -> Report:
        """Return a report that remembers, and passes on what it is told."""

        def report(stage: str, done: int, total: int) -> None:
            if stage == CHUNKS:
                self._written = (done, total)
            show(stage, done, total)

        return report

    def stored(self) -> str:
        """Say what is in the graph."""
        if self._written is None:
            return "nothing was written."
        done, total = self._written
        if done >= total:
            return "all documents are stored, their knowledge is not."
        return f"{done:,} of {total:,} new chunks are stored, and no document is cut in two."


def left_out(source: Source) -> Iterator[str]:
    """Say what was not read: each skipped file, and how many were ignored for which reason."""
    for skipped in source.skipped:
        yield _about(skipped)

    counts_by_reason: dict[str, list[str]] = {}
    for ignored in source.ignored:
        counts = counts_by_reason.setdefault(ignored.reason, [])
        counts.append(f"{ignored.count:,} {ignored.kind}")

    for reason, counts in counts_by_reason.items():
        more = f" and {len(counts) - MAX_KINDS} other kinds" if len(counts) > MAX_KINDS else ""
        yield f"Ignored {', '.join(counts[:MAX_KINDS])}{more}: {reason}."


def _about(skipped: Skipped) -> str:
    return f"Skipped {skipped.path}: {skipped.reason}."


def say_report(report: IngestReport) -> None:
    """Say what an ingestion changed, and what the project holds now."""
    for name in report.kept:
        say(f"Kept the earlier text of {name}, whose file cannot be read now.")

    for name, note in islice(report.notes.items(), MAX_NOTES):
        say(f"{name}: {note}.")
    if len(report.notes) > MAX_NOTES:
        say(f"There are {len(report.notes) - MAX_NOTES:,} more such notes; --json has all of them.")

    for source, number in report.left.items():
        say(
            f"Project {report.project_id} still holds {number} documents of {source} that are not "
            f"there any more. `drift remove --project {quote(report.project_id)} --source "
            f"{quote(source)}` removes that source."
        )

    if not report.wrote:
        say(f"Project {report.project_id}: nothing has changed.")
        return

    if report.moved and not report.chunks and not report.communities:
        say(
            f"Project {report.project_id}: {len(report.moved)} documents have another name or "
            f"place now, in {report.source}. Nothing else has changed."
        )
        return

    moved = f", {len(report.moved)} renamed or moved" if report.moved else ""
    say(
        f"Project {report.project_id}: {len(report.added)} documents added, "
        f"{len(report.changed)} changed, {len(report.removed)} removed{moved}; "
        f"{report.chunks} chunks written at {report.chunks_per_second:.0f} a second; "
        f"{report.entities} entities, {report.relations} relations, "
        f"{sum(report.communities.values())} communities. "
        f"The project holds {report.held_documents} documents and {report.held_chunks} chunks."
    )
    if report.communities:
        say(_worth(report))
    if used := str(report.usage):
        say(f"Models took {used}.")


def _worth(report: IngestReport) -> str:
    """Say what the knowledge is worth to the search."""
    reach, held = report.reach, max(1, report.held_chunks)
    wrote = f" ({reach.reports:,} of their summaries by a chat model)" if reach.reports else ""
    linked = (
        f"entities lead to {reach.linked / held:.0%} of them"
        if reach.linked
        else "without entities it follows no relations (--knowledge graph makes them)"
    )
    return (
        f"What the search has of it: {reach.topics:,} topics{wrote}, whose summaries tell of "
        f"{reach.told / held:.0%} of the chunks; {linked}."
    )


def as_document(report: IngestReport) -> dict[str, Any]:
    """Return a report as JSON."""
    cost = report.usage.cost
    return {
        **asdict(report),
        "usage": {**asdict(report.usage), "cost": cost.model_dump() if cost else None},
        "wrote": report.wrote,
        "chunks_per_second": round(report.chunks_per_second, 1),
    }
