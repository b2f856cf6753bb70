"""Graphs that somebody else wrote, on servers of their own.

Preparing is about a whole database, so each test has it empty.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from drift.graph.connection import Connection
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.known_names import TYPES, know_names
from tests.contract.v1_graphs import drop_schema

DIMENSIONS = 4

_FERRIES = """
UNWIND $projects AS project
CREATE (p:__Project__ {id: project})
CREATE (root:__Community__ {
  community: 100, level: 1, summary: 'all ferries', embedding: [1.0, 1.0, 1.0, 1.0]
})
CREATE (root)-[:IN_PROJECT]->(p)
WITH p, root
UNWIND range(1, 3) AS i
CREATE (d:__Document__ {id: 'd' + i, title: 'Timetable ' + i}),
  (k:__Chunk__ {id: 'k' + i, text: 'Ferry ' + i + ' leaves at noon.'}),
  (e:__Entity__ {id: 'e' + i, title: ' “Ferry ' + i + '”', description: 'a ship'}),
  (c:__Community__ {community: i, level: 0, summary: 'ferry ' + i, embedding: [0.0, 1.0, 0.0, i]})
SET k.embedding = [1.0, 0.0, 0.0, i]
CREATE (d)-[:HAS_CHUNK]->(k)-[:HAS_ENTITY]->(e)-[:IN_COMMUNITY]->(c)-[:IN_COMMUNITY]->(root),
  (k)-[:IN_COMMUNITY]->(c)
WITH p, [d, k, e, c] AS nodes
UNWIND nodes AS n
CREATE (n)-[:IN_PROJECT]->(p)
"""

_ENTITIES_OF_CHUNKS = """
UNWIND range(1, 3) AS i
CREATE (k:$($chunk) {
    text: 'Ferry ' + i + ' leaves at noon.', embedding: [1.0, 0.0, 0.0, i], index: i
  }),
  (e:$($entity) {name: 'Ferry ' + i})-[:FROM_CHUNK]->(k),
  (p:$($entity) {name: 'Pier'})-[:FROM_CHUNK]->(k),
  (e)-[:LANDS_AT]->(p)
"""


@pytest.fixture
async def database(whole_server: Neo4jServer) -> AsyncIterator[Connection]:
    """A database without nodes, constraints and indexes."""
    server = whole_server
    async with Connection(server.uri, server.user, server.password, server.database) as connection:
        await connection.write("MATCH (n) DETACH DELETE n", {})
        await drop_schema(connection)
        yield connection


@pytest.fixture
async def prepared(whole_server: Neo4jServer) -> AsyncIterator[Connection]:
    """A database without nodes, with the schema of a prepared graph.

    It is made once, and again after a test that changed it.
    """
    server = whole_server
    async with Connection(server.uri, server.user, server.password, server.database) as connection:
        await connection.write("MATCH (n) DETACH DELETE n", {})
        if await rows(connection, _SCHEMA) != _prepared.get(server.uri):
            await drop_schema(connection)
            await Neo4jPreparer(connection).prepare(DIMENSIONS)
            _prepared[server.uri] = await rows(connection, _SCHEMA)
        await know_names(connection, types=TYPES)
        yield connection


_SCHEMA = """
SHOW INDEXES YIELD name, state, labelsOrTypes, properties, options, owningConstraint
RETURN * ORDER BY name
"""
_prepared: dict[str, list[list[Any]]] = {}
"""The schema of the prepared graph by its server's address."""


@pytest.fixture
def preparer(database: Connection) -> Neo4jPreparer:
    """What prepares that database for the default schema."""
    return Neo4jPreparer(database)


async def add_ferries(database: Connection, *projects: object) -> None:
    """Write the same small graph, ids and all, for each project.

    Three documents, IN_PROJECT edges, no `project_id`.
    """
    await database.write(_FERRIES, {"projects": list(projects)})


async def add_entities_of_chunks(
    database: Connection, chunk: str = "__Chunk__", entity: str = "Node"
) -> None:
    """Write three chunks that their entities point to, without tenants, communities and ids."""
    text = _ENTITIES_OF_CHUNKS.replace("$($chunk)", chunk).replace("$($entity)", entity)
    await database.write(text, {})


async def cut_edges(database: Connection, *labels: str) -> None:
    """Take the IN_PROJECT edges from the nodes of these labels."""
    text = "MATCH (n)-[r:IN_PROJECT]->() WHERE any(l IN labels(n) WHERE l IN $labels) DELETE r"
    await database.write(text, {"labels": list(labels)})


async def rows(database: Connection, text: str, **parameters: Any) -> list[list[Any]]:
    """Return what a statement finds."""
    return [record.values() for record in (await database.read(text, parameters)).records]


async def everything(database: Connection) -> list[Any]:
    """Return the whole store: every node, edge, index and constraint."""
    texts = (
        "MATCH (n) RETURN elementId(n) AS id, labels(n), properties(n) ORDER BY id",
        (
            "MATCH (a)-[r]->(b) RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS type, "
            "properties(r) ORDER BY a, b, type"
        ),
        "SHOW INDEXES YIELD name, state, labelsOrTypes, properties, options RETURN * ORDER BY name",
        "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties RETURN * ORDER BY name",
        "CALL db.propertyKeys()",
        "CALL db.labels()",
    )
    return [await rows(database, text) for text in texts]
