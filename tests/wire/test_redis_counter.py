"""Quotas over real sockets: broken connections, servers that stand still, users of few rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.auth.caller import Caller, Quota
from drift.auth.quotas import CountingError, Quotas
from drift.core.errors import QuotaError
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.counter import RedisCounter
from drift.redis.pipeline import Pipeline
from drift.redis.server import IDLE_SECONDS, RedisServer
from tests.proxy import proxied


@asynccontextmanager
async def counting(url: str) -> AsyncIterator[RedisCounter]:
    counter = RedisCounter(RedisServer(url))
    yield counter
    await counter.close()


def limited(most: int) -> Caller:
    return Caller(f"team {uuid4()}", quota=Quota(requests_per_minute=most))


async def test_a_burst_goes_over_one_connection(valkey: ValkeyServer) -> None:
    async with (
        proxied(valkey.port) as proxy,
        counting(f"redis://127.0.0.1:{proxy.port}") as counter,
    ):
        quota = Quota(requests_per_minute=60)
        answers = await asyncio.gather(*(counter.admit(str(proxy.port), quota) for _ in range(700)))
        assert answers.count(None) == 60
        assert proxy.accepted == 1


@pytest.mark.parametrize("cut", ["finish", "reset"])
async def test_a_connection_that_breaks_is_replaced_and_no_request_counts_twice(
    valkey: ValkeyServer, cut: str
) -> None:
    async with (
        proxied(valkey.port) as proxy,
        counting(f"redis://127.0.0.1:{proxy.port}") as counter,
    ):
        quotas, caller = Quotas(counter), limited(100)
        for _ in range(20):
            await asyncio.gather(*(quotas.admit(caller) for _ in range(3)))
            getattr(proxy, cut)()
        used, is_of_all = await quotas.used(caller)
        assert (used.requests, is_of_all) == (60, True)
        assert proxy.accepted > 1


async def test_a_server_that_stands_still_is_counted_without_and_then_again(
    valkey: ValkeyServer,
) -> None:
    async with (
        proxied(valkey.port) as proxy,
        counting(f"redis://127.0.0.1:{proxy.port}") as counter,
    ):
        now = [0.0]
        quotas, caller = Quotas(counter, clock=lambda: now[0]), limited(2)
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
    now = [0.0]
    async with proxied(valkey.port) as proxy:
        packets = Pipeline(RedisServer(f"redis://127.0.0.1:{proxy.port}"), lambda: now[0])
        assert await packets.ask("ECHO", "a") == b"a"
        now[0] += IDLE_SECONDS + 1
        proxy.swallow()
        assert await packets.ask("ECHO", "b") == b"b"
        assert proxy.accepted == 2
        await packets.close()


async def test_what_nobody_waits_for_any_more_is_not_sent(valkey: ValkeyServer) -> None:
    packets = Pipeline(RedisServer(valkey.url))
    key = f"test:{uuid4()}"
    gone = asyncio.create_task(packets.ask("SET", key, "x"))
    await asyncio.sleep(0)
    gone.cancel()
    assert await packets.ask("EXISTS", key) == 0
    await packets.close()


async def test_one_command_that_is_refused_refuses_no_other(valkey: ValkeyServer) -> None:
    packets = Pipeline(RedisServer(valkey.url))
    answers = await asyncio.gather(
        packets.ask("NONSENSE"), packets.ask("ECHO", "a"), return_exceptions=True
    )
    assert isinstance(answers[0], Exception)
    assert answers[1] == b"a"
    await packets.close()


async def test_closing_ends_whoever_waits(valkey: ValkeyServer) -> None:
    async with proxied(valkey.port) as proxy:
        packets = Pipeline(RedisServer(f"redis://127.0.0.1:{proxy.port}"))
        await packets.ask("PING")
        proxy.swallow(new=True)
        waiting = asyncio.create_task(packets.ask("PING"))
        await asyncio.sleep(0.05)
        await packets.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_server_that_has_forgotten_the_scripts_is_told_them_again(
    valkey: ValkeyServer,
) -> None:
    async with (
        counting(valkey.url) as counter,
        Redis.from_url(valkey.url, protocol=2) as admin,
    ):
        name, quota = f"team {uuid4()}", Quota(requests_per_minute=1)
        assert await counter.admit(name, quota) is None
        await admin.script_flush()
        assert await counter.admit(name, quota) is not None
        assert (await counter.used(name)).requests == 1


async def test_nobody_listening_is_told_in_words() -> None:
    async with counting("redis://127.0.0.1:1") as counter:
        with pytest.raises(CountingError, match="nobody listens at its address"):
            await counter.used("x")


async def test_a_user_who_may_only_publish_is_told_what_it_lacks(valkey: ValkeyServer) -> None:
    name = f"publisher-{uuid4()}"
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        for right in ("+publish", "+evalsha", "+eval"):
            await admin.execute_command("ACL", "SETUSER", name, "on", ">p", "allkeys", right)
            async with counting(valkey.url.replace("redis://", f"redis://{name}:p@")) as counter:
                with pytest.raises(CountingError, match="may not count"):
                    await counter.used("x")
        await admin.execute_command("ACL", "DELUSER", name)
