"""Second vectors of a project, by the local model, for `EMBED_FALLBACK=local`."""

from __future__ import annotations

from drift.graph.connection import Connection
from drift.graph.cypher.schema import FALLBACK_VECTOR
from drift.graph.indexes import read_indexes
from drift.http.settings import Settings
from drift.http.wiring import database, index_names
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.local.ingest.batch_embedder import BatchEmbedder
from drift.local.ingest.neo4j.ddl import second_vector_indexes
from drift.local.ingest.neo4j.schema import create, missing, wait_until_online
from drift.local.prepare.changes import PrepareReport
from drift.local.prepare.vectors import ProjectVectors
from drift.local.say import Say


async def fill_second_vectors(settings: Settings, project_id: str, say: Say) -> None:
    """Give every chunk and community of a project that lacks it a vector by the local model.

    Nothing where `EMBED_FALLBACK` is off. The indexes are created first, where they are not there.

    Raises:
        ModelMisconfiguredError: the package of the local model is missing.
        GraphMisconfiguredError, GraphUnavailableError: as the graph's adapters do.
    """
    if settings.embed_fallback == "off":
        return

    names, schema = index_names(settings).fallback(), settings.graph_schema
    wanted = second_vector_indexes(schema, names.community, names.chunk)
    async with Connection(*database(settings)) as connection:
        for one in missing(wanted, await read_indexes(connection)):
            await create(connection, one, DIMENSIONS)
        await wait_until_online(connection, wanted, DIMENSIONS, say=say)

        report = PrepareReport(dry_run=False)
        vectors = ProjectVectors(connection, schema, project_id, report, say, FALLBACK_VECTOR)
        await vectors.embed_bare(BatchEmbedder(LocalEmbedder(), DIMENSIONS))
