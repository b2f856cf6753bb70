"""What a search says when the graph is away, refuses it or is too slow; real servers only."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from drift.core.deadline import Deadline
from drift.core.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    GraphVectorsError,
    UpstreamError,
)
from drift.graph.connection import Connection
from drift.graph.errors import translated
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import Community, PrimerQuery
from tests.contract.graph_backends import (
    DIMENSIONS,
    Neo4jBackend,
    axis,
    chunk,
    fill,
)
from tests.servers import QUICK

SLOW = "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS n"


def ask(graph: Neo4jGraph, tenant: str = "t") -> Awaitable[tuple[Community, ...]]:
    return graph.primer(PrimerQuery(tenant, (), axis(0), 3), Deadline.after(120))


FAILED = "ClientError.Procedure.ProcedureCallFailed"
LENGTHS = "Index query vector has 3 dimensions, but indexed vectors have 256."
TIMED_OUT = "ClientError.Transaction.TransactionTimedOutClientConfiguration"
CODES: list[tuple[str, str, type[UpstreamError], str]] = [
    # the server's code, what it says, and what we make of it; others: tests/function/faults/said.py
    ("ClientError.Security.Unauthorized", "", GraphMisconfiguredError, "NEO4J_PASSWORD"),
    (FAILED, LENGTHS, GraphVectorsError, "dimensions"),
    ("ClientError.Schema.IndexNotFound", "", GraphMisconfiguredError, "python -m drift prepare"),
    ("ClientError.Statement.ArgumentError", "", GraphVectorsError, "dimensions"),
    (TIMED_OUT, "", GraphTimeoutError, "in time"),
    ("ClientError.Transaction.Terminated", "", GraphTimeoutError, "ended"),
]
DRIVERS_OWN: list[tuple[Exception, type[UpstreamError], str]] = [
    (ConfigurationError("x"), GraphMisconfiguredError, "NEO4J_URI"),
    (ServiceUnavailable("x"), GraphUnavailableError, "reached"),
    (SessionExpired("x"), GraphUnavailableError, "reached"),
    (ConnectionResetError(), GraphUnavailableError, "reached"),
]


def failure(code: str, about: str) -> Neo4jError:
    """An error as the driver makes it of a server's reply."""
    kinds = {"Security": AuthError, "General": TransientError}
    error = kinds.get(code.split(".")[1], ClientError)(f"its words at bolt://secret: {about}")
    error._neo4j_code, error._message = f"Neo.{code}", str(error)
    return error


@pytest.mark.parametrize(
    ("error", "expected", "says"),
    [*((failure(code, about), *ours) for code, about, *ours in CODES), *DRIVERS_OWN],
)
def test_each_error_of_the_driver_has_one_of_ours(
    error: Exception, expected: type[UpstreamError], says: str
) -> None:
    with pytest.raises(expected, match=says) as caught, translated():
        raise error
    assert type(caught.value) is expected
    assert "secret" not in caught.value.detail
    assert caught.value.__cause__ is error


@pytest.mark.slow
async def test_nothing_listening_is_unavailable_within_seconds_and_says_no_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        graph = Neo4jGraph(
            Connection(f"bolt://127.0.0.1:{taken.getsockname()[1]}", "neo4j", "password", "neo4j")
        )
        async with asyncio.timeout(60):
            for call in (lambda: ask(graph), graph.health):
                with pytest.raises(GraphUnavailableError) as caught:
                    await call()
                assert "127.0.0.1" not in caught.value.detail
        await graph.close()


