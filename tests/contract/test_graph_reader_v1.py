"""What is read of a graph without projects, which is one project of any name."""

from __future__ import annotations

import pytest

from drift.auth.caller import EVERYBODY, Caller, Grant
from drift.contracts.reading import DocumentName
from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.graph.reader import Neo4jReader
from drift.graph.writing.records import RelationRecord
from drift.model.reading import Page, PageQuery
from tests.contract import v1_graphs
from tests.contract.graph_backends import axis, chunk, community
from tests.contract.v1_graphs import ENTITIES, PROJECT

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

MINE = EVERYBODY.project(PROJECT)
COMMUNITIES = (
    community(1, 1, None, axis(0)),
    community(2, 0, 1, axis(1), (), ["e1", "e2"]),
)
DOCUMENTS = """
CREATE (d:Document {path: 'a/b.txt'})
WITH d MATCH (ch:__Chunk__)
CREATE (ch)-[:FROM_DOCUMENT]->(d)
SET ch.index = toInteger(substring(ch.id, 1)) - 1
"""


def soon() -> Deadline:
    return Deadline.after(120)


async def test_the_whole_database_is_read(database: Connection) -> None:
    chunks = [chunk(f"k{n}", f"text {n}", axis(n)) for n in (1, 2, 3)]
    relations = (RelationRecord("e1", "e2", "KNOWS", 2.0),)
    await v1_graphs.fill(database, chunks, ENTITIES, relations, COMMUNITIES)
    await database.write(DOCUMENTS, {})
    reader = Neo4jReader(database, V1)

    found = await reader.overview(MINE, soon())
    counts = (found.documents, found.chunks, found.entities, found.communities)
    assert (counts, found.written_at) == ((1, 3, 3, 2), None)

    about = await reader.chunk(MINE, f"project:{PROJECT}", soon())
    assert "holds 1 document, 3 passages, 3 entities, 2 communities." in about.text
    assert "Document 1 of 1: a/b.txt" in about.text

    (document,) = (await reader.documents(MINE, PageQuery(5), soon())).rows
    assert (document.name, document.source_uri, document.chunk_count) == ("a/b.txt", None, 3)
    read = await reader.document(MINE, document.id, PageQuery(2), soon())
    _, chunks = read
    assert [c.id for c in chunks.rows] == ["k1", "k2"]
    assert chunks.last

    text = await reader.chunk(MINE, "k2", soon())
    assert (text.before.id, text.place, text.after.id) == ("k1", "2 of 3", "k3")
    assert text.document == DocumentName(id=document.id, name="a/b.txt")
    mentioned = await reader.chunk(MINE, "k1", soon())
    assert [(e.id, e.communities) for e in mentioned.entities] == [("e1", (2,))]

    entity = await reader.entity(MINE, "e1", 5, soon())
    assert [(r.title, r.description, r.direction) for r in entity.relations] == [
        ("Entity 2", "KNOWS", "out")
    ]
    assert [m.id for m in entity.chunks] == ["k1"]

    leaves = await reader.communities(MINE, 0, PageQuery(5), soon())
    assert [(c.id, c.members, c.parents) for c in leaves.rows] == [(2, 2, (1,))]
    first = await reader.communities(MINE, None, PageQuery(1), soon())
    assert [c.id for c in first.rows] == [1]
    second = await reader.communities(MINE, None, PageQuery(1, first.last), soon())
    assert ([c.id for c in second.rows], second.last) == ([2], None)


async def test_nodes_without_ids_are_read_by_their_place_in_the_store(
    database: Connection,
) -> None:
    await v1_graphs.fill(database, [chunk("k1", "text", axis(1))], ENTITIES[:1])
    await database.write("MATCH (n) REMOVE n.id", {})
    ids = "MATCH (n) RETURN labels(n) AS labels, elementId(n) AS id"
    rows = [dict(record) for record in (await database.read(ids, {})).records]
    named = {label: row["id"] for row in rows for label in row["labels"]}
    reader = Neo4jReader(database, V1)

    read = await reader.chunk(MINE, named["__Chunk__"], soon())
    assert read.text == "text"
    entity = await reader.entity(MINE, named["__Entity__"], 5, soon())
    assert [m.id for m in entity.chunks] == [named["__Chunk__"]]
    assert await reader.chunk(MINE, named["__Entity__"], soon()) is None
    assert await reader.entity(MINE, named["__Chunk__"], 5, soon()) is None
    for nothing in ("k1", "4:x:1", "1", ""):
        assert await reader.chunk(MINE, nothing, soon()) is None
        assert await reader.document(MINE, nothing, PageQuery(5), soon()) is None


async def test_a_caller_sees_the_projects_that_it_names(database: Connection) -> None:
    reader = Neo4jReader(database, V1)
    rights = frozenset({"read"})
    caller = Caller("x", tuple(Grant(p, rights) for p in ("b", "a", "team-*")))
    first = await reader.projects(caller, PageQuery(1), soon())
    assert first.rows == ("a",)
    assert await reader.projects(caller, PageQuery(1, first.last), soon()) == Page(("b",))
    assert await reader.projects(EVERYBODY, PageQuery(9), soon()) == Page()
