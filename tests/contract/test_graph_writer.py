"""What every GraphWriter promises, and what a broken or repeated write leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from drift.adapters.neo4j.connection import Connection
from drift.adapters.neo4j.indexes import IndexNames
from drift.errors import GraphMisconfiguredError, GraphUnavailableError, IngestError
from drift.offline.writing.neo4j import project as neo4j_project
from drift.offline.writing.neo4j.writer import Neo4jWriter
from drift.values.records import (
    DocumentBatch,
    DocumentRecord,
    KnowledgeBatch,
    ProjectState,
    RelationRecord,
)
from tests.contract.graph_backends import (
    DIMENSIONS,
    Backend,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    documents,
    entity,
    fill,
    twin,
    vector,
)

pytestmark = pytest.mark.timeout(600)

CHUNKS = (
    chunk("k1", "alpha", axis(0), "d1"),
    chunk("k2", "beta", axis(1), "d1"),
    chunk("k3", "gamma", axis(2), "d2"),
)
ENTITIES = (entity("e1", "Alpha", "k1", "k2"), entity("e2", "Gamma", "k3"))
RELATIONS = (RelationRecord("e1", "e2", "knows", 1.5), RelationRecord("e1", "e2", "sees", 0.5))
COMMUNITIES = (
    community(1, 1, None, axis(0)),
    community(2, 0, 1, axis(1), ["k1", "k2"], ["e1"]),
    community(3, 0, 1, axis(2), ["k3"], ["e2"]),
)
KNOWLEDGE = KnowledgeBatch(ENTITIES, RELATIONS, COMMUNITIES, "f1")
FULL = {
    "__Document__": 2,
    "__Chunk__": 3,
    "__Entity__": 2,
    "__Community__": 3,
    "HAS_CHUNK": 3,
    "HAS_ENTITY": 3,
    "RELATED": 2,
    "IN_COMMUNITY": 7,
}


async def fill_all(backend: Backend, project: str) -> None:
    await fill(backend, project, CHUNKS, ENTITIES, RELATIONS, COMMUNITIES)


# ------------------------------------------------------------------------------------------- schema
async def test_preparing_twice_changes_nothing(backend: Backend) -> None:
    await backend.writer.prepare(DIMENSIONS)
    assert await backend.writer.prepare(DIMENSIONS) == ()


async def test_wrong_dimensions_are_named_with_what_to_do(backend: Backend) -> None:
    await backend.writer.prepare(DIMENSIONS)
    with pytest.raises(
        GraphMisconfiguredError,
        match=r"graphrag_comm_index has 256 dimensions, but 128 are wanted.*drop",
    ):
        await backend.writer.prepare(128)


async def test_an_index_of_another_name_in_the_place_of_the_configured_one_is_named(
    backend: Backend,
) -> None:
    if not isinstance(backend, Neo4jBackend):
        return  # the fake has one set of names
    writer = Neo4jWriter(backend.connection, IndexNames(chunk="my_chunks"))
    with pytest.raises(
        GraphMisconfiguredError, match=r"my_chunks does not exist, and graphrag_chunk_index stands"
    ):
        await writer.prepare(DIMENSIONS)


# ---------------------------------------------------------------------------------------- documents
async def test_an_unknown_project_holds_nothing(backend: Backend, project: str) -> None:
    assert await backend.writer.project_state(project) == ProjectState({}, "")
    assert await backend.counts(project) == {}


async def test_a_project_holds_what_was_written_and_its_fingerprint(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    assert await backend.counts(project) == FULL
    state = await backend.writer.project_state(project)
    hashes, sources = {"d1": "hash of d1", "d2": "hash of d2"}, {"d1": "source", "d2": "source"}
    assert state == ProjectState(hashes, "fingerprint", sources, 3, 2, 2, {0: 2, 1: 1})


async def test_stored_chunks_are_read_back_in_order_without_vectors(
    backend: Backend, project: str
) -> None:
    second = replace(CHUNKS[0], ordinal=1, heading="Part > One")
    await fill(backend, project, [CHUNKS[2], second, CHUNKS[1]])
    expected = tuple(replace(c, embedding=()) for c in (CHUNKS[1], second, CHUNKS[2]))
    assert await backend.writer.read_chunks(project) == expected


async def test_a_second_identical_write_changes_nothing(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    await fill_all(backend, project)
    assert await backend.counts(project) == FULL


async def test_writing_documents_marks_the_knowledge_as_unfinished(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.writer.write_documents(project, documents(CHUNKS[:2], {}))
    assert (await backend.writer.project_state(project)).fingerprint == ""
    assert (await backend.writer.project_state(twin(project))).fingerprint == "fingerprint"


async def test_a_replaced_document_leaves_nothing_behind(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    changed = DocumentBatch(
        (DocumentRecord("d1", "New title", "source", "new hash"),),
        (chunk("k9", "delta", axis(3)), replace(CHUNKS[1], text="beta two")),
    )
    await backend.writer.write_documents(project, changed)
    counts = await backend.counts(project)
    assert (counts["__Document__"], counts["__Chunk__"], counts["HAS_CHUNK"]) == (2, 3, 3)
    assert (await backend.writer.project_state(project)).documents == {
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


async def test_a_document_that_became_empty_stays_without_chunks(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.writer.write_documents(
        project, DocumentBatch((DocumentRecord("d1", "", "source", "empty"),), ())
    )
    counts = await backend.counts(project)
    assert (counts["__Document__"], counts["__Chunk__"]) == (2, 1)


async def test_a_chunk_that_lost_its_vector_is_no_longer_found_by_it(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.writer.write_documents(
        project, documents([replace(CHUNKS[0], embedding=()), CHUNKS[1]], {})
    )
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert {c.id for c in found.chunks} == {"k2", "k3"}


async def test_removed_documents_go_with_their_chunks(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    await backend.writer.remove_documents(project, ["d1", "never there"])
    counts = await backend.counts(project)
    assert (counts["__Document__"], counts["__Chunk__"], counts["HAS_CHUNK"]) == (1, 1, 1)
    state = await backend.writer.project_state(project)
    assert (state.documents, state.fingerprint, state.chunks) == ({"d2": "hash of d2"}, "", 1)
    assert await backend.counts(twin(project)) == FULL


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


@pytest.mark.parametrize(
    "bad",
    [
        DocumentBatch((), (CHUNKS[0],)),
        documents([CHUNKS[0], replace(CHUNKS[1], embedding=(1.0, 2.0))], {}),
    ],
    ids=["chunk of no document", "vectors of two lengths"],
)
async def test_a_batch_that_does_not_fit_together_is_refused_before_anything_changes(
    backend: Backend, project: str, bad: DocumentBatch
) -> None:
    await fill_all(backend, project)
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


# ------------------------------------------------------------------------------------ broken writes
class BrokenConnection(Connection):
    """Fails for good after a number of statements, as a process that is killed does."""

    def __init__(self, whole: Connection, statements: int) -> None:
        self._whole = whole
        self._left = statements

    @property
    def is_broken(self) -> bool:
        return self._left < 0

    async def write(self, text: str, parameters: Mapping[str, Any]) -> Any:
        self._count()
        return await self._whole.write(text, parameters)

    async def transaction(self, work: Any, timeout_s: float = 120.0) -> Any:
        async def counted(run: Any) -> Any:
            def counting(text: str, parameters: Mapping[str, Any]) -> Any:
                self._count()
                return run(text, parameters)

            return await work(counting)

        return await self._whole.transaction(counted, timeout_s)

    def _count(self) -> None:
        self._left -= 1
        if self.is_broken:
            raise GraphUnavailableError("killed")


async def test_a_write_killed_anywhere_is_seen_whole_or_not_at_all_and_repaired_by_the_next(
    backend: Backend, project: str
) -> None:
    if not isinstance(backend, Neo4jBackend):
        return  # the fake's writes cannot break in the middle
    await fill_all(backend, project)
    shrunk = DocumentBatch(
        (DocumentRecord("d1", "t", "s", "changed"),), (replace(CHUNKS[0], text="alpha two"),)
    )
    fewer = KnowledgeBatch(ENTITIES[:1], (), COMMUNITIES[:1], "f2")

    async def write_documents(writer: Neo4jWriter) -> None:
        await writer.write_documents(project, shrunk)

    async def write_knowledge(writer: Neo4jWriter) -> None:
        await writer.write_knowledge(project, fewer)

    for write in (write_documents, write_knowledge):
        seen = [await _seen(backend, project)]
        for statements in count():
            broken = BrokenConnection(backend.connection, statements)
            with suppress(GraphUnavailableError):
                await write(Neo4jWriter(broken, backend.names))
            await backend.connection.write(
                "MATCH (p:__Project__ {id: $p}) REMOVE p.writer", {"p": project}
            )
            seen.append(await _seen(backend, project))
            if not broken.is_broken:
                break
        assert seen[0] != seen[-1]
        assert [s for s in seen if s != seen[0]] == [seen[-1]] * (len(seen) - seen.count(seen[0]))
    state = await backend.writer.project_state(project)
    assert (state.documents["d1"], state.fingerprint) == ("changed", "f2")
    await backend.writer.write_documents(project, documents(CHUNKS, {}))
    await backend.writer.write_knowledge(project, KNOWLEDGE)
    assert await backend.counts(project) == FULL


async def _seen(backend: Backend, project: str) -> tuple[object, ...]:
    """Everything that questions get to see."""
    store = backend.store()
    primer = await ask_primer(store, project, axis(0))
    found = await ask_followup(store, project, "Alpha and Gamma?", axis(0))
    return primer, found


async def test_a_document_too_big_for_one_transaction_is_seen_whole_or_not_at_all(
    backend: Backend, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(backend, Neo4jBackend):
        return  # the fake has no transactions
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", 2)
    monkeypatch.setattr(neo4j_project, "ROWS_WITH_VECTORS", 2)
    await fill_all(backend, project)
    kept = replace(CHUNKS[0], heading="kept, with its entities")
    pieces = (kept, *(chunk(f"n{i}", f"new {i}", axis(i + 4)) for i in range(5)))
    big = DocumentBatch((DocumentRecord("d1", "Big", "source", "big"),), pieces)
    sizes = set()
    for statements in count():
        broken = BrokenConnection(backend.connection, statements)
        with suppress(GraphUnavailableError):
            await Neo4jWriter(broken, backend.names).write_documents(project, big)
        await backend.connection.write(
            "MATCH (p:__Project__ {id: $p}) REMOVE p.writer", {"p": project}
        )
        found = await ask_followup(backend.store(), project, "?", axis(0))
        sizes.add(tuple(sorted(c.id for c in found.chunks)))
        state = await backend.writer.project_state(project)
        assert (state.documents["d1"] == "big") == (len(found.chunks) > len(CHUNKS))
        if not broken.is_broken:
            break
    assert sizes == {("k1", "k2", "k3"), ("k1", "k3", "n0", "n1", "n2", "n3", "n4")}
    assert {e.id for e in found.entities} == {"e1", "e2"}
    counts = await backend.counts(project)
    assert (counts["__Chunk__"], counts["HAS_CHUNK"], counts["HAS_ENTITY"]) == (7, 7, 2)
    await backend.writer.remove_documents(project, ["d1"])
    assert (await backend.counts(project))["__Chunk__"] == 1


# -------------------------------------------------------------------------------------- generations
async def test_new_knowledge_takes_the_place_of_the_old_when_nobody_reads_that_any_more(
    backend: Backend, project: str
) -> None:
    if not isinstance(backend, Neo4jBackend):
        return  # the fake's reads take no time
    await fill_all(backend, project)
    before = await _seen(backend, project)
    old = """MATCH (c:__Community__ {project_id: $p}) WHERE c.summary = 'summary 1'
    RETURN count(c) AS old"""
    new = KnowledgeBatch(ENTITIES[:1], (), (community(9, 0, None, axis(0), ["k1"], ["e1"]),), "f2")
    async with backend.reading() as reading:
        writing = asyncio.create_task(backend.writer.write_knowledge(project, new))
        while await _seen(backend, project) == before:
            pass
        assert [
            c.id for c in (await ask_primer(backend.store(), project, axis(0))).communities
        ] == [9]
        assert (await reading(old, {"p": project}))["old"] == 1
        assert not writing.done()
    await writing
    assert (await backend.counts(project))["__Community__"] == 1


async def test_a_followup_of_communities_that_are_gone_searches_the_whole_project(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    for scope in ("soft", "hard"):
        found = await ask_followup(backend.store(scope), project, "?", axis(0), (77,))
        assert {c.id for c in found.chunks} == {"k1", "k2", "k3"}


async def test_what_somebody_else_took_away_is_seen_and_written_anew(
    backend: Backend, project: str
) -> None:
    if not isinstance(backend, Neo4jBackend):
        return  # nobody else can reach the fake
    await fill_all(backend, project)
    await backend.connection.write(
        "MATCH (n:__Chunk__ {project_id: $p, id: 'k1'}) DETACH DELETE n", {"p": project}
    )
    assert (await backend.writer.project_state(project)).documents == {"d1": "", "d2": "hash of d2"}
    await backend.connection.write(
        "MATCH (n:__Entity__ {project_id: $p, id: 'e1'}) DETACH DELETE n", {"p": project}
    )
    assert (await backend.writer.project_state(project)).fingerprint == ""
