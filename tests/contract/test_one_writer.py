"""One writer a project: who may write, and who has to wait.

And what a writer can still do that stood still for too long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from drift.core.errors import LeaseLostError, ProjectBusyError
from drift.graph.writing.lease import Lease
from drift.graph.writing.records import (
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
)
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.neo4j.writer import Neo4jWriter
from tests.contract.graph_backends import (
    CHUNKS,
    Backend,
    Neo4jBackend,
    axis,
    community,
    documents,
    on_real_server,
    twin,
)

SHORT_S = 0.5
"""A lease that nobody renews is over before a test becomes slow."""
BATCH = documents(CHUNKS, {})
OTHER = DocumentBatch((DocumentRecord("late", "Late", "source", DocumentVersion("late")),), ())
LATE_KNOWLEDGE = KnowledgeBatch((), (), (community(7, 0, None, axis(0)),), "late")


async def test_a_second_writer_is_refused_or_waits_until_the_first_has_ended(
    backend: Backend, project: str
) -> None:
    told: list[str] = []

    async def second() -> None:
        async with backend.writer.writing(project, wait_s=60, say=told.append) as own:
            assert (await backend.writer.project_state(project)).chunks == len(CHUNKS)
            await own.remove_documents(["d1"])

    async with backend.writer.writing(project) as own:
        with pytest.raises(ProjectBusyError, match=f"Project {project} is being written by "):
            async with backend.writer.writing(project, wait_s=0):
                pass
        async with backend.writer.writing(twin(project), wait_s=0):
            pass  # another project is free
        waiting = asyncio.create_task(second())
        await _until(lambda: asyncio.sleep(0.01, result=bool(told)))
        await own.write_documents(BATCH)
        assert not waiting.done()
    await waiting
    assert len(told) == 1
    assert (await backend.writer.project_state(project)).documents == {}


async def test_the_hold_ends_with_its_block_however_that_ends(
    backend: Backend, project: str
) -> None:
    with suppress(ZeroDivisionError):
        async with backend.writer.writing(project):
            raise ZeroDivisionError
    begun = asyncio.Event()

    async def cancelled() -> None:
        async with backend.writer.writing(project):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(cancelled())
    await begun.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    async with backend.writer.writing(project, wait_s=0) as held:
        assert held


@on_real_server
async def test_of_many_that_come_at_once_one_holds_an_empty_project(
    backend: Neo4jBackend, project: str
) -> None:
    connection = backend.connection
    leases = [Lease(connection, project) for _ in range(8)]
    found = await asyncio.gather(*(lease.take() for lease in leases))
    assert found.count(None) == 1
    nodes = await connection.read(
        "MATCH (p:__Project__ {id: $p}) RETURN count(p) AS n", {"p": project}
    )
    assert nodes.records[0]["n"] == 1


@on_real_server
async def test_a_writer_that_hung_past_its_lease_can_write_nothing_more(
    backend: Neo4jBackend, project: str
) -> None:
    connection = backend.connection
    hung, other = Lease(connection, project, SHORT_S), Lease(connection, project)
    assert await hung.take() is None
    late = Neo4jProject(hung)
    await late.write_documents(BATCH)

    async def taken() -> bool:
        return await other.take() is None

    await _until(taken)
    before = await backend.counts(project)
    for write in (
        late.write_documents(OTHER),
        late.remove_documents(["d1"]),
        late.write_knowledge(LATE_KNOWLEDGE),
        late.settle(),
    ):
        with pytest.raises(
            LeaseLostError,
            match=r"no sign of life for 0\.5 s.*process \d+.* has taken over.*run it again",
        ):
            await write
    assert await backend.counts(project) == before
    await hung.release()
    assert await Lease(connection, project).take() is not None, "only the holder gives it back"


@on_real_server
async def test_a_lease_that_is_over_is_lost_even_when_nobody_took_it(
    backend: Neo4jBackend, project: str
) -> None:
    hung = Lease(backend.connection, project, SHORT_S)
    assert await hung.take() is None
    text = "MATCH (p:__Project__ {id: $p}) SET p.writer_until = timestamp() - 1"
    await backend.connection.write(text, {"p": project})
    with pytest.raises(LeaseLostError, match="no longer holds project"):
        await Neo4jProject(hung).write_documents(OTHER)


@on_real_server
async def test_a_lease_is_renewed_while_its_block_runs_and_a_lost_one_ends_it(
    backend: Neo4jBackend, project: str
) -> None:
    connection = backend.connection
    writer = Neo4jWriter(connection, backend.names, lease_s=SHORT_S)

    async def end() -> int:
        text = "MATCH (p:__Project__ {id: $p}) RETURN p.writer_until AS until"
        return int((await connection.read(text, {"p": project})).records[0]["until"])

    async def hold() -> None:
        async with writer.writing(project):
            first = await end()

            async def renewed() -> bool:
                return await end() > first + 2000 * SHORT_S

            await _until(renewed)
            await connection.write(
                "MATCH (p:__Project__ {id: $p}) SET p.writer = 'another'", {"p": project}
            )
            await asyncio.Event().wait()

    with pytest.raises(LeaseLostError):
        await hold()


@on_real_server
async def test_a_damaged_lease_holds_nobody_up(backend: Neo4jBackend, project: str) -> None:
    connection = backend.connection
    for damage in (
        "p.writer_until = 'soon'",
        "p.writer_until = null",
        "p.writer_since = 'x', p.writer_name = 5",
    ):
        lease = Lease(connection, project, SHORT_S)
        assert await lease.take() is None
        await connection.write(f"MATCH (p:__Project__ {{id: $p}}) SET {damage}", {"p": project})
        async with Neo4jWriter(connection, backend.names).writing(project, wait_s=60) as own:
            await own.write_documents(OTHER)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():
            pass
