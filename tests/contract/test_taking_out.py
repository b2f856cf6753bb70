"""What is taken out of a project, what takes its place, and a project that holds nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import NotFoundError, ProjectHeldError
from drift.graph.cypher.legs import EARLIER, PERSONAL
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.writing import documents as neo4j_project
from drift.graph.writing.records import (
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    HeldProject,
    KnowledgeBatch,
)
from drift.model.reading import PageQuery
from tests.contract.graph_backends import (
    Backend,
    Neo4jBackend,
    axis,
    chunk,
    documents,
    on_real_server,
    twin,
)
from tests.contract.small_project import CHUNKS, COMMUNITIES, ENTITIES, FULL, fill_all
from tests.contract.test_broken_writes import assert_whole_or_not_at_all, every_third_or_each

FEWER = KnowledgeBatch(ENTITIES[:1], (), COMMUNITIES[:1], "f2")
OF_EARLIER_RELEASE = "{project_id: $p, id: 'mira', embedding_hash: 'h', embedding_model: 'm'}"
NOTHING = KnowledgeBatch((), (), (), "f3")
AS_ANOTHER = DocumentBatch(
    (DocumentRecord("sub/d2", "t", "wide", DocumentVersion("changed")),),
    (chunk("k9", "gamma", axis(2), "sub/d2"),),
    {"sub/d2": ("d2",)},
)


async def _write_knowledge(
    writer: object, project: str, batch: KnowledgeBatch, *removed: str
) -> None:
    async with writer.writing(project) as own:  # type: ignore[attr-defined]
        await own.write_knowledge(batch, removed)


async def test_what_is_removed_goes_with_the_knowledge_that_is_without_it(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await _write_knowledge(backend.writer, project, FEWER, "d2", "never there")
    state = await backend.writer.project_state(project)
    assert (set(state.documents), state.chunks, state.fingerprint) == ({"d1"}, 2, "f2")
    assert await backend.counts(twin(project)) == FULL


@on_real_server
@every_third_or_each
@pytest.mark.parametrize("at_once", [2000, 1], ids=["at once", "in steps"])
async def test_a_removal_or_replacement_killed_anywhere_is_seen_whole_or_not_at_all(
    backend: Neo4jBackend,
    project: str,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
    step: int,
) -> None:
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", at_once)
    await fill_all(backend, project)
    await assert_whole_or_not_at_all(
        backend, project, lambda writer: writer.write_documents(project, AS_ANOTHER), step
    )
    await assert_whole_or_not_at_all(
        backend, project, lambda writer: _write_knowledge(writer, project, FEWER, "sub/d2"), step
    )
    assert set((await backend.writer.project_state(project)).documents) == {"d1"}


async def test_documents_are_taken_over_by_another_source_as_they_are(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    before = await backend.writer.project_state(project)
    async with backend.writer.writing(project) as own:
        await own.relocate({"d2": ("d2", "new")})
    after = await backend.writer.project_state(project)
    moved = {**before.documents, "d2": replace(before.documents["d2"], source="new")}
    assert after == replace(before, documents=moved)
    assert await backend.writer.held_projects(project) == (
        HeldProject(project, {"new": 1, "source": 1}, 3),
    )


@on_real_server
async def test_a_renamed_document_is_found_by_its_new_name_and_by_words_as_they_are_typed(
    backend: Neo4jBackend, project: str
) -> None:
    read = chunk("k", "The photo\u00adgrapher left.", axis(0), "d")
    async with backend.writer.writing(project) as own:
        await own.write_documents(documents([read], {}))
        await own.relocate({"d": ("odile.md", "source")})
    words = "MATCH (c:__Chunk__ {project_id: $p}) RETURN c.name_words AS words"
    (found,) = await backend.connection.rows(words, {"p": project})
    assert {"odile", "photographer"} <= set(found["words"].split())


async def test_a_project_of_which_all_was_removed_is_not_there_any_more(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    await _write_knowledge(backend.writer, project, NOTHING, "d1", "d2")
    assert await backend.counts(project) == {}
    assert await backend.writer.held_projects(project) == ()
    page = PageQuery(50, (project,))
    found = await backend.reader().projects(EVERYBODY, page, Deadline.after(120))
    assert project not in found.rows
    await fill_all(backend, project)
    assert await backend.counts(project) == FULL


OTHERS = {
    f"CREATE (:Person:{PERSONAL} {{project_id: $p, id: 'mira'}})": 1,
    f"CREATE (:Person:{EARLIER} {OF_EARLIER_RELEASE})": 1,
    f"CREATE (:Person:{EARLIER} {{project_id: $p, id: 'of LlamaIndex'}})": 0,
    "CREATE (:Person)-[:IN_PROJECT]->(p)": 0,
    "SET p.title = 'Harbour'": 0,
}
"""What others put into a project, and how many nodes of its own that is."""


@on_real_server
async def test_a_project_keeps_what_others_have_put_there_and_is_gone_without(
    backend: Neo4jBackend, project: str
) -> None:
    for number, (others, own) in enumerate(OTHERS.items()):
        id_ = f"{project}-{number}"
        await backend.writer.write_documents(id_, documents(CHUNKS, {}))
        await backend.connection.write(f"MATCH (p:__Project__ {{id: $p}}) {others}", {"p": id_})
        await _write_knowledge(backend.writer, id_, NOTHING, "d1", "d2")
        (held,) = await backend.writer.held_projects(id_)
        assert (held.documents, held.chunks, held.nodes) == (0, 0, own), others
    await backend.connection.write(
        """MATCH (n:Person) WHERE n.project_id STARTS WITH $p
        OR EXISTS { (n)-[:IN_PROJECT]->(p:__Project__) WHERE p.id STARTS WITH $p }
        DETACH DELETE n""",
        {"p": project},
    )

    async with backend.writer.writing(project):
        pass  # a run that wrote nothing leaves no project behind
    assert await backend.writer.held_projects(project) == ()


@on_real_server
async def test_a_project_that_is_forgotten_while_others_wait_for_it_is_made_anew_for_them(
    backend: Neo4jBackend, project: str
) -> None:
    nodes = Neo4jNodeStore(backend.connection)

    async def write() -> int:
        for done in range(10):
            async with backend.writer.writing(project):
                times = done + 1
        return times

    async def look() -> None:
        for _ in range(30):
            with suppress(NotFoundError, ProjectHeldError):
                await nodes.find_node(EVERYBODY.project(project), "x", Deadline.after(120))

    assert await asyncio.gather(write(), write(), look(), look()) == [10, 10, None, None]
