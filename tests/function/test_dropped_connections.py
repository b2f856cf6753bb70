"""Idle connections that the network has dropped: ended, reset, or silently forgotten.

The next call succeeds all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from drift.core.errors import GraphUnavailableError
from drift.graph import connection as neo4j_connection
from drift.graph.connection import Connection
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber
from tests.proxy import Proxy, proxied

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

BOUND_S = 60.0
"""How long a call may take whose connection was dropped: far below what callers wait, on a busy
machine too."""


@dataclass(frozen=True)
class Proxies:
    """A proxy in front of each server that the function calls."""

    graph: Proxy
    model: Proxy
    redis: Proxy


@pytest.fixture
async def proxies(
    environment: pytest.MonkeyPatch, base_settings: dict[str, str], valkey: ValkeyServer
) -> AsyncIterator[Proxies]:
    """The proxies, and settings that lead through them."""
    addresses = {
        "NEO4J_URI": base_settings["NEO4J_URI"],
        "OAI_BASE_URL": base_settings["OAI_BASE_URL"],
    }
    async with AsyncExitStack() as open_proxies:
        made = []
        for name, address in {**addresses, "REDIS_URL": valkey.url}.items():
            port = urlsplit(address).port
            assert port
            proxy = await open_proxies.enter_async_context(proxied(port))
            environment.setenv(name, address.replace(f":{port}", f":{proxy.port}"))
            made.append(proxy)
        environment.setenv("MAX_FOLLOWUPS", "1")
        environment.setenv("OAI_TIMEOUT_SEC", "2")
        yield Proxies(*made)


@pytest.fixture
def connections_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every connection to the graph had been idle for longer than it may live."""
    monkeypatch.setitem(neo4j_connection._LIMITS, "max_connection_lifetime", 0)


# ----------------------------------------------------------------------------- through the function
@pytest.mark.parametrize("drop", [Proxy.reset, Proxy.swallow], ids=["reset", "swallowed"])
@pytest.mark.usefixtures("connections_are_old")
async def test_the_next_answer_and_its_progress_come_without_the_connections(
    proxies: Proxies, function: Caller, valkey: ValkeyServer, drop: Callable[[Proxy], None]
) -> None:
    before = await function.answer()
    assert before["key_facts"]
    for proxy in (proxies.graph, proxies.model, proxies.redis):
        assert proxy.open
        drop(proxy)
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber, asyncio.timeout(BOUND_S):
        assert await function.answer(retrieval_id=retrieval_id) == before
        messages = await subscriber.until_the_end()
    assert (messages[0]["phase"], messages[-1]["phase"]) == ("initializing", "completed")


# -------------------------------------------------------------------------------- each client alone
@asynccontextmanager
async def connected(base_settings: dict[str, str]) -> AsyncIterator[tuple[Proxy, Connection]]:
    """Give a connection to the graph, and the proxy that it goes through."""
    port = urlsplit(base_settings["NEO4J_URI"]).port
    assert port
    login = (base_settings[f"NEO4J_{name}"] for name in ("USERNAME", "PASSWORD", "DATABASE"))
    async with (
        proxied(port) as proxy,
        Connection(f"bolt://127.0.0.1:{proxy.port}", *login) as connection,
    ):
        yield proxy, connection


def test_a_connection_to_the_graph_is_replaced_before_the_network_may_have_dropped_it() -> None:
    assert neo4j_connection._LIMITS["max_connection_lifetime"] < 240
    assert neo4j_connection._LIMITS["liveness_check_timeout"] <= 120


async def test_a_graph_that_falls_silent_is_unavailable_and_not_waited_for(
    base_settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_connection, "PATIENCE_S", 0.5)
    async with connected(base_settings) as (proxy, connection):
        await connection.read("RETURN 1", {})
        proxy.swallow()
        with pytest.raises(GraphUnavailableError):
            await connection.read("RETURN 1", {}, timeout_s=0.5)
        await connection.read("RETURN 1", {})


async def test_many_old_connections_to_the_graph_cost_no_call(
    base_settings: dict[str, str], connections_are_old: None
) -> None:
    assert connections_are_old is None
    async with connected(base_settings) as (proxy, connection):
        await asyncio.gather(*(connection.read("RETURN 1", {}) for _ in range(10)))
        proxy.swallow()
        async with asyncio.timeout(BOUND_S):
            await asyncio.gather(*(connection.read("RETURN 1", {}) for _ in range(10)))
