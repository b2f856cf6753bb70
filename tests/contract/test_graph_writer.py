"""What every GraphWriter promises, and what a repeated write leaves behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drift.core.errors import GraphMisconfiguredError, IngestError
from drift.graph.indexes import IndexNames
from drift.graph.writing.records import (
    ChunkDefinitions,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
    Member,
    ModelReply,
    ProjectState,
    RelationRecord,
)
from drift.local.ingest.neo4j.writer import Neo4jWriter
from tests.contract.graph_backends import (
    DIMENSIONS,
    Backend,
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    community,
    documents,
    entity,
    fill,
    on_real_server,
    twin,
    vector,
)
from tests.contract.small_project import CHUNKS, COMMUNITIES, ENTITIES, FULL, RELATIONS, fill_all


# ------------------------------------------------------------------------------------------- schema
async def test_preparing_twice_changes_nothing_and_wrong_dimensions_are_named(
    backend: Backend,
) -> None:
    await backend.writer.prepare(DIMENSIONS)
    assert await backend.writer.prepare(DIMENSIONS) == ()
    says = r"graphrag_comm_index has 256 dimensions, but 128 are wanted.*drop"
    with pytest.raises(GraphMisconfiguredError, match=says):
        await backend.writer.prepare(128)


@on_real_server
async def test_an_index_of_another_name_in_the_place_of_the_configured_one_is_named(
    backend: Neo4jBackend,
) -> None:
    writer = Neo4jWriter(backend.connection, IndexNames(chunk="my_chunks"))
    with pytest.raises(
        GraphMisconfiguredError, match=r"my_chunks does not exist, and graphrag_chunk_index stands"
    ):
        await writer.prepare(DIMENSIONS)


# ---------------------------------------------------------------------------------------- documents
async def test_a_project_holds_what_was_written_and_its_fingerprint(
    backend: Backend, project: str
) -> None:
    assert await backend.writer.project_state(project) == ProjectState({}, "")
    assert await backend.counts(project) == {}

    for _ in range(2):  # a second identical write changes nothing
        await fill_all(backend, project)
        assert await backend.counts(project) == FULL
        state = await backend.writer.project_state(project)
        assert state.fingerprint == "fingerprint"
        assert {name: d.version.content_hash for name, d in state.documents.items()} == {
            "d1": "hash of d1",
            "d2": "hash of d2",
        }
        assert state.sources == {"d1": "source", "d2": "source"}
        counted = state.chunks, state.entities, state.relations, state.communities
        assert counted == (3, 2, 2, {0: 2, 1: 1})

    await backend.writer.write_documents(project, documents(CHUNKS[:2], {}))
    assert (await backend.writer.project_state(project)).fingerprint == "", "is unfinished"
    assert (await backend.writer.project_state(twin(project))).fingerprint == "fingerprint"


async def test_members_are_read_in_order_and_chunks_with_their_vectors(
    backend: Backend, project: str
) -> None:
    second = replace(
        CHUNKS[0], ordinal=1, heading="Part > One", names=("ferry",), links=("b.md\nthe boats",)
    )
    await fill(backend, project, [CHUNKS[2], second, CHUNKS[1]])
    expected = (CHUNKS[1], second, CHUNKS[2])
    members, facts = await backend.writer.read_members(project)
    assert members == [
        Member(c.id, c.document_id, f"Title of {c.document_id}", is_new=False) for c in expected
    ]
    assert facts == [ChunkDefinitions(second.id, (), second.names)]
    read = await backend.writer.read_chunks(project, members[:2], DIMENSIONS)
    assert [chunk for chunk, _ in read.values()] == [
        replace(c, embedding=(), names=(), title=f"Title of {c.document_id}") for c in expected[:2]
    ]
    assert [tuple(vector) for _, vector in read.values()] == [c.embedding for c in expected[:2]]

    await backend.writer.write_documents(project, documents(CHUNKS[2:], {}))
    members, _ = await backend.writer.read_members(project)
    assert {one.document_id for one in members if one.is_new} == {CHUNKS[2].document_id}


@on_real_server
async def test_topics_are_read_back_and_those_of_other_vectors_are_not(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    writer = backend.writer
    assert await writer.read_topics(project, "") is None, "its communities are no topics"

    topics = tuple(replace(c, mean=axis(0), digest="{}") for c in COMMUNITIES)
    batch = KnowledgeBatch((), (), topics, "fingerprint", clustered=3)
    await writer.write_knowledge(project, batch)
    assert await writer.read_topics(project, "another") is None
    kept = await writer.read_topics(project, "")
    assert kept is not None
    assert kept.topic_of == {id_: c.community for c in topics for id_ in c.chunk_ids}
    assert kept.communities == {
        c.community: replace(c, entity_ids=(), chunk_ids=(), embedding=()) for c in topics
    }
    assert (kept.stale, kept.clustered) == (frozenset(), 3)

    await writer.write_documents(project, documents(CHUNKS[1:2], {}))
    changed = await writer.read_topics(project, "")
    assert changed is not None
    assert changed.stale == {kept.topic_of["k1"]}, "its chunk is gone"


@on_real_server
async def test_what_is_the_same_in_new_knowledge_stays_the_node_that_it_is(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    ids = "MATCH (n:__Entity__|__Community__ {project_id: $p}) RETURN n.id AS id, elementId(n) AS e"

    async def nodes() -> set[tuple[str, str]]:
        rows = await backend.connection.rows(ids, {"p": project})
        return {(row["id"], row["e"]) for row in rows}

    before = await nodes()
    other = replace(ENTITIES[0], description="Something else")
    changed = KnowledgeBatch((other, *ENTITIES[1:]), RELATIONS, COMMUNITIES, "next")
    await backend.writer.write_knowledge(project, changed)
    assert len(await nodes() - before) == 3, "with its community, and that above"
    assert await backend.counts(project) == FULL
    assert (await backend.writer.project_state(project)).fingerprint == "next"


async def test_replies_are_kept_once_and_go_by_their_keys(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    one = ModelReply("report/1", "m", ("a", "b"), '{"title": "One"}', 12)
    other = replace(one, parts=("c",), text="")
    async with backend.writer.writing(project) as held:
        await held.keep_replies([one, other])
        await held.keep_replies([replace(one, text="{}")])
        found = await backend.writer.read_replies(project)
        assert sorted(found, key=lambda reply: reply.text) == [other, replace(one, text="{}")]
        assert await backend.writer.read_replies(f"{project}-other") == ()

        await held.drop_replies([one.key, "unknown"])
        assert await backend.writer.read_replies(project) == (other,)
        await held.drop_replies([other.key])


async def test_a_replaced_document_leaves_nothing_behind(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    changed = DocumentBatch(
        (DocumentRecord("d1", "New title", "source", DocumentVersion("new hash")),),
        (chunk("k9", "delta", axis(3)), replace(CHUNKS[1], text="beta two")),
    )
    await backend.writer.write_documents(project, changed)
    counts = await backend.counts(project)
    assert (counts["__Document__"], counts["__Chunk__"], counts["HAS_CHUNK"]) == (2, 3, 3)
    held = (await backend.writer.project_state(project)).documents
    assert {name: d.version.content_hash for name, d in held.items()} == {
        "d1": "new hash",
        "d2": "hash of d2",
    }
    found = {
        c.id: (c.text, c.document_name)
        for c in (await ask_followup(backend.store(), project, "?", axis(3))).chunks
    }
    assert found == {
        "k9": ("delta", "New title"),
        "k2": ("beta two", "New title"),
        "k3": ("gamma", "Title of d2"),
    }
    assert await backend.counts(twin(project)) == FULL


async def test_a_chunk_without_a_vector_and_a_document_without_chunks_take_the_places_of_others(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.writer.write_documents(
        project, documents([replace(CHUNKS[0], embedding=()), CHUNKS[1]], {})
    )
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert {c.id for c in found.chunks} == {"k2", "k3"}

    empty = DocumentBatch((DocumentRecord("d1", "", "source", DocumentVersion("empty")),), ())
    await backend.writer.write_documents(project, empty)
    counts = await backend.counts(project)
    assert (counts["__Document__"], counts["__Chunk__"]) == (2, 1)


async def test_a_chunk_of_two_documents_lives_until_the_last_is_gone(
    backend: Backend, project: str
) -> None:
    await backend.writer.write_documents(
        project, documents([CHUNKS[0], replace(CHUNKS[0], document_id="d2")], {})
    )
    await backend.writer.remove_documents(project, ["d1"])
    assert (await backend.counts(project))["__Chunk__"] == 1
    await backend.writer.remove_documents(project, ["d2"])
    assert await backend.counts(project) == {}


async def test_a_batch_that_does_not_fit_together_is_refused_before_anything_changes(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    of_no_document = DocumentBatch((), (CHUNKS[0],))
    of_two_lengths = documents([CHUNKS[0], replace(CHUNKS[1], embedding=(1.0, 2.0))], {})
    for bad in (of_no_document, of_two_lengths):
        with pytest.raises(IngestError):
            await backend.writer.write_documents(project, bad)
    assert (await backend.writer.project_state(project)).fingerprint == "fingerprint"
    assert await backend.counts(project) == FULL


# ---------------------------------------------------------------------------------------- knowledge
async def test_knowledge_is_exactly_what_was_written_last(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    fewer = KnowledgeBatch(
        (entity("e1", "Alpha", "k2"),), (), (community(3, 0, None, axis(0), ["k1"], ["e1"]),), "f2"
    )
    await backend.writer.write_knowledge(project, fewer)
    assert await backend.counts(project) == {
        "__Document__": 2,
        "__Chunk__": 3,
        "HAS_CHUNK": 3,
        "__Entity__": 1,
        "HAS_ENTITY": 1,
        "__Community__": 1,
        "IN_COMMUNITY": 2,
    }
    assert (await backend.writer.project_state(project)).fingerprint == "f2"
    assert await backend.counts(twin(project)) == FULL


async def test_references_to_what_is_not_there_are_left_out(backend: Backend, project: str) -> None:
    await backend.writer.write_documents(project, documents(CHUNKS, {}))
    loose = KnowledgeBatch(
        (entity("e1", "Alpha", "k1", "gone"),),
        (RelationRecord("e1", "gone", "knows", 1.0),),
        (community(2, 0, 99, axis(0), ["k1", "gone"], ["e1", "gone"]),),
        "f1",
    )
    await backend.writer.write_knowledge(project, loose)
    counts = await backend.counts(project)
    assert (counts["HAS_ENTITY"], counts["IN_COMMUNITY"], counts.get("RELATED", 0)) == (1, 2, 0)


async def test_more_rows_than_a_batch_holds_are_all_written(backend: Backend, project: str) -> None:
    chunks = [chunk(f"k{i}", f"text {i}", vector(1, i)) for i in range(260)]
    await backend.writer.write_documents(project, documents(chunks, {}))
    entities = tuple(
        entity(f"e{i}", f"Entity {i}", *(c.id for c in chunks[:10])) for i in range(210)
    )
    await backend.writer.write_knowledge(project, KnowledgeBatch(entities, (), (), "f1"))
    counts = await backend.counts(project)
    assert (counts["__Chunk__"], counts["__Entity__"], counts["HAS_ENTITY"]) == (260, 210, 2100)
