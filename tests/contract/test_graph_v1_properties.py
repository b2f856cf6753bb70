"""Graphs without tenants come from many hands.

What may be missing or of another type in them, and how it is named then.
"""

from __future__ import annotations

import pytest

from drift.graph.connection import Connection
from drift.local.ingest.graph_records import ChunkRecord, RelationRecord
from tests.contract.graph_backends import CHUNKS, axis, community, ids
from tests.contract.v1_graphs import ENTITIES, ask_followup, ask_primer, fill, searched

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(600)]


async def test_what_has_no_id_goes_by_its_element_id(database: Connection) -> None:
    tree = [
        community(1, 0, None, axis(0), entities=["e1"]),
        community(2, 0, None, axis(1), entities=["e2", "e3"]),
    ]
    await fill(database, CHUNKS, ENTITIES, [RelationRecord("e1", "e2", "KNOWS", 1.0)], tree)
    await database.write(
        "MATCH (n) REMOVE n.id, n.community SET n.name = n.title REMOVE n.title", {}
    )
    found = await ask_primer(searched(database), axis(0))
    assert len(found.communities) == 2
    assert all(isinstance(c.id, str) and ":" in c.id for c in found.communities)
    hard = await ask_followup(
        searched(database, "hard"), "what?", axis(0), (found.communities[0].id,)
    )
    assert [c.text for c in hard.chunks] == ["alpha"]
    soft = await ask_followup(searched(database), "what?", axis(0), (found.communities[0].id,))
    assert len(soft.chunks) == 3
    assert {e.title for e in soft.entities} == {"Entity 1", "Entity 2", "Entity 3"}
    assert [(r.source, r.target) for r in soft.relationships] == [("Entity 1", "Entity 2")]


@pytest.mark.parametrize(
    ("name", "stored", "seen"),
    [("community", 7, 7), ("id", 7, 7), ("id", "seven", "seven"), ("community", 7.0, 7)],
)
async def test_a_community_goes_by_its_own_key_in_its_type(
    database: Connection, name: str, stored: object, seen: object
) -> None:
    await fill(
        database, CHUNKS, ENTITIES, communities=[community(1, 0, None, axis(0), entities=["e2"])]
    )
    await database.write(
        f"MATCH (c:__Community__) REMOVE c.community SET c.{name} = $key", {"key": stored}
    )
    found = ids((await ask_primer(searched(database), axis(0))).communities)
    assert found == [seen]
    assert type(found[0]) is type(seen)
    assert ids(
        (await ask_followup(searched(database, "hard"), "what?", axis(0), (found[0],))).chunks
    ) == ["k2"]


async def test_ids_may_be_numbers(database: Connection) -> None:
    await fill(database, CHUNKS, ENTITIES)
    await database.write(
        "MATCH (n) WHERE n.id IS NOT NULL SET n.id = toInteger(substring(n.id, 1))", {}
    )
    found = await ask_followup(searched(database), "what?", axis(0))
    assert ids(found.chunks) == ["1", "2", "3"]
    assert set(ids(found.entities)) == {"1", "2", "3"}


async def test_a_document_is_named_where_the_graph_has_one(database: Connection) -> None:
    chunks = [
        ChunkRecord(name, "", 0, "", name, axis(place))
        for place, name in enumerate(("titled", "filed", "twice", "loose"))
    ]
    await fill(database, chunks)
    text = """MATCH (ch:__Chunk__) WHERE ch.id IN $ids
    CREATE (ch)-[:FROM_DOCUMENT]->(d:Document) SET d += $properties"""
    for of, properties in (
        (["titled", "twice"], {"title": "Guide", "path": "guide.pdf"}),
        (["filed"], {"title": " ", "path": "atlas.pdf"}),
        (["twice"], {"path": "annex.pdf"}),
    ):
        await database.write(text, {"ids": of, "properties": properties})
    found = await ask_followup(searched(database), "what?", axis(0))
    names = {c.id: c.document_name for c in found.chunks}
    assert names == {"titled": "Guide", "filed": "atlas.pdf", "twice": "Guide", "loose": "unknown"}


@pytest.mark.parametrize("name", ["ordinal", "index"])
async def test_a_chunk_stands_where_its_document_has_it(database: Connection, name: str) -> None:
    chunks = [ChunkRecord(f"k{i}", "", 0, "", f"text {i}", axis(i)) for i in range(3)]
    await fill(database, chunks)
    text = f"""CREATE (d:Document {{title: 'Guide'}})
    WITH d UNWIND [0, 1] AS place
    MATCH (ch:__Chunk__ {{id: 'k' + place}})
    SET ch.{name} = place, ch.heading = 'Part ' + place
    CREATE (ch)-[:FROM_DOCUMENT]->(d)"""
    await database.write(text, {})
    found = await ask_followup(searched(database), "what?", axis(0))
    assert [(c.heading, c.place, c.places) for c in found.chunks] == [
        ("Part 0", 1, 2),
        ("Part 1", 2, 2),
        ("", None, None),
    ]
