"""The topics that hold a question's best chunks, on the real server."""

from __future__ import annotations

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.graph import Neo4jGraph
from drift.graph.writing.records import CommunityRecord, KnowledgeBatch
from drift.model.graph import PrimerQuery, WholeEvidence, WholeQuery
from tests.contract.graph_backends import (
    Backend,
    Neo4jBackend,
    axis,
    chunk,
    community,
    fill,
    vector,
)
from tests.contract.small_project import CHUNKS
from tests.contract.test_reading_while_writing import on_real_server

TOPICS = (
    CommunityRecord(1, 0, 10, "One", "About: one.", chunk_ids=("k1",), embedding=axis(0)),
    CommunityRecord(2, 0, 10, "Two", "About: two.", chunk_ids=("k2",), embedding=axis(1)),
    CommunityRecord(3, 0, 11, "Mute", "About: nothing.", chunk_ids=("k3",)),
    CommunityRecord(10, 1, None, "Both", "About: both.", embedding=axis(2)),
    CommunityRecord(11, 1, None, "Other", "About: other."),
)


async def _topics(
    backend: Neo4jBackend, project: str, *voters: str, top_k: int = 5
) -> list[object]:
    query = PrimerQuery(project, voters, axis(0), top_k)
    found = await backend.store().topics(query, Deadline.after(30))
    return [(one.id, one.title, one.members) for one in found]


@on_real_server
async def test_votes_choose_topics_and_a_group_that_holds_most_stands_before_them(
    backend: Neo4jBackend, project: str
) -> None:
    await fill(backend, project, CHUNKS)
    store = backend.store()
    assert not await store.has_topics(project, Deadline.after(30))
    batch = KnowledgeBatch((), (), TOPICS, "stamp", clustered=3)
    await backend.writer.write_knowledge(project, batch)
    assert await store.has_topics(project, Deadline.after(30))
    assert not await store.has_topics("nowhere", Deadline.after(30))

    assert await _topics(backend, project, "k2", "k1", "gone", "k3") == [
        (10, "Both", {"k1", "k2"}), (2, "Two", {"k2"}), (1, "One", {"k1"}),
    ]  # fmt: skip
    assert await _topics(backend, project, "k2", "k1", top_k=1) == [(2, "Two", {"k2"})]
    assert await _topics(backend, project, "k3") == [], "a topic without a vector says nothing"
    assert await _topics(backend, project) == []


async def test_the_whole_is_its_lowest_communities_with_the_nearest_chunks_of_each(
    backend: Backend, project: str
) -> None:
    places = range(15)
    chunks = [chunk(f"k{n}", f"text {n}", vector(1, n)) for n in places]
    of_one = [f"k{n}" for n in places[1:]]
    near, far = community(1, 0, 3, axis(0), ["k0"]), community(2, 0, 3, axis(1), of_one)
    above = community(3, 1, None, axis(0))
    await fill(backend, project, chunks, (), (), (near, far, above))
    query = WholeQuery(project, axis(0))
    found = await backend.passages().whole(query, Deadline.after(30))
    assert [(one.title, one.summary) for one in found.topics] == [
        ("title 1", "summary 1"),
        ("title 2", "summary 2"),
    ]
    assert [[c.id for c in one.samples] for one in found.topics] == [["k0"], of_one[:10]]
    assert (found.known, found.topics[1].members) == (2, frozenset(of_one))
    nowhere = await backend.passages().whole(WholeQuery("nowhere", axis(0)), Deadline.after(30))
    assert nowhere == WholeEvidence()


@on_real_server
async def test_topics_of_another_models_vectors_are_refused(
    backend: Neo4jBackend, project: str
) -> None:
    await fill(backend, project, CHUNKS)
    batch = KnowledgeBatch((), (), TOPICS, "stamp", "another-model", clustered=3)
    await backend.writer.write_knowledge(project, batch)
    store = backend.store()
    assert isinstance(store, Neo4jGraph)
    asked = Neo4jGraph(store.connection, embedding_model="m")
    with pytest.raises(GraphMisconfiguredError, match="another-model"):
        await asked.topics(PrimerQuery(project, ("k1",), axis(0), 5), Deadline.after(30))
    # A health check of another test must not find it.
    await backend.writer.write_knowledge(project, KnowledgeBatch((), (), (), "stamp"))
