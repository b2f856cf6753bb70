"""Vectors of documents that were written without one: by an earlier release, or by others."""

from __future__ import annotations

from drift.graph.connection import Connection
from drift.local.ingest.neo4j import document_statements


async def fill_documents(connection: Connection, vector: str) -> None:
    """Give the documents of all projects that lack this vector one; errors as for any write."""
    await connection.write_in_batches(document_statements.FILL, {"vector": vector})
