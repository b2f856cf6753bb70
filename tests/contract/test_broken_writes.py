"""What a write that broke leaves behind, and what the next one makes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from drift.core.errors import GraphUnavailableError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.writing import documents as neo4j_project
from drift.graph.writing.records import (
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
)
from drift.local.ingest.neo4j.writer import Neo4jWriter
from tests.contract.graph_backends import (
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    documents,
    on_real_server,
)
from tests.contract.small_project import (
    CHUNKS,
    COMMUNITIES,
    ENTITIES,
    FULL,
    KNOWLEDGE,
    fill_all,
    questions_see,
)


class BrokenConnection(Connection):
    """Fails for good after a number of statements, as a process that is killed does."""

    def __init__(self, whole: Connection, statements: int) -> None:
        self._whole = whole
        self._left = statements
        self.outcomes = whole.outcomes

    @property
    def is_broken(self) -> bool:
        return self._left < 0

    async def write(self, text: str, parameters: Mapping[str, Any]) -> Any:
        self._count()
        return await self._whole.write(text, parameters)

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> Any:
        return await self._whole.read(text, parameters, timeout_s)

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


async def attempts(
    backend: Neo4jBackend, project: str, write: Callable[[Neo4jWriter], Awaitable[None]], step: int
) -> AsyncIterator[BrokenConnection]:
    """Write again and again, killed ever later, until a write is not killed any more."""
    for statements in count(step=step):
        broken = BrokenConnection(backend.connection, statements)
        with suppress(GraphUnavailableError):
            await write(Neo4jWriter(broken, backend.names))
        await backend.connection.write(
            "MATCH (p:__Project__ {id: $p}) REMOVE p.writer", {"p": project}
        )
        yield broken
        if not broken.is_broken:
            return


async def assert_whole_or_not_at_all(
    backend: Neo4jBackend, project: str, write: Callable[[Neo4jWriter], Awaitable[None]], step: int
) -> None:
    """Assert that questions see what was before or what was written, and from then on this."""
    seen = [await questions_see(backend, project)]
    tried = attempts(backend, project, write, step)
    seen += [await questions_see(backend, project) async for _ in tried]
    assert seen[0] != seen[-1]
    assert [s for s in seen if s != seen[0]] == [seen[-1]] * (len(seen) - seen.count(seen[0]))


every_third_or_each = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.deep)])


@on_real_server
@every_third_or_each
async def test_a_write_killed_anywhere_is_seen_whole_or_not_at_all_and_repaired_by_the_next(
    backend: Neo4jBackend, project: str, step: int
) -> None:
    await fill_all(backend, project)
    shrunk = DocumentBatch(
        (DocumentRecord("d1", "t", "s", DocumentVersion("changed")),),
        (replace(CHUNKS[0], text="alpha two"),),
    )
    fewer = KnowledgeBatch(ENTITIES[:1], (), COMMUNITIES[:1], "f2")

    await assert_whole_or_not_at_all(
        backend, project, lambda writer: writer.write_documents(project, shrunk), step
    )
    await assert_whole_or_not_at_all(
        backend, project, lambda writer: writer.write_knowledge(project, fewer), step
    )
    state = await backend.writer.project_state(project)
    assert (state.documents["d1"].version.content_hash, state.fingerprint) == ("changed", "f2")
    await backend.writer.write_documents(project, documents(CHUNKS, {}))
    await backend.writer.write_knowledge(project, KNOWLEDGE)
    assert await backend.counts(project) == FULL


@on_real_server
async def test_a_document_too_big_for_one_transaction_is_seen_whole_or_not_at_all(
    backend: Neo4jBackend, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", 2)
    monkeypatch.setattr(neo4j_project, "ROWS_WITH_VECTORS", 2)
    await fill_all(backend, project)
    kept = replace(CHUNKS[0], heading="kept, with its entities")
    pieces = (kept, *(chunk(f"n{i}", f"new {i}", axis(i + 4)) for i in range(5)))
    big = DocumentBatch((DocumentRecord("d1", "Big", "source", DocumentVersion("big")),), pieces)
    sizes = set()
    async for _ in attempts(
        backend, project, lambda writer: writer.write_documents(project, big), 1
    ):
        found = await ask_followup(backend.store(), project, "?", axis(0))
        sizes.add(tuple(sorted(c.id for c in found.chunks)))
        state = await backend.writer.project_state(project)
        assert (state.documents["d1"].version.content_hash == "big") == (
            len(found.chunks) > len(CHUNKS)
        )
    assert sizes == {("k1", "k2", "k3"), ("k1", "k3", "n0", "n1", "n2", "n3", "n4")}
    counts = await backend.counts(project)
    assert (counts["__Chunk__"], counts["HAS_CHUNK"], counts["HAS_ENTITY"]) == (7, 7, 2)
    await backend.writer.remove_documents(project, ["d1"])
    assert (await backend.counts(project))["__Chunk__"] == 1
