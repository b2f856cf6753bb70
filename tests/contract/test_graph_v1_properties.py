"""Graphs without tenants come from many hands.

What may be missing or of another type in them, and how it is named then.
"""

from __future__ import annotations

import pytest

from drift.graph.connection import Connection
from drift.graph.writing.records import ChunkRecord, RelationRecord
from tests.contract.graph_backends import CHUNKS, axis, chunk, community, entity, ids
from tests.contract.test_graph_locations import WRITTEN
from tests.contract.test_passages import known
from tests.contract.v1_graphs import (
    ENTITIES,
    PROJECT,
    ask_followup,
    ask_primer,
    fill,
    prepare,
    searched,
)

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


async def test_what_has_no_id_goes_by_its_element_id(database: Connection) -> None:
    tree = [
        community(1, 0, None, axis(0), entities=["e1"]),
        community(2, 0, None, axis(1), entities=["e2", "e3"]),
    ]
    await fill(database, CHUNKS, ENTITIES, [RelationRecord("e1", "e2", "KNOWS", 1.0)], tree)
    await database.write(
        "MATCH (n) REMOVE n.id, n.community SET n.name = n.title REMOVE n.title", {}
    )
    await database.write("MATCH ()-[r:KNOWS]->() SET r.fact = 'met it'", {})
    found = await ask_primer(searched(database), axis(0))
    assert len(found) == 2
    assert all(isinstance(c.id, str) and ":" in c.id for c in found)
    hard = await ask_followup(searched(database, "hard"), "what?", axis(0), (found[0].id,))
    assert [c.text for c in hard.chunks] == ["alpha"]
    soft = await ask_followup(searched(database), "what?", axis(0), (found[0].id,))
    assert len(soft.chunks) == 3
    again = await ask_primer(searched(database), axis(0), 1, [c.id for c in soft.chunks])
    assert again[0].members == {hard.chunks[0].id}
    assert [(r.source, r.target) for r in soft.relationships] == [("Entity 1", "Entity 2")]


async def test_a_community_goes_by_its_own_key_in_its_type(database: Connection) -> None:
    keys: list[tuple[str, object, object]] = [
        ("community", 7, 7),
        ("id", 8, 8),
        ("id", "seven", "seven"),
        ("community", 9.0, 9),
    ]
    chunks = [chunk(f"k{n}", "text", axis(n)) for n in range(len(keys))]
    entities = [entity(f"e{n}", f"Entity {n}", f"k{n}") for n in range(len(keys))]
    tree = [community(n, 0, None, axis(n), entities=[f"e{n}"]) for n in range(len(keys))]
    await fill(database, chunks, entities, communities=tree)
    for n, (name, stored, _) in enumerate(keys):
        await database.write(
            "MATCH (c:__Community__ {summary: $summary}) REMOVE c.community SET c += $key",
            {"summary": f"summary {n}", "key": {name: stored}},
        )
    found = {c.summary: c.id for c in await ask_primer(searched(database), axis(0))}
    for n, (*_, seen) in enumerate(keys):
        key = found[f"summary {n}"]
        assert (key, type(key)) == (seen, type(seen))
        inside = await ask_followup(searched(database, "hard"), "what?", axis(0), (key,))
        assert ids(inside.chunks) == [f"k{n}"]


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


async def test_a_chunk_stands_where_its_document_has_it(database: Connection) -> None:
    chunks = [ChunkRecord(f"k{i}", "", 0, "", f"text {i}", axis(i)) for i in range(5)]
    await fill(database, chunks)
    for first, name in ((0, "ordinal"), (2, "index")):
        text = f"""CREATE (d:Document {{title: 'Guide'}})
        WITH d UNWIND [0, 1] AS place
        MATCH (ch:__Chunk__ {{id: 'k' + ($first + place)}})
        SET ch.{name} = place, ch.heading = 'Part ' + place
        CREATE (ch)-[:FROM_DOCUMENT]->(d)"""
        await database.write(text, {"first": first})
    found = await ask_followup(searched(database), "what?", axis(0))
    assert {c.id: (c.heading, c.place, c.places) for c in found.chunks} == {
        "k0": ("Part 0", 1, 2),
        "k1": ("Part 1", 2, 2),
        "k2": ("Part 0", 1, 2),
        "k3": ("Part 1", 2, 2),
        "k4": ("", None, None),
    }


async def test_a_chunk_says_how_near_and_how_old_it_is_and_what_bears_it_out(
    database: Connection,
) -> None:
    await database.write(
        """UNWIND range(1, 3) AS n
        CREATE (d:Document {id: 'd' + n, last_modified: $written})
        CREATE (ch:__Chunk__ {text: 'alpha ' + n, embedding: $vector})-[:FROM_DOCUMENT]->(d)
        SET ch.id = CASE n WHEN 1 THEN 'k1' WHEN 2 THEN 2 END
        WITH collect(ch) AS chunks
        UNWIND ['Mill', 'Wheel'] AS name
        CREATE (e:Thing {name: name})
        WITH chunks, e UNWIND chunks AS ch CREATE (e)-[:FROM_CHUNK]->(ch)""",
        {"written": WRITTEN, "vector": list(axis(0))},
    )
    await prepare(database)
    store = searched(database)
    read = ids((await ask_followup(store, "alpha?", axis(0))).chunks)
    assert len(read) == 3
    assert {"k1", "2"} < set(read)

    found = await known(store.passages(), PROJECT, *read)
    assert {one.similarity for one in found.values()} == {1.0}
    assert {one.updated_at for one in found.values()} == {WRITTEN}
    assert found["k1"].witnesses == ("d2", "d3")
