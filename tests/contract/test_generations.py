"""Knowledge is written beside the old, and becomes the project's in one step."""

from __future__ import annotations

import asyncio

from drift.graph.writing.records import KnowledgeBatch
from tests.contract.graph_backends import (
    Backend,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    community,
    on_real_server,
)
from tests.contract.small_project import ENTITIES, fill_all, questions_see


@on_real_server
async def test_new_knowledge_takes_the_place_of_the_old_when_nobody_reads_that_any_more(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    before = await questions_see(backend, project)
    old = """MATCH (c:__Community__ {project_id: $p}) WHERE c.summary = 'summary 1'
    RETURN count(c) AS old"""
    new = KnowledgeBatch(ENTITIES[:1], (), (community(9, 0, None, axis(0), ["k1"], ["e1"]),), "f2")
    async with backend.reading() as reading:
        writing = asyncio.create_task(backend.writer.write_knowledge(project, new))
        while await questions_see(backend, project) == before:
            pass
        assert [c.id for c in await ask_primer(backend.store(), project, axis(0))] == [9]
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


@on_real_server
async def test_what_somebody_else_took_away_is_seen_and_written_anew(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.connection.write(
        "MATCH (n:__Chunk__ {project_id: $p, id: 'k1'}) DETACH DELETE n", {"p": project}
    )
    documents = (await backend.writer.project_state(project)).documents
    hashes = {name: document.version.content_hash for name, document in documents.items()}
    assert hashes == {"d1": "", "d2": "hash of d2"}
    await backend.connection.write(
        "MATCH (n:__Entity__ {project_id: $p, id: 'e1'}) DETACH DELETE n", {"p": project}
    )
    assert (await backend.writer.project_state(project)).fingerprint == ""
