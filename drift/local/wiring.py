"""Settings to what writes and prepares graphs.

Building opens no connection, and whoever asks closes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.http.settings import Settings
from drift.http.wiring import build_originals, build_store, database, index_names
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.prepare.preparer import Neo4jPreparer

Built = TypeVar("Built", Neo4jGraph, Neo4jWriter, Neo4jPreparer)


@asynccontextmanager
async def closing(built: Built) -> AsyncIterator[Built]:
    """Close the built objects, at the end of the block."""
    try:
        yield built
    finally:
        await built.close()


def build_writer(settings: Settings) -> Neo4jWriter:
    """Return the graph writer."""
    model, dimensions = settings.oai_embed_model_name, settings.vector_index_dimensions
    return Neo4jWriter(
        Connection(*database(settings)),
        index_names(settings),
        model=model,
        dimensions=dimensions,
        store=build_store(settings),
        originals=build_originals(settings),
    )


def build_preparer(settings: Settings) -> Neo4jPreparer:
    """Return the preparer of the graph for the schema of the settings."""
    return Neo4jPreparer(
        Connection(*database(settings)),
        index_names(settings),
        model=settings.oai_embed_model_name,
        graph_schema=settings.graph_schema,
    )
