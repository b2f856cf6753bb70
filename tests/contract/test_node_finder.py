"""What every NodeFinder promises: the nearest nodes of any kind, of one project, by raw cosine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.writing.records import CommunityRecord, EntityRecord, RelationRecord
from drift.local.ingest.thresholds import COPIES, measure_and_keep
from drift.model.calls import Embeddings
from drift.model.found_nodes import FoundNode, NodesQuery, RelatedNode, Sampled, ScoreThreshold
from drift.model.graph import Vector
from drift.nodes.ports import NodeFinder
from drift.nodes.threshold import pairs
from tests.contract.graph_backends import (
    DIMENSIONS,
    INDEXED,
    TWIN,
    Backend,
    Neo4jBackend,
    axis,
    chunk,
    community,
    entity,
    fill,
    on_real_servers,
    twin,
    vector,
)

ways = pytest.mark.parametrize("exact_limit", [None, INDEXED], ids=["exact", "indexed"])
ALL = ("Chunk", "Entity", "Community")
CHUNKS = [
    chunk("k1", "alpha", axis(0)),
    chunk("k2", "beta", vector(1, 1)),
    replace(chunk("k3", "gamma", axis(2)), heading="Title of d1 > Third"),
]
ENTITIES = [
    replace(entity("e1", "Alpha", "k1", "k2"), embedding=vector(2, 1)),
    replace(entity("e2", "Gamma", "k3"), embedding=axis(2)),
    replace(entity("e3", "Delta", "k3"), embedding=axis(3)),
    replace(entity("e4", "Omega", "k3"), embedding=()),
]
RELATIONS = [
    RelationRecord("e1", "e2", "knows", 1.5),
    RelationRecord("e2", "e1", "sees", 0.5),
    RelationRecord("e1", "e3", "hears", 1.0),
    RelationRecord("e4", "e1", "names", 3.0),
]
COMMUNITIES = [
    community(1, 1, None, vector(-1)),
    community(2, 0, 1, vector(3, 1), ["k1", "k2"], ["e1"]),
]


async def fill_all(backend: Backend, project: str) -> None:
    await fill(backend, project, CHUNKS, ENTITIES, RELATIONS, COMMUNITIES)


async def nearest(
    finder: NodeFinder,
    project: str,
    asked: Vector,
    labels: tuple[str, ...] = ALL,
    limit: int = 5,
) -> tuple[FoundNode, ...]:
    """Ask; nothing may come twice or from the twin."""
    found = await finder.nearest_nodes(
        NodesQuery(project, asked, labels, limit), Deadline.after(120)
    )
    nodes = found.nodes
    assert len(nodes) <= limit
    assert len({(node.node_type, node.id) for node in nodes}) == len(nodes)
    assert not any(one.title.startswith(TWIN) for n in nodes for one in (n, *n.related))
    assert [node.score for node in nodes] == sorted((n.score for n in nodes), reverse=True)
    return nodes


def named(nodes: Any) -> list[str]:
    return [f"{node.node_type} {node.id}" for node in nodes]


@ways
@on_real_servers
async def test_the_nearest_nodes_of_the_labels_asked_for_come_by_raw_cosine(
    backend: Backend, project: str, exact_limit: int | None
) -> None:
    finder = backend.finder(exact_limit)
    assert await nearest(finder, project, axis(0)) == (), "of a project that is not there"
    await fill_all(backend, project)
    nodes = await nearest(finder, project, axis(0))
    assert named(nodes)[:4] == ["Chunk k1", "Community 2", "Entity e1", "Chunk k2"]
    expected = [1, 3 / math.sqrt(10), 2 / math.sqrt(5), 1 / math.sqrt(2), 0]
    assert [node.score for node in nodes] == pytest.approx(expected, abs=1e-6)
    assert [(node.title, node.text) for node in nodes[:4]] == [
        ("Title of d1", "alpha"),
        ("title 2", "summary 2"),
        ("Alpha", "about Alpha"),
        ("Title of d1", "beta"),
    ]

    # More than the project has: an index that other projects share may not have all of the nearest.
    assert named(await nearest(finder, project, axis(2), ("Chunk",), 20))[0] == "Chunk k3"
    assert named(await nearest(finder, project, axis(2), ("Entity",), 20))[0] == "Entity e2"
    communities = await nearest(finder, project, vector(-1), ("Community",), 20)
    assert named(communities)[0] == "Community 1"
    assert await nearest(finder, project, axis(0), ("Person",)) == ()
    assert await nearest(finder, project, axis(0), ()) == ()

    only_there = EntityRecord("e9", "There", "", ("k1",), axis(7))
    knowledge = community(9, 0, None, axis(7))
    await fill(backend, f"{twin(project)}-c", CHUNKS, [only_there], [], [knowledge])
    nodes = await nearest(finder, project, axis(7))
    assert not {"e9", "9"} & {node.id for node in nodes}


@on_real_servers
async def test_a_node_comes_with_its_title_and_the_three_around_it_by_weight_then_degree(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    finder = backend.finder()
    [office] = await nearest(finder, project, vector(2, 1), ("Entity",), 1)
    assert office.related == (
        RelatedNode("e4", "Entity", "Omega", "names"),
        RelatedNode("e2", "Entity", "Gamma", "knows"),
        RelatedNode("e3", "Entity", "Delta", "hears"),
    )
    [third] = await nearest(finder, project, axis(2), ("Chunk",), 1)
    assert (third.id, third.title, third.text) == ("k3", "Title of d1 > Third", "gamma")
    assert named(third.related) == ["Entity e2", "Entity e3", "Entity e4"]
    assert {one.relation for one in third.related} == {"HAS_ENTITY"}
    [top] = await nearest(finder, project, vector(-1), ("Community",), 1)
    assert named(top.related) == ["Community 2"]


@on_real_servers
async def test_a_long_text_is_cut_to_what_is_searched(backend: Backend, project: str) -> None:
    long = CommunityRecord(1, 0, None, "T" * 100, "s" * 9000, embedding=axis(0))
    await fill(backend, project, CHUNKS, communities=[long])
    [found] = await nearest(backend.finder(), project, axis(0), ("Community",), 1)
    assert (found.title, len(found.text)) == ("T" * 100, 7900)


@on_real_servers
async def test_random_pairs_of_texts_are_sampled_the_same_each_time(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    finder = backend.finder()

    async def sample(project_id: str = project, least: int = 5, dimensions: int = 256) -> Sampled:
        drawn = pairs(400)
        return await finder.sample(project_id, dimensions, drawn, least, Deadline.after(120))

    found = await sample()
    assert found.texts == 8
    assert found == await sample()
    assert 250 < len(found.cosines) < 400
    expected = {
        (x * u + y * v) / math.hypot(x, y) / math.hypot(u, v)
        for x, y in [(1, 0), (1, 1), (2, 1), (3, 1), (-1, 0)]
        for u, v in [(1, 0), (1, 1), (2, 1), (3, 1), (-1, 0)]
    } | {0.0, 1.0}
    assert all(any(abs(c - e) < 1e-6 for e in expected) for c in found.cosines)
    assert await sample(least=9) == Sampled(8)
    assert await sample(f"{project}-absent") in (Sampled(), Sampled(0))
    assert await sample(dimensions=12) == Sampled(8)


# ---------------------------------------------------------------- what only a real graph can hold
async def damaged(backend: Neo4jBackend, project: str, change: str, **values: Any) -> NodeFinder:
    await fill_all(backend, project)
    await backend.connection.write(change, {"p": project, "d": DIMENSIONS, **values})
    return backend.finder()


@on_real_servers
async def test_a_node_with_a_broken_vector_is_left_out(backend: Neo4jBackend, project: str) -> None:
    finder = await damaged(
        backend,
        project,
        """MATCH (n {project_id: $p}) SET n.embedding = CASE n.id
          WHEN 'k1' THEN $infinite WHEN 'k3' THEN null WHEN 'e2' THEN 'text'
          WHEN 'e3' THEN [x IN range(1, $d) | 0.0] ELSE n.embedding END""",
        infinite=[math.inf] * DIMENSIONS,
    )
    nodes = await nearest(finder, project, axis(0), limit=20)
    assert named(nodes) == ["Community 2", "Entity e1", "Chunk k2", "Community 1"]


@on_real_servers
async def test_properties_of_other_types_count_as_missing(
    backend: Neo4jBackend, project: str
) -> None:
    finder = await damaged(
        backend,
        project,
        """MATCH (e:__Entity__ {project_id: $p, id: 'e1'})-[r]-(:__Entity__)
        SET e.title = [1, 2], e.description = 5, r.weight = 'much', r.description = [1]
        WITH DISTINCT e MATCH (c:__Community__ {project_id: $p, community: 2})
        SET c.title = 7, c.summary = [true]
        WITH c MATCH (k:__Chunk__ {project_id: $p, id: 'k1'})
        SET k.text = 1, k.heading = [1], k.id = 5
        WITH k MATCH (:__Document__ {project_id: $p})-[h:HAS_CHUNK]->(k) DELETE h""",
    )
    nodes = {f"{n.node_type} {n.id}": n for n in await nearest(finder, project, axis(0))}
    told = {name: (node.title, node.text) for name, node in nodes.items()}
    assert told["Entity e1"] == ("e1", "")
    assert told["Community 2"] == ("7", "")
    assert told["Chunk 5"] == ("5", "")
    assert {one.relation for one in nodes["Entity e1"].related} <= {
        "RELATED",
        "HAS_ENTITY",
        "IN_COMMUNITY",
    }


@on_real_servers
async def test_what_is_being_written_is_not_found(backend: Neo4jBackend, project: str) -> None:
    finder = await damaged(
        backend,
        project,
        """MATCH (p:__Project__ {id: $p}) SET p.building = 99
        CREATE (e:__Entity__ {project_id: $p, id: 'e7', generation: 99, title: 'new'})
        CREATE (:__StagedChunk__ {project_id: $p, id: 'k7', text: 'x', embedding: $v})
        CREATE (c:__Community__ {project_id: $p, community: 7, generation: 99, level: 0})
        SET e.embedding = $v, c.embedding = $v
        WITH e MATCH (k:__Chunk__ {project_id: $p, id: 'k1'}) CREATE (k)-[:HAS_ENTITY]->(e)""",
        v=list(axis(9)),
    )
    nodes = await nearest(finder, project, axis(9))
    assert not {"e7", "k7", "7"} & {one.id for n in nodes for one in (n, *n.related)}


@on_real_servers
async def test_a_project_without_any_vector_is_told_what_to_run(
    backend: Neo4jBackend, project: str
) -> None:
    finder = await damaged(
        backend, project, "MATCH (n {project_id: $p}) WHERE n.id IS NOT NULL REMOVE n.embedding"
    )
    await backend.connection.write(
        "MATCH (n:__Community__ {project_id: $p}) REMOVE n.embedding", {"p": project}
    )
    with pytest.raises(GraphMisconfiguredError, match="no search can use one"):
        await finder.nearest_nodes(NodesQuery(project, axis(0)), Deadline.after(120))


@on_real_servers
async def test_people_s_own_nodes_are_found_by_their_label(
    backend: Neo4jBackend, project: str
) -> None:
    finder = await damaged(
        backend,
        project,
        """UNWIND [$p, $p + '-b'] AS project
        CREATE (a:__DriftNode__:Person {project_id: project, id: 'p1', name: 'Ada',
          description: 'x', embedding: $v})
        CREATE (b:__DriftNode__:Company {project_id: project, id: 'c1', title: 'Works',
          embedding: $v})
        CREATE (a)-[:WORKS_AT {weight: 2.0}]->(b)
        WITH a, project MATCH (e:__Entity__ {project_id: project, id: 'e1'})
        CREATE (a)-[:KNOWS]->(e)""",
        v=list(axis(5)),
    )
    [ada] = await nearest(finder, project, axis(5), (*ALL, "Person"), 1)
    assert (ada.id, ada.node_type, ada.title, ada.text) == ("p1", "Person", "Ada", "x")
    assert ada.score == pytest.approx(1)
    assert ada.related == (
        RelatedNode("c1", "Company", "Works", "WORKS_AT"),
        RelatedNode("e1", "Entity", "Alpha", "KNOWS"),
    )
    both = await nearest(finder, project, axis(5), ("Person", "Company"))
    assert named(both) == ["Company c1", "Person p1"]


class OneVector:
    """Embedder: the first axis for every text."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        deadline.require()
        return Embeddings(tuple(vector(1) for _ in texts))