class TestOnARunningServer:
    async def test_a_statement_over_its_time_is_ended_and_the_connection_lives(
        self, backend: Neo4jBackend
    ) -> None:
        with pytest.raises(GraphTimeoutError):
            await backend.connection.read(SLOW, {}, timeout_s=0.3)
        assert (await backend.store().health()).missing == ()

    async def test_a_cancelled_statement_leaves_a_connection_that_works(
        self, backend: Neo4jBackend
    ) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await backend.connection.read(SLOW, {}, timeout_s=30)
        assert (await backend.store().health()).missing == ()

    async def test_a_read_cannot_write(self, backend: Neo4jBackend, project: str) -> None:
        with pytest.raises(GraphMisconfiguredError):
            await backend.connection.read("CREATE (:__Chunk__ {project_id: $p})", {"p": project})
        assert await backend.counts(project) == {}


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server that a test may kill, and the last one lock itself out of."""
    folder = tmp_path_factory.mktemp("own") / "neo4j"
    with Neo4jServer("2026", folder=folder, java_flags=QUICK) as server:
        yield server


@pytest.mark.neo4j
@pytest.mark.deep
async def test_a_wrong_login_is_misconfigured_and_a_killed_server_unavailable_until_it_is_back(
    own_server: Neo4jServer,
) -> None:
    uri, user, password = own_server.uri, own_server.user, own_server.password
    for login, database, says in (
        ("wrong", "neo4j", "NEO4J_PASSWORD"),
        (password, "nowhere", "NEO4J_DATABASE"),
    ):
        stranger = Neo4jGraph(Connection(uri, user, login, database))
        with pytest.raises(GraphMisconfiguredError, match=says) as caught:
            await ask(stranger)
        assert uri not in caught.value.detail
        await stranger.close()
    async with Connection(uri, user, password, "neo4j") as connection:
        own = Neo4jBackend(connection, IndexNames(), own_server)
        await own.writer.prepare(DIMENSIONS)
        await fill(own, "t", [chunk("k1", "alpha", axis(0))])
        graph = own.store()
        before = await ask(graph)
        await _kill(own_server)
        async with asyncio.timeout(60):
            with pytest.raises(GraphUnavailableError):
                await ask(graph)
        await asyncio.to_thread(own_server.restart)
        assert await ask(graph) == before


@pytest.mark.neo4j
@pytest.mark.deep
async def test_after_wrong_logins_the_right_one_is_not_called_wrong(
    own_server: Neo4jServer,
) -> None:
    uri, user, password = own_server.uri, own_server.user, own_server.password
    said = []
    for login in ("wrong", "wrong", "wrong", "wrong", password):
        graph = Neo4jGraph(Connection(uri, user, login, "neo4j"))
        with pytest.raises(UpstreamError) as caught:
            await ask(graph)
        said.append((type(caught.value), "NEO4J_PASSWORD" in caught.value.detail))
        await graph.close()
    wrong, locked = (GraphMisconfiguredError, True), (GraphUnavailableError, False)
    assert said == [wrong, wrong, wrong, locked, locked]


@pytest.mark.neo4j
@pytest.mark.deep
async def test_a_read_only_database_is_called_that_and_still_searched(tmp_path: Path) -> None:
    version, folder = "2026", tmp_path / "neo4j"
    async with _served(Neo4jServer(version, folder=folder, java_flags=QUICK)) as connection:
        await Neo4jWriter(connection, IndexNames()).prepare(DIMENSIONS)
        await connection.write("CREATE (:__Project__ {id: 'p'})", {})
        await connection.write("CREATE (:__Chunk__ {id: 'k', text: 'alpha', project_id: 'p'})", {})

    read_only = {"server.databases.default_to_read_only": "true"}
    server = Neo4jServer(version, folder=folder, java_flags=QUICK, settings=read_only)
    async with _served(server) as connection:
        refused = "takes no writes here: it is read-only"
        with pytest.raises(GraphMisconfiguredError, match=refused):
            await connection.write("CREATE (:Thing)", {})
        with pytest.raises(GraphMisconfiguredError, match=refused):
            await Neo4jWriter(connection, IndexNames()).remove_documents("p", ["d"])
        with pytest.raises(GraphMisconfiguredError, match=refused):
            await Neo4jPreparer(connection).prepare(DIMENSIONS)
        assert not await ask(Neo4jGraph(connection))


@asynccontextmanager
async def _served(server: Neo4jServer) -> AsyncIterator[Connection]:
    """Give a connection to a server that runs while the block does."""
    await asyncio.to_thread(server.start)
    try:
        async with Connection(server.uri, server.user, server.password, "neo4j") as connection:
            yield connection
    finally:
        await asyncio.to_thread(server.stop)


async def _kill(server: Neo4jServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    await _until(lambda: server.exit_status() is not None)


async def _until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110 - another process gives no event
            await asyncio.sleep(0.01)
