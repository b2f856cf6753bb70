"""A real Valkey, by its promises."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
import redis

from drift.core.errors import LocalStackError
from drift.local.stack.loopback import free_port
from drift.local.stack.valkey_server import ValkeyServer
from tests.local.processes import runs, until

pytestmark = pytest.mark.slow


def test_it_answers_on_loopback_alone_and_keeps_nothing() -> None:
    with ValkeyServer() as server, redis.Redis.from_url(server.url) as client:
        assert client.ping()
        assert client.config_get("bind") == {"bind": "127.0.0.1"}
        assert client.config_get("save") == {"save": ""}
        folder = server.folder
    assert not folder.exists()


def test_a_preferred_port_that_is_taken_gives_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with ValkeyServer(preferred_port=port) as server:
            assert server.port not in {0, port}


def test_a_port_that_is_lost_in_the_last_moment_gives_another_and_never_a_strangers_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ValkeyServer() as stranger:
        ports = [stranger.port, free_port()]
        monkeypatch.setattr("drift.local.stack.child_server.candidates", lambda *_: iter(ports))
        with ValkeyServer() as server, redis.Redis.from_url(server.url) as client:
            assert server.port == ports[1]
            assert client.info("server")["process_id"] == server.pid


def test_it_starts_again_on_its_port_after_it_was_killed() -> None:
    with ValkeyServer() as server:
        port, pid = server.port, server.pid
        assert pid
        os.kill(pid, signal.SIGKILL)
        assert until(lambda: server.exit_status() == -signal.SIGKILL)
        server.restart()
        assert server.port == port
        assert server.pid != pid


def test_a_start_that_fails_shows_the_end_of_the_log(tmp_path: Path) -> None:
    class Misled(ValkeyServer):
        ready_s = 0.0

    with pytest.raises(
        LocalStackError,
        match=r"(?s)valkey server did not start: not ready after 0 s.*end of its log",
    ):
        Misled(tmp_path).start()


def test_it_can_be_stopped_and_started_again() -> None:
    server = ValkeyServer()
    first = server.start().pid
    server.stop()
    second = server.start().pid
    assert first
    assert second
    assert not runs(first)
    server.stop()
    assert not runs(second)