@on_real_servers
async def test_what_was_measured_of_the_project_is_kept_and_comes_with_its_nodes(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    finder = backend.finder()

    async def found() -> ScoreThreshold | None:
        query = NodesQuery(project, axis(0))
        return (await finder.nearest_nodes(query, Deadline.after(120))).threshold

    assert await found() is None
    for threshold in (
        ScoreThreshold(0.25, 500, 256, "m", -0.25, 0.2),
        ScoreThreshold(None, 7, 256, "m"),
    ):
        await backend.writer.keep_threshold(project, threshold)
        kept, _ = await backend.writer.kept_threshold(project)
        assert kept == await found() == threshold
    assert (await backend.writer.kept_threshold(twin(project)))[0] is None
    await backend.writer.keep_threshold(f"{project}-absent", threshold)
    assert await backend.writer.kept_threshold(f"{project}-absent") == (None, None)

    for damage in ("p.score_threshold = 'x'", "p.score_threshold_texts = 1.5"):
        await backend.connection.write(
            f"MATCH (p:__Project__ {{id: $p}}) SET {damage}", {"p": project}
        )
        assert await found() is None
        await backend.writer.keep_threshold(project, threshold)
    assert await found() == threshold


@on_real_servers
async def test_the_threshold_is_measured_when_texts_were_indexed(
    backend: Neo4jBackend, project: str
) -> None:
    many = [chunk(f"k{n:03}", f"text {n}", vector(1, n / 100), "d1") for n in range(120)]
    many.append(chunk("z", "text", vector(1, 0.5), "d2"))
    await fill(backend, project, many)
    finder, keeper = backend.finder(), backend.writer
    said: list[str] = []

    embedder = OneVector()

    async def measured_again(model: str = "m") -> ScoreThreshold | None:
        return await measure_and_keep(
            finder, embedder, keeper, project, 256, model, say=said.append
        )

    measured = await measured_again()
    assert measured
    assert measured.texts == 121
    assert measured.score
    assert 0.9 < measured.score < COPIES
    assert measured.unrelated == pytest.approx(1)
    assert measured.floor
    assert measured.floor < measured.score
    assert await keeper.kept_threshold(project) == (measured, measured.written_at)
    told = replace(measured, score=0.95)
    await keeper.keep_threshold(project, told)
    assert await measured_again() == told
    for damaged in ({"unrelated": None}, {"written_at": 7}):  # of an earlier version, or state
        await keeper.keep_threshold(project, replace(told, **damaged))
        assert await measured_again() == measured

    await backend.writer.remove_documents(project, ["d1"])
    few = await measured_again()
    assert few
    assert few.texts == 1
    other = await measured_again("other")
    assert other == replace(few, model="other")
    assert await keeper.kept_threshold(project) == (other, other.written_at)
    assert said == []
