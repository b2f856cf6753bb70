"""What a graph without tenants is promised, whoever wrote it.

The same story as every other graph, by other statements.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.graph.graph import Neo4jGraph
from drift.graph.writing.records import RelationRecord
from drift.model.found_nodes import NodesQuery
from drift.nodes.threshold import pairs
from tests.contract.graph_backends import (
    CHUNKS,
    axis,
    chunk,
    community,
    entity,
    ids,
    vector,
)
from tests.contract.test_graph_walk import NEAR, WALKED, random_graph
from tests.contract.v1_graphs import (
    ENTITIES,
    PROJECT,
    ask_followup,
    ask_primer,
    create,
    fill,
    prepare,
    searched,
)
from tests.servers import on_whole_servers_of_both_versions

pytestmark = [
    on_whole_servers_of_both_versions,
    pytest.mark.neo4j,
    pytest.mark.slow,
]


# ------------------------------------------------------------------------------------------- primer


async def test_a_community_holds_chunks_over_entities_at_any_depth(
    database: Connection,
) -> None:
    chunks = [chunk(f"k{i}", f"text {i}", vector(1, i / 10)) for i in range(6)]
    everywhere = [entity(f"e{i}", f"Entity {i}", "k0", "k0", "k1") for i in range(4)]
    entities = [*everywhere, entity("deep", "Deep", "k3"), entity("top", "Top", "k5")]
    tree = [
        community(1, 2, None, axis(0), entities=["top", "e3"]),
        community(2, 1, 1, axis(0)),
        community(3, 0, 2, axis(0), entities=["deep", "e0", "e1", "e2"]),
    ]
    await fill(database, chunks, entities, communities=tree)
    (found,) = await ask_primer(searched(database), axis(0), 1, ids(chunks))
    assert found.members == {"k0", "k1", "k3", "k5"}
    assert found.summary == "summary 1"


async def test_chunks_may_be_members_of_communities_themselves(database: Connection) -> None:
    tree = [community(1, 1, None, axis(0)), community(2, 0, 1, axis(0), ["k1"], ["e2"])]
    await fill(database, CHUNKS, ENTITIES, communities=tree)
    [found] = await ask_primer(searched(database), axis(0), 1, ["k1", "k2", "k3"])
    assert found.members == {"k1", "k2"}
    assert ids((await ask_followup(searched(database, "hard"), "what?", axis(0), (1,))).chunks) == [
        "k1",
        "k2",
    ]


# ---------------------------------------------------------------------------------------- follow-up


async def test_soft_scope_prefers_its_chunks_and_hard_scope_has_no_others(
    database: Connection,
) -> None:
    chunks = [
        chunk("k1", "same", axis(0)),
        chunk("k2", "same", axis(0)),
        chunk("k3", "far", axis(1)),
    ]
    tree = [
        community(1, 0, None, axis(0), entities=["e2"]),
        community(2, 0, None, axis(0), entities=["e1", "e3"]),
    ]
    await fill(database, chunks, ENTITIES, communities=tree)
    assert ids((await ask_followup(searched(database), "what?", axis(0), (1,))).chunks) == [
        "k2",
        "k1",
        "k3",
    ]
    assert ids(
        (await ask_followup(searched(database, "hard"), "same far", axis(0), (1,))).chunks
    ) == ["k2"]
    assert len((await ask_followup(searched(database, "hard"), "what?", axis(0))).chunks) == 3


async def test_an_unprepared_graph_is_searched_without_the_walk(database: Connection) -> None:
    hidden = [chunk("named", "one", axis(7)), chunk("k998", "nearest", axis(0))]
    entities = [
        entity("e1", "The Old Mill.", "named"),
        entity("e2", "Owl", "k998"),
        entity("e3", "Tree", "named"),
    ]
    tree = [community(1, 0, None, axis(0), entities=["e1"])]
    relations = [RelationRecord("e2", "e3", "LIVES_IN", 1.0)]
    await create(database, [*NEAR, *hidden], entities, relations, tree)
    found = await ask_followup(searched(database), "who owns the old mill?", axis(0))
    assert found.chunks[0].id == "k000"
    assert "named" not in ids(found.chunks)
    assert found.relationships == (), "a type says nothing"
    [held] = await ask_primer(searched(database), axis(0), voters=["named", "k998"])
    assert held.members == {"named"}
    await prepare(database)
    assert "named" in ids(
        (await ask_followup(searched(database), "who owns the old mill?", axis(0))).chunks
    )


async def test_the_neighbourhood_has_entities_and_relations_both_ways(
    database: Connection,
) -> None:
    chunks = [chunk(f"k{i:02}", f"filler {i}", vector(1, i / 100)) for i in range(60)]
    beside = [chunk("n1", "beside one", axis(8)), chunk("n2", "beside two", axis(9))]
    entities = [
        entity("e1", "Centre", "k00", "k00", "k01"),
        entity("e2", "Before", "n1"),
        entity("e3", "After", "n2", "n2"),
    ]
    relations = [
        RelationRecord("e2", "e1", "FEEDS", 1.0),
        RelationRecord("e1", "e3", "PART_OF", 2.0),
    ]
    tree = [community(1, 0, None, axis(0), entities=["e1", "e2"])]
    await fill(database, [*chunks, *beside], entities, relations, tree)
    await database.write(
        "MATCH ()-[r:FEEDS]->() SET r.description = 'feeds it', r.weight = '1.5'", {}
    )
    await database.write(
        "MATCH (e {id: 'e1'}) CREATE (e)-[:SEEN_BY]->(:Camera {name: 'not an entity'})", {}
    )
    found = await ask_followup(searched(database), "what?", axis(0))
    edges = {(r.source, r.target, r.description) for r in found.relationships}
    assert edges == {("Before", "Centre", "feeds it")}


async def test_an_entity_that_comes_from_a_chunk_many_times_comes_from_it_once(
    database: Connection,
) -> None:
    chunks = [chunk(f"k{i:02}", f"filler {i}", vector(1, i / 100)) for i in range(60)]
    beside = [chunk(f"n{i}", "beside", axis(9 + i)) for i in range(5)]
    often = entity("e1", "Often", *["k01", *(c.id for c in beside)] * 2)
    await fill(database, [*chunks, *beside], [often, entity("e2", "Twice", "k02", "k02")])
    found = await ask_followup(searched(database), "what?", axis(0))
    assert ids(found.chunks) == [c.id for c in chunks[:30]], (
        "no chunk shares an entity with another one"
    )


async def test_a_graph_gives_every_chunk_the_score_that_the_other_schema_gives_it(
    database: Connection,
) -> None:
    chunks, entities, relations = random_graph()
    named = [replace(one, description="RELATES") for one in relations]
    await fill(database, chunks, entities, named)
    for question, expected in WALKED.items():
        found = (await ask_followup(searched(database), question, axis(0))).chunks
        assert {c.id: c.score for c in found[:5]} == pytest.approx(expected, abs=1e-4), question


# ------------------------------------------------------------------------------------------- nodes
async def test_chunks_and_communities_are_found_as_nodes(database: Connection) -> None:
    communities = [community(10, 0, None, vector(1, 0.2), entities=["e1", "e2"])]
    relations = [RelationRecord("e1", "e2", "KNOWS", 2.0)]
    await fill(database, CHUNKS, ENTITIES, relations, communities)
    for limit in (None, 0):
        store = Neo4jGraph(database, exact_limit=limit, schema=V1)
        found = await store.finder().nearest_nodes(NodesQuery(PROJECT, axis(0)), soon())
        named = [f"{node.node_type} {node.id}" for node in found.nodes]
        assert named[:2] == ["Chunk k1", "Community 10"]
        assert found.nodes[0].score == pytest.approx(1, abs=1e-6)
        assert found.threshold is None
        first = found.nodes[0].related
        assert [(one.node_type, one.id) for one in first] == [("Entity", "e1")]
    sampled = await store.finder().sample(PROJECT, len(axis(0)), pairs(50), 2, soon())
    assert sampled.texts == 4
    assert sampled.cosines


def soon() -> Deadline:
    return Deadline.after(120)
