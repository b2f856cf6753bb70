"""QuotaCounter: in the memory of a process and in a real Valkey, held to the same promises."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.auth.quotas import DAY_S, LocalCounter, QuotaCounter
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.counter import RedisCounter, keys_of
from drift.redis.server import RedisServer


class Counted(Protocol):
    """A counter, and a way to have time pass for one name."""

    counter: QuotaCounter

    async def pass_time(self, name: str, seconds: float) -> None: ...


class InMemory:
    def __init__(self) -> None:
        self.now = time.time()
        self.counter = LocalCounter(lambda: self.now)

    async def pass_time(self, name: str, seconds: float) -> None:
        assert name
        self.now += seconds


class InValkey:
    """Time passes there by making what is stored older."""

    def __init__(self, counter: RedisCounter, admin: Redis) -> None:
        self.counter = counter
        self._admin = admin

    async def pass_time(self, name: str, seconds: float) -> None:
        requests, tokens = keys_of(name)
        for member in await self._admin.zrange(requests, 0, -1):
            await self._admin.zincrby(requests, -seconds * 1e6, member)
        if seconds >= DAY_S and await self._admin.exists(tokens):
            await self._admin.hincrby(tokens, "day", -1)


@pytest.fixture(params=["memory", "valkey"])
async def counted(request: pytest.FixtureRequest) -> AsyncIterator[Counted]:
    if request.param == "memory":
        yield InMemory()
        return
    valkey: ValkeyServer = request.getfixturevalue("valkey")
    server = RedisServer(valkey.url)
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        yield InValkey(RedisCounter(server), admin)
    await server.close()


@pytest.fixture
def name() -> str:
    return f"{{team}} {uuid4()} ünï"


async def through(counter: QuotaCounter, name: str, most: int, times: int) -> int:
    """Return how many of so many requests at once are counted."""
    counts = await asyncio.gather(*(counter.count(name, most=most) for _ in range(times)))
    return [one.wait_s for one in counts].count(0)


async def test_of_200_at_once_60_are_counted_and_each_name_by_itself(
    counted: Counted, name: str
) -> None:
    assert await through(counted.counter, name, 60, 200) == 60
    for twin in (name.upper(), f"{name} ", name.replace("ü", "u\u0308")):
        assert await through(counted.counter, twin, 1, 2) == 1
    counts = await counted.counter.count(name)
    assert (counts.requests, counts.tokens, counts.wait_s) == (60, 0, 0)


async def test_the_minute_is_the_one_that_ends_now(counted: Counted, name: str) -> None:
    counter = counted.counter
    assert await through(counter, name, 3, 1) == 1
    await counted.pass_time(name, 40)
    assert await through(counter, name, 3, 5) == 2

    # A request that is not counted makes nobody wait longer.
    assert 0 < (await counter.count(name, most=3)).wait_s <= 20
    # A lower limit counts what was let through before.
    assert 59 < (await counter.count(name, most=2)).wait_s <= 60

    await counted.pass_time(name, 21)
    assert (await counter.count(name)).requests == 2
    assert await through(counter, name, 3, 5) == 1


async def test_tokens_are_those_of_a_day(counted: Counted, name: str) -> None:
    counter = counted.counter
    await counter.count(name, tokens=99)
    assert (await counter.count(name, tokens=10**12)).tokens == 10**12 + 99
    counts = await counter.count(name)
    assert (counts.requests, counts.tokens) == (0, 10**12 + 99)
    assert abs(counts.day_left_s - (DAY_S - time.time() % DAY_S)) < 5

    await counted.pass_time(name, DAY_S)
    assert (await counter.count(name)).tokens == 0


async def test_two_processes_count_as_one_and_nothing_is_stored_for_ever(
    valkey: ValkeyServer, name: str
) -> None:
    servers = [RedisServer(valkey.url) for _ in range(2)]
    counters = [RedisCounter(server) for server in servers]
    passed = await asyncio.gather(*(through(one, name, 60, 100) for one in counters))
    assert sum(passed) == 60
    await counters[0].count(name, tokens=5)
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        lives = [await admin.ttl(key) for key in keys_of(name)]
    assert 0 < lives[0] <= 61
    assert 0 < lives[1] <= DAY_S
    for server in servers:
        await server.close()
