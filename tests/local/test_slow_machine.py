"""A machine with no time: commands wait longer than the function does, and say why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import typer

from drift.core.errors import (
    DeadlineError,
    DriftError,
    GraphMisconfiguredError,
    GraphTimeoutError,
    LocalStackError,
    ModelUnavailableError,
)
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.local.cli import servers
from drift.local.cli.run import run
from drift.local.machine import PATIENCE, patient, slowness
from drift.local.stack.valkey_server import ValkeyServer


class NotedDriver:
    """Notes how it was opened and how long a statement may take."""

    def __init__(self, *_: Any, **limits: Any) -> None:
        self.limits, self.timeouts = limits, list[float | None]()
        opened.append(self)

    async def execute_query(self, query: Any, *_: Any, **__: Any) -> None:
        self.timeouts.append(query.timeout)


opened: list[NotedDriver] = []


async def test_a_commands_graph_may_take_longer_and_the_functions_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("drift.graph.connection.AsyncGraphDatabase.driver", NotedDriver)
    opened.clear()
    for way in (patient, pytest.MonkeyPatch.context):
        with way():
            await Connection("bolt://127.0.0.1:1", "neo4j", "p", None).read("RETURN 1", {})
    slow, usual = opened
    assert (usual.timeouts, slow.timeouts) == ([READ_TIMEOUT_S], [READ_TIMEOUT_S * PATIENCE])
    for name in ("connection_acquisition_timeout", "connection_timeout"):
        assert slow.limits[name] == usual.limits[name] * PATIENCE


@pytest.fixture
def _busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drift.local.machine._share", lambda: 0.31)


@pytest.mark.usefixtures("_busy")
@pytest.mark.parametrize(
    ("error", "is_said"),
    [
        (GraphTimeoutError("It did not answer."), True),
        (ModelUnavailableError("It did not answer."), True),
        (DeadlineError("It did not answer."), True),
        (GraphMisconfiguredError("It lacks an index."), False),
        (LocalStackError("No such port."), False),
    ],
    ids=lambda value: value.code if isinstance(value, DriftError) else str(value),
)
def test_a_command_that_fails_for_want_of_time_says_that_the_machine_is_slow(
    error: DriftError, is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails() -> None:
        raise error

    with pytest.raises(typer.Exit):
        run(fails())
    told = capsys.readouterr().err
    assert told.startswith(f"error: {error.detail}")
    assert (
        "This machine is slow, which may be why: a process gets 31% of a processor." in told
    ) == is_said


@pytest.mark.usefixtures("_busy")
def test_a_server_that_is_not_ready_in_time_is_slow_and_not_broken() -> None:
    class Impatient(ValkeyServer):
        ready_s = 0.0

    with pytest.raises(
        LocalStackError, match=r"(?s)not ready after 0 s.*This machine is slow.*end of its log"
    ):
        Impatient().start()


def test_a_machine_with_time_is_not_called_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drift.local.machine._share", lambda: 0.98)
    assert slowness() == ""


@pytest.mark.parametrize(("seconds", "is_said"), [(4.0, False), (45.0, True)])
async def test_a_slow_start_is_said_before_anybody_waits_for_an_answer(
    seconds: float,
    is_said: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = SimpleNamespace(now=0.0)

    class Graph:
        async def warm_up(self, _: int) -> None:
            clock.now += seconds
            raise GraphTimeoutError("slow")

        async def close(self) -> None:
            """Close nothing."""

    monkeypatch.setattr(servers.wiring, "build_graph", lambda _: Graph())
    monkeypatch.setattr(servers.time, "monotonic", lambda: clock.now)
    await servers.warm_up(SimpleNamespace(vector_index_dimensions=8))
    told = capsys.readouterr().err
    assert ("This machine is slow: the graph took 45 s" in told) == is_said
