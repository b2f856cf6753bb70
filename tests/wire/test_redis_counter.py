"""Commands and quotas over real sockets: broken connections, still servers, users of few rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from drift.auth.caller import Caller, Quota
from drift.auth.quotas import CountingError, Quotas
from drift.core.errors import QuotaError
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.counter import RedisCounter
from drift.redis.server import CONNECTIONS, IDLE_SECONDS, RedisServer
from tests.proxy import Proxy, proxied


@asynccontextmanager
async def served(url: str, now: list[float] | None = None) -> AsyncIterator[RedisServer]:
    server = RedisServer(url, clock=lambda: now[0]) if now else RedisServer(url)
    yield server
    await server.close()


@asynccontextmanager
async def behind_proxy(
    valkey: ValkeyServer, now: list[float] | None = None
) -> AsyncIterator[tuple[Proxy, RedisServer]]:
    async with (
        proxied(valkey.port) as proxy,
        served(f"redis://127.0.0.1:{proxy.port}", now) as server,
    ):
        yield proxy, server


def limited(most: int) -> Caller:
    return Caller(f"team {uuid4()}", quota=Quota(requests_per_minute=most))


async def test_a_burst_goes_over_few_connections(valkey: ValkeyServer) -> None:
    async with behind_proxy(valkey) as (proxy, server):
        counter, name = RedisCounter(server), f"team {uuid4()}"
        counts = await asyncio.gather(*(counter.count(name, most=60) for _ in range(700)))
        assert [one.wait_s for one in counts].count(0) == 60
        assert proxy.accepted <= CONNECTIONS


@pytest.mark.parametrize("cut", ["finish", "reset"])
async def test_a_connection_that_breaks_is_replaced_and_no_request_counts_twice(
    valkey: ValkeyServer, cut: str
) -> None:
    async with behind_proxy(valkey) as (proxy, server):
        quotas, caller = Quotas(RedisCounter(server)), limited(100)
        for _ in range(20):
            await asyncio.gather(*(quotas.admit(caller) for _ in range(3)))
            getattr(proxy, cut)()
        used, is_of_all = await quotas.used(caller)
        assert (used[0].used, is_of_all) == (60, True)
        assert proxy.accepted > CONNECTIONS


async def test_a_server_that_stands_still_is_counted_without_and_then_again(
    valkey: ValkeyServer,
) -> None:
    async with behind_proxy(valkey) as (proxy, server):
        now = [0.0]
        quotas, caller = Quotas(RedisCounter(server), clock=lambda: now[0]), limited(2)
        await quotas.admit(caller)
        proxy.swallow(new=True)
        await quotas.admit(caller)
        with pytest.raises(QuotaError):
            await quotas.admit(caller)
        assert "in time" in str(await quotas.readiness())

        proxy.heal()
        async with asyncio.timeout(20):
            while not (await quotas.readiness()).is_ok:
                now[0] += 10
                await asyncio.sleep(0.1)


async def test_an_idle_connection_is_replaced_before_it_is_used(valkey: ValkeyServer) -> None:
    now = [1.0]
    async with behind_proxy(valkey, now) as (proxy, server):
        assert await server.ask(("ECHO", "a")) == [b"a"]
        now[0] += IDLE_SECONDS + 1
        proxy.swallow()
        assert await server.ask(("ECHO", "b")) == [b"b"]
        assert proxy.accepted == 2


async def test_one_command_that_is_refused_refuses_no_other_caller(valkey: ValkeyServer) -> None:
    async with served(valkey.url) as server:
        refused, answered = await asyncio.gather(
            server.ask(("NONSENSE",), ("ECHO", "a")),
            server.ask(("ECHO", "b")),
            return_exceptions=True,
        )
        assert isinstance(refused, ResponseError)
        assert answered == [b"b"]


async def test_a_server_that_has_forgotten_the_script_is_told_it_again(
    valkey: ValkeyServer,
) -> None:
    async with served(valkey.url) as server, Redis.from_url(valkey.url, protocol=2) as admin:
        counter, name = RedisCounter(server), f"team {uuid4()}"
        await counter.count(name, most=1)
        await admin.script_flush()
        counts = await counter.count(name, most=1)
        assert (counts.requests, counts.wait_s > 0) == (1, True)


async def test_nobody_listening_and_a_user_without_rights_are_told_in_words(
    valkey: ValkeyServer,
) -> None:
    async with served("redis://127.0.0.1:1") as server:
        with pytest.raises(CountingError, match="nobody listens at its address"):
            await RedisCounter(server).count("x")

    name = f"publisher-{uuid4()}"
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        for right in ("+publish", "+evalsha", "+eval"):
            await admin.execute_command("ACL", "SETUSER", name, "on", ">p", "allkeys", right)
            async with served(valkey.url.replace("redis://", f"redis://{name}:p@")) as server:
                with pytest.raises(CountingError, match="may not count"):
                    await RedisCounter(server).count("x")
        await admin.execute_command("ACL", "DELUSER", name)
