"""What commands over projects work with: the graph, its writer, and a project that is there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from drift.core.errors import IngestError
from drift.graph.connection import Connection
from drift.graph.writing.records import HeldProject
from drift.http import wiring
from drift.http.settings import Settings
from drift.local.cli.console import stderr
from drift.local.cli.work.ingestion import require_default_schema, tend_vectors
from drift.local.cli.work.servers import recommend_up, running
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.progress_bar import progress_bar
from drift.local.ingest.report import IngestReport, Report
from drift.local.stack.stack import StackOptions
from drift.local.wiring import writer_over
from drift.ports import Embedder

MOST_NAMED = 10
"""Projects or sources that are named in an error."""


@dataclass(frozen=True, slots=True)
class Projects:
    """The projects of one graph, with the settings under which they are asked."""

    values: Settings
    connection: Connection
    writer: Neo4jWriter

    async def held(self, project_id: str) -> HeldProject:
        """Return a project; IngestError names those that are there instead."""
        held = {one.project_id: one for one in await self.writer.held_projects()}
        if project_id not in held:
            there = named("The graph holds", list(held))
            raise IngestError(f"There is no project {project_id}. {there}")
        return held[project_id]

    async def changed(
        self, work: Callable[[Embedder, Report], Awaitable[IngestReport]]
    ) -> IngestReport:
        """Do the work that derives a project's knowledge anew, with all that belongs to that."""
        _, embedder = wiring.build_models(self.values)
        with progress_bar(stderr) as show:
            report = await work(embedder.of_passages, show)

        await tend_vectors(self.values, self.writer, embedder, report)
        return report


@asynccontextmanager
async def projects_of_graph(options: StackOptions, what: str) -> AsyncIterator[Projects]:
    """Give the projects of the graph while its servers run; `what` is done with them."""
    async with running(options) as (stack, values):
        require_default_schema(values, what)
        async with Connection(*wiring.database(values)) as connection:
            yield Projects(values, connection, writer_over(connection, values))
        recommend_up(stack)


def named(begin: str, names: list[str]) -> str:
    """Return a sentence that names the first of many."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{begin} {', '.join(names[:MOST_NAMED]) or 'nothing'}{more}."
