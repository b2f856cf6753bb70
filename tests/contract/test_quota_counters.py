"""QuotaCounter: in the memory of a process and in a real Valkey, held to the same promises."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.auth.caller import Quota
from drift.auth.quotas import LocalCounter, QuotaCounter, Used
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.counter import RedisCounter, keys_of
from drift.redis.server import RedisServer


class Counted(Protocol):
    """A counter, and a way to have time pass for one name."""

    counter: QuotaCounter

    async def pass_time(self, name: str, seconds: float) -> None: ...

    async def next_day(self, name: str) -> None: ...


class InMemory:
    def __init__(self) -> None:
        self.now = time.time()
        self.counter = LocalCounter(lambda: self.now)

    async def pass_time(self, name: str, seconds: float) -> None:
        assert name
        self.now += seconds

    async def next_day(self, name: str) -> None:
        await self.pass_time(name, 86_400)


class InValkey:
    """Time passes there by making what is stored older."""

    def __init__(self, counter: RedisCounter, admin: Redis) -> None:
        self.counter = counter
        self._admin = admin

    async def pass_time(self, name: str, seconds: float) -> None:
        requests, _ = keys_of(name)
        for member in await self._admin.zrange(requests, 0, -1):
            await self._admin.zincrby(requests, -seconds * 1e6, member)

    async def next_day(self, name: str) -> None:
        await self.pass_time(name, 86_400)
        _, tokens = keys_of(name)
        if await self._admin.exists(tokens):
            await self._admin.hincrby(tokens, "day", -1)


@pytest.fixture(params=["memory", "valkey"])
async def counted(request: pytest.FixtureRequest) -> AsyncIterator[Counted]:
    if request.param == "memory":
        yield InMemory()
        return
    valkey: ValkeyServer = request.getfixturevalue("valkey")
    counter = RedisCounter(RedisServer(valkey.url))
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        yield InValkey(counter, admin)
    await counter.close()


@pytest.fixture
def name() -> str:
    return f"{{team}} {uuid4()} ünï"


async def through(counter: QuotaCounter, name: str, quota: Quota, times: int) -> int:
    """Return how many of so many requests at once are let through."""
    answers = await asyncio.gather(*(counter.admit(name, quota) for _ in range(times)))
    return answers.count(None)


async def test_of_200_at_once_60_are_let_through(counted: Counted, name: str) -> None:
    quota = Quota(requests_per_minute=60)
    assert await through(counted.counter, name, quota, 200) == 60
    assert await counted.counter.used(name) == Used(60, 0)


async def test_the_minute_is_the_one_that_ends_now(counted: Counted, name: str) -> None:
    quota = Quota(requests_per_minute=3)
    counter = counted.counter
    assert await through(counter, name, quota, 1) == 1
    await counted.pass_time(name, 40)
    assert await through(counter, name, quota, 5) == 2

    refusal = await counter.admit(name, quota)
    assert refusal is not None
    assert (refusal.limit, refusal.most) == ("requests_per_minute", 3)
    assert 0 < refusal.retry_after_s <= 20

    await counted.pass_time(name, 21)
    assert await counter.used(name) == Used(2, 0)
    assert await through(counter, name, quota, 5) == 1


async def test_a_refused_request_makes_nobody_wait_longer(counted: Counted, name: str) -> None:
    quota = Quota(requests_per_minute=1)
    await counted.counter.admit(name, quota)
    await counted.pass_time(name, 50)
    assert await through(counted.counter, name, quota, 20) == 0
    await counted.pass_time(name, 11)
    assert await through(counted.counter, name, quota, 1) == 1


async def test_a_lower_limit_counts_what_was_let_through_before(
    counted: Counted, name: str
) -> None:
    counter = counted.counter
    assert await through(counter, name, Quota(requests_per_minute=5), 5) == 5
    await counted.pass_time(name, 30)
    refusal = await counter.admit(name, Quota(requests_per_minute=2))
    assert refusal is not None
    assert 29 < refusal.retry_after_s <= 30


async def test_tokens_are_those_of_a_day(counted: Counted, name: str) -> None:
    quota = Quota(tokens_per_day=100)
    counter = counted.counter
    await counter.spend(name, 99)
    assert await counter.admit(name, quota) is None
    await counter.spend(name, 10**12)
    assert await counter.used(name) == Used(0, 10**12 + 99)

    refusal = await counter.admit(name, quota)
    assert refusal is not None
    assert (refusal.limit, refusal.most) == ("tokens_per_day", 100)
    assert 0 < refusal.retry_after_s <= 86_400

    await counted.next_day(name)
    assert await counter.admit(name, quota) is None
    assert await counter.used(name) == Used()


async def test_a_request_refused_for_its_tokens_is_not_counted(counted: Counted, name: str) -> None:
    await counted.counter.spend(name, 1)
    quota = Quota(requests_per_minute=5, tokens_per_day=1)
    assert await through(counted.counter, name, quota, 3) == 0
    assert await counted.counter.used(name) == Used(0, 1)


async def test_names_are_apart(counted: Counted, name: str) -> None:
    quota = Quota(requests_per_minute=1)
    twins = [name, name.upper(), f"{name} ", name.replace("ü", "u\u0308")]
    for one in twins:
        assert await through(counted.counter, one, quota, 2) == 1


async def test_nothing_is_stored_for_ever(valkey: ValkeyServer, name: str) -> None:
    counter = RedisCounter(RedisServer(valkey.url))
    await counter.admit(name, Quota(requests_per_minute=5))
    await counter.spend(name, 5)
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        lives = [await admin.ttl(key) for key in keys_of(name)]
    await counter.close()
    assert 0 < lives[0] <= 61
    assert 0 < lives[1] <= 86_400


async def test_two_processes_count_as_one(valkey: ValkeyServer, name: str) -> None:
    quota = Quota(requests_per_minute=60)
    counters = [RedisCounter(RedisServer(valkey.url)) for _ in range(2)]
    passed = await asyncio.gather(*(through(one, name, quota, 100) for one in counters))
    assert sum(passed) == 60
    for one in counters:
        await one.close()
