"""Graphs without tenants, as GRAPH_SCHEMA=v1 reads them, on servers of their own.

Such a graph is the whole database.

They are made of the same records as the other contract tests, so that the same question can be
asked of both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Literal

import pytest

from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    EntityRecord,
    RelationRecord,
)
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import Community, CommunityId, Evidence, Vector
from tests.contract import graph_backends
from tests.contract.graph_backends import DIMENSIONS, entity
from tests.contract.known_names import know_names

PROJECT = "any name will do"
ENTITIES = [entity(f"e{i}", f"Entity {i}", f"k{i}") for i in (1, 2, 3)]

_NODES = """
UNWIND range(0, size($rows) - 1) AS place
WITH place, $rows[place] AS row
CREATE (n:$(row.label))
SET n += row.properties
FOREACH (_ IN CASE WHEN size(row.embedding) > 0 THEN [1] ELSE [] END |
  SET n.embedding = row.embedding)
RETURN elementId(n) AS id ORDER BY place
"""
_EDGES = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end
CREATE (a)-[r:$(row.type)]->(b)
SET r += row.properties
"""


@pytest.fixture
async def database(whole_server: Neo4jServer) -> AsyncIterator[Connection]:
    """An empty database, with the indexes that an earlier test left."""
    async with Connection(
        whole_server.uri, whole_server.user, whole_server.password, whole_server.database
    ) as connection:
        await connection.write("MATCH (n) DETACH DELETE n", {})
        if (await connection.read(_OTHER_INDEXES, {"dimensions": DIMENSIONS})).records:
            await drop_schema(connection)
        await know_names(connection, types=_TYPES)
        yield connection


_TYPES = ["FEEDS", "KNOWS", "LIVES_IN", "PART_OF", "RELATES", "SEEN_BY"]
"""What these tests' relations are called: statements name all types that the server knows."""


_OTHER_INDEXES = """
SHOW VECTOR INDEXES YIELD name, options
WHERE options.indexConfig['vector.dimensions'] <> $dimensions
RETURN name
"""


async def drop_schema(connection: Connection) -> None:
    """Drop every constraint and index that somebody created."""
    for kind, rows in (
        ("CONSTRAINT", "SHOW CONSTRAINTS YIELD name"),
        ("INDEX", "SHOW INDEXES YIELD name, type"),
    ):
        for row in (await connection.read(rows, {})).records:
            if row.data().get("type") != "LOOKUP":
                await connection.write(f"DROP {kind} `{row['name']}`", {})


def searched(
    database: Connection, scope: Literal["soft", "hard"] = "soft", exact_limit: int | None = None
) -> Neo4jGraph:
    """Return a store over the database; `exact_limit` 0 makes it use the vector index."""
    return Neo4jGraph(database, IndexNames(), scope, exact_limit, V1)


async def ask_primer(
    store: Neo4jGraph, embedding: Vector, top_k: int = 5, voters: Iterable[str] = ()
) -> tuple[Community, ...]:
    """Ask; nothing may come twice."""
    return await graph_backends.ask_primer(store, PROJECT, embedding, top_k, voters)


async def ask_followup(
    store: Neo4jGraph, question: str, embedding: Vector, communities: tuple[CommunityId, ...] = ()
) -> Evidence:
    """Ask; nothing may come twice."""
    return await graph_backends.ask_followup(store, PROJECT, question, embedding, communities)


async def fill(
    database: Connection,
    chunks: Sequence[ChunkRecord],
    entities: Sequence[EntityRecord] = (),
    relations: Sequence[RelationRecord] = (),
    communities: Sequence[CommunityRecord] = (),
) -> None:
    """Write the records as the schema has them, and prepare the database.

    A relation's description is its type alone.
    """
    await create(database, chunks, entities, relations, communities)
    await prepare(database)


async def create(
    database: Connection,
    chunks: Sequence[ChunkRecord],
    entities: Sequence[EntityRecord] = (),
    relations: Sequence[RelationRecord] = (),
    communities: Sequence[CommunityRecord] = (),
) -> None:
    """Write the records and nothing else."""
    nodes = [
        *(_node("__Chunk__", c.embedding, id=c.id, text=c.text) for c in chunks),
        *(
            _node("Node", e.embedding, id=e.id, title=e.title, description=e.description)
            for e in entities
        ),
        *(_node("__Community__", c.embedding, **_told(c)) for c in communities),
    ]
    edges = [
        *(_edge(e.id, "FROM_CHUNK", chunk) for e in entities for chunk in e.chunk_ids),
        *(_edge(r.source_id, r.description, r.target_id, weight=r.weight) for r in relations),
        *(
            _edge(m, "IN_COMMUNITY", c.community)
            for c in communities
            for m in (*c.entity_ids, *c.chunk_ids)
        ),
        *(
            _edge(c.community, "IN_COMMUNITY", c.parent)
            for c in communities
            if c.parent is not None
        ),
    ]
    written = (await database.write(_NODES, {"rows": nodes})).records
    keys = (n["properties"].get("community", n["properties"].get("id")) for n in nodes)
    ids = dict(zip(keys, (record["id"] for record in written), strict=True))
    await database.write(
        _EDGES, {"rows": [{**e, "start": ids[e["start"]], "end": ids[e["end"]]} for e in edges]}
    )


async def prepare(database: Connection) -> None:
    """Add what makes the graph searchable, as `python -m drift prepare` does."""
    await Neo4jPreparer(database, IndexNames(), V1).prepare(DIMENSIONS)


def _told(community: CommunityRecord) -> dict[str, Any]:
    return {
        "community": community.community,
        "level": community.level,
        "summary": community.summary,
    }


def _node(label: str, embedding: Sequence[float], **properties: object) -> dict[str, Any]:
    return {"label": label, "embedding": list(embedding), "properties": properties}


def _edge(start: object, kind: str, end: object, **properties: object) -> dict[str, Any]:
    return {"start": start, "type": kind, "end": end, "properties": properties}
