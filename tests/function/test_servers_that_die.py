"""Servers that die, or never answer.

Redis changes nothing, the graph is an error that the next request has forgotten.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from uuid import uuid4

import pytest

from drift.http.settings import load
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber, assert_is_problem
from tests.function.corpus import fill
from tests.model_server_fixture import ModelServerControl
from tests.servers import QUICK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TRIES = 100


@pytest.fixture(scope="module")
def filled_graph(base_settings: dict[str, str]) -> Iterator[Neo4jServer]:
    """A Neo4j of these tests' own, with the corpus in it."""
    with Neo4jServer("2026", java_flags=QUICK) as server:
        asyncio.run(fill(load({**base_settings, **server.env})))
        yield server


@pytest.fixture
def mortal_graph(filled_graph: Neo4jServer, environment: pytest.MonkeyPatch) -> Neo4jServer:
    """The graph of the function, which a test may kill if it starts it again."""
    for name, value in filled_graph.env.items():
        environment.setenv(name, value)
    return filled_graph


def kill(pid: int | None) -> None:
    """End a server as a power cut does."""
    assert pid
    os.kill(pid, signal.SIGKILL)


@pytest.mark.deep
async def test_a_graph_that_dies_during_a_request_is_unavailable_until_it_is_back(
    function: Caller,
    mortal_graph: Neo4jServer,
    model_server: ModelServerControl,
    valkey: ValkeyServer,
) -> None:
    await function.answer()
    model_server.fail({"fault": "latency", "kind": "hypothesis", "seconds": 1})
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber:
        asked = asyncio.create_task(function.ask(retrieval_id=retrieval_id))
        await model_server.until(lambda seen: seen["in_flight"] == 1)
        kill(mortal_graph.pid)
        assert_is_problem(await asked, 500, "graph_unavailable")
        assert (await subscriber.until_the_end())[-1]["phase"] == "error"
    assert_is_problem(await function.ask(), 500, "graph_unavailable")
    while mortal_graph.child and mortal_graph.child.exit_status() is None:  # noqa: ASYNC110 - a process, no event
        await asyncio.sleep(0.01)
    await asyncio.to_thread(mortal_graph.restart)
    for _ in range(TRIES):
        if (response := await function.ask()).status_code == 200:
            break
    assert response.status_code == 200, response.text
    assert response.json()["key_facts"]
