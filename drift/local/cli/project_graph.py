"""A graph of projects, its writer, and a project that is there: for commands over projects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from drift.core.errors import IngestError
from drift.graph.connection import Connection
from drift.graph.writing.lease import MAX_WAIT_S
from drift.graph.writing.records import HeldProject
from drift.http import wiring
from drift.http.settings import Settings
from drift.local.cli.console import listed, say, stderr
from drift.local.cli.servers import recommend_up, running
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.progress_bar import progress_bar
from drift.local.ingest.report import IngestReport, Report, say_nothing
from drift.local.ingest.thresholds import measure_and_keep
from drift.local.prepare.vectors import fill_second_vectors
from drift.local.say import Say
from drift.local.stack.stack import StackOptions
from drift.local.wiring import build_writer, closing
from drift.ports import Embedder

MOST_NAMED = 10
"""Projects or sources that are named in an error."""


@dataclass(frozen=True, slots=True)
class ProjectGraph:
    """The projects of one graph, with the settings under which they are asked."""

    values: Settings
    connection: Connection
    writer: Neo4jWriter

    async def held(self, project_id: str) -> HeldProject:
        """Return a project; IngestError names those that are there instead."""
        held = {one.project_id: one for one in await self.writer.held_projects()}
        if project_id not in held:
            there = listed(list(held), MOST_NAMED) or "nothing"
            raise IngestError(f"There is no project {project_id}. The graph holds {there}.")
        return held[project_id]

    async def change(
        self,
        work: Callable[[IngestContext], Awaitable[IngestReport]],
        wait_s: float = MAX_WAIT_S,
    ) -> IngestReport:
        """Derive a project's knowledge anew by a step of the pipeline, then tend its vectors."""
        _, embedder = wiring.build_models(self.values)
        with progress_bar(stderr) as show:
            report = await work(
                run_context(self.values, self.writer, embedder.of_passages, show, wait_s)
            )

        await tend_vectors(self.values, self.writer, embedder, report)
        return report


@asynccontextmanager
async def projects_of_graph(options: StackOptions, what: str) -> AsyncIterator[ProjectGraph]:
    """Give the projects of the graph while its servers run; `what` is done with them."""
    async with running(options) as (stack, values):
        require_default_schema(values, what)
        async with closing(build_writer(values)) as writer:
            yield ProjectGraph(values, writer.connection, writer)
        recommend_up(stack)


def run_context(
    values: Settings,
    writer: Neo4jWriter,
    embedder: Embedder,
    report: Report = say_nothing,
    wait_s: float = MAX_WAIT_S,
) -> IngestContext:
    """Return the context of a run by the settings, which is told on the terminal."""
    dimensions, model = values.vector_index_dimensions, values.oai_embed_model_name
    return IngestContext(writer, embedder, dimensions, model, report, say, wait_s)


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
    await measure_threshold(values, writer, embedder, report.project_id)
    await fill_second_vectors(values, report.project_id, say)
    if report.wrote:
        for line in (await writer.own.said()).left_behind(await writer.own.version()):
            say(line)


async def measure_threshold(
    values: Settings, writer: Neo4jWriter, embedder: Embedder | None, project: str, say: Say = say
) -> None:
    """Measure how near texts of the project have to be to a question, where they have changed.

    Without an embedder the vectors are of an unknown model.
    """
    async with closing(wiring.build_graph(values)) as graph:
        await measure_and_keep(
            graph.finder(),
            embedder,
            writer,
            project,
            values.vector_index_dimensions,
            values.oai_embed_model_name if embedder else "",
            say=say,
        )
