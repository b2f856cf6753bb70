"""The contents of a project, its age, and its defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from drift.graph.connection import Connection
from drift.local.exchange import project_statements as statements
from drift.local.exchange.folder import Row
from drift.local.ingest.neo4j.writer import Neo4jWriter

NAMED = 20
"""Documents and files that are named; of the others there is a number."""


async def held_nodes(project_id: str, connection: Connection) -> dict[str, int]:
    """Return how many nodes a project has, by kind, but those that no question sees any more."""
    about = await _about(project_id, connection)
    counts: dict[str, int] = (await connection.write(statements.COUNTS, about)).records[0]["nodes"]
    own = sum(counts.pop(kind) for kind in statements.OWN)
    told = {kind.strip("_"): number for kind, number in counts.items()}
    return told | {"nodes of your own": own}


async def _about(project_id: str, connection: Connection) -> Row:
    found = (await connection.write(statements.GENERATION, {"project_id": project_id})).records
    return {"project_id": project_id, "generation": found[0]["generation"] if found else 0}


async def project_facts(project_id: str, writer: Neo4jWriter) -> dict[str, Any]:
    """Return what is told of a project that is there, as JSON; times are ISO 8601 in UTC."""
    connection = writer.connection
    nodes = await held_nodes(project_id, connection)
    state = await writer.project_state(project_id)
    about = await _about(project_id, connection)
    found = (await connection.write(statements.FACTS, about)).records[0]
    off = [name for name, one in sorted(state.documents.items()) if one.is_off]
    skipped = [{"file": at, "reason": why} for at, (_, why) in sorted(state.skipped.items())]
    sources = Counter(one.source for one in state.documents.values())
    return {
        "project_id": project_id,
        "documents": len(state.documents),
        "chunks": state.chunks,
        "entities": state.entities,
        "relations": state.relations,
        "communities": {str(level): number for level, number in state.communities.items()},
        "replies": nodes["ModelReply"],
        "nodes": nodes["nodes of your own"],
        "embedding_models": found["embedding_models"] or [],
        "first_indexed": _time(found["first_indexed"]),
        "last_indexed": _time(found["last_indexed"]),
        "derived": _time(found["derived_at"]),
        "documents_behind": found["behind"],
        "is_behind": found["is_behind"],
        "text_characters": found["text_characters"],
        "vector_bytes": found["vector_bytes"],
        "sources": [{"source": name, "documents": n} for name, n in sorted(sources.items())],
        "off": _first(off),
        "skipped": _first(skipped),
    }


async def held_documents(project_id: str, connection: Connection) -> list[dict[str, Any]]:
    """Return a project's documents by their ids, as JSON; times are milliseconds since 1970."""
    found = await connection.write(statements.LIST_DOCUMENTS, {"project_id": project_id})
    return [record.data() for record in found.records]


async def would_go(project_id: str, source: str | None, connection: Connection) -> dict[str, int]:
    """Return how much only the documents of a source have made, or those of all sources."""
    values = {**await _about(project_id, connection), "source": source}
    return (await connection.write(statements.WOULD_GO, values)).records[0].data()


def _first(all_of_them: Sequence[Any]) -> dict[str, Any]:
    return {"number": len(all_of_them), "first": all_of_them[:NAMED]}


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
