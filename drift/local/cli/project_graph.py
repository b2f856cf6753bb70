"""A graph of projects, its writer, and a project that is there: for commands over projects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from drift.core.errors import IngestError
from drift.graph.connection import Connection
from drift.http import wiring
from drift.http.settings import Settings
from drift.indexing.graph_records import HeldProject
from drift.local.cli.console import listed, say, stderr
from drift.local.cli.ingestion import require_default_schema, tend_vectors
from drift.local.cli.servers import recommend_up, running
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.progress_bar import progress_bar
from drift.local.ingest.report import IngestReport
from drift.local.stack.stack import StackOptions
from drift.local.wiring import writer_over

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
        work: Callable[..., Awaitable[IngestReport]],
        what: object,
        project_id: str,
        **how: object,
    ) -> IngestReport:
        """Do work of the pipeline that derives a project's knowledge anew, and what follows it."""
        _, embedder = wiring.build_models(self.values)
        with progress_bar(stderr) as show:
            report = await work(
                what,
                project_id,
                self.writer,
                embedder.of_passages,
                self.values.vector_index_dimensions,
                report=show,
                embedding_model=self.values.oai_embed_model_name,
                say=say,
                **how,
            )

        await tend_vectors(self.values, self.writer, embedder, report)
        return report


@asynccontextmanager
async def projects_of_graph(options: StackOptions, what: str) -> AsyncIterator[ProjectGraph]:
    """Give the projects of the graph while its servers run; `what` is done with them."""
    async with running(options) as (stack, values):
        require_default_schema(values, what)
        async with Connection(*wiring.database(values)) as connection:
            yield ProjectGraph(values, connection, writer_over(connection, values))
        recommend_up(stack)
