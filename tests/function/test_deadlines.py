"""However a server behind the function delays.

The caller has an answer, or an error, by the deadline.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from drift.graph.connection import Connection
from drift.http import health
from tests.function.calling import Caller, assert_is_problem
from tests.model_server_fixture import ModelServerControl
from tests.proxy import Proxy, proxied

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

DEADLINE_S = 2.0
LATE_S = 20.0
"""What a busy machine may add."""


@pytest.fixture
def short_deadline(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Settings with a few seconds for a request, and more patience with a single call than that."""
    environment.setenv("DEADLINE_SEC", str(DEADLINE_S))
    environment.setenv("OAI_TIMEOUT_SEC", "60")
    environment.setenv("MAX_FOLLOWUPS", "1")
    return environment


@asynccontextmanager
async def in_time(seconds: float = DEADLINE_S) -> AsyncIterator[None]:
    """Check that the block has ended by the deadline."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds + LATE_S


async def warmed(function: Caller, model_server: ModelServerControl) -> None:
    """Have the clients built and the graph's statements planned; then forget the requests of it."""
    await function.client.get("/health/ready")
    model_server.reset()


# ---------------------------------------------------------------------------------------- the model
async def test_a_model_that_trickles_does_not_delay_the_end(
    short_deadline: pytest.MonkeyPatch, function: Caller, model_server: ModelServerControl
) -> None:
    assert short_deadline
    await warmed(function, model_server)
    trickles = {"fault": "trickle", "seconds": 0.5, "kind": "aggregate_reply", "times": None}
    model_server.fail(trickles)
    async with in_time():
        response = await function.ask()
    assert_is_problem(response, 500, response.json()["code"])
    assert response.json()["code"] in ("deadline", "model_unavailable")


# ---------------------------------------------------------------------------------------- the graph
@pytest.fixture
async def silent_graph(
    short_deadline: pytest.MonkeyPatch, base_settings: dict[str, str]
) -> AsyncIterator[Proxy]:
    """A proxy in front of the graph, which a test makes swallow what is sent.

    The connection's own limits are far beyond what a busy machine may add.
    """
    short_deadline.setattr(Connection, "patience", 20.0)
    address = base_settings["NEO4J_URI"]
    port = urlsplit(address).port
    assert port
    async with proxied(port) as proxy:
        short_deadline.setenv("NEO4J_URI", address.replace(f":{port}", f":{proxy.port}"))
        yield proxy


async def test_a_graph_that_falls_silent_does_not_delay_the_end(
    silent_graph: Proxy, function: Caller
) -> None:
    assert (await function.client.get("/health/neo4j")).status_code == 200
    silent_graph.swallow(new=True)
    async with in_time():
        response = await function.ask()
    assert_is_problem(response, 500, "deadline")
    silent_graph.heal()


async def test_health_tells_of_a_silent_graph_in_time(
    silent_graph: Proxy, function: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "TIMEOUT_S", 1.0)
    silent_graph.swallow(new=True)
    async with in_time(1.0):
        response = await function.client.get("/health/neo4j")
    assert (response.status_code, response.json()["status"]) == (503, "unhealthy")
