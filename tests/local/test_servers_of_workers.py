"""What all workers of a test run share: one server of a name, ended with the run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.child_server import Server
from drift.local.stack.valkey_server import ValkeyServer
from tests.local.processes import runs
from tests.shared_servers import SharedServers, ask_for

pytestmark = pytest.mark.slow


class Starts:
    """Starts Valkeys and keeps them."""

    def __init__(self) -> None:
        self.started: list[ValkeyServer] = []

    def valkey(self) -> Server:
        self.started.append(ValkeyServer())
        return self.started[-1]

    @staticmethod
    def broken() -> Server:
        raise LocalStackError("there is none")


@pytest.fixture
def starts() -> Starts:
    return Starts()


@pytest.fixture
def shared(starts: Starts) -> Iterator[SharedServers]:
    servers = SharedServers({"valkey": starts.valkey, "broken": starts.broken})
    yield servers
    servers.stop()


def test_workers_that_ask_at_once_are_told_of_one_server_that_ends_with_the_run(
    shared: SharedServers, starts: Starts
) -> None:
    assert starts.started == []
    with ThreadPoolExecutor() as workers:
        facts = list(workers.map(lambda _: ask_for("valkey", shared.address), range(4)))
    (server,) = starts.started
    assert facts == [{"port": server.port, "password": None}] * 4
    pid = server.pid
    assert pid
    assert runs(pid)
    shared.stop()
    assert not runs(pid)


def test_every_worker_is_told_why_a_server_does_not_start(shared: SharedServers) -> None:
    for _ in range(2):
        with pytest.raises(LocalStackError, match="there is none"):
            ask_for("broken", shared.address)
