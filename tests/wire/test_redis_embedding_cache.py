"""Embeddings kept in a real Valkey: shared, replaced where they are wrong, and done without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.core.circuit_breaker import PAUSE_S
from drift.core.deadline import Deadline
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import KEPT_S, CacheEntries, RedisEntries
from drift.redis.server import RedisServer
from tests.fakes import HashingEmbedder, vector_of
from tests.proxy import Proxy, proxied

PATIENT_S = 1.5
"""Long enough for a machine that has other things to do, in tests of what Redis holds."""


class Process:
    """One process with a cache of its own in front of Redis, and the model that it asks."""

    def __init__(self, entries: RedisEntries, space: Space) -> None:
        self.entries = entries
        self.model = HashingEmbedder()
        self.embedder = CachedEmbedder(self.model, space, CacheEntries(entries))

    async def embed(self, *texts: str) -> bool:
        """Embed and check the vectors; tell whether the model was asked."""
        before = len(self.model.calls)
        given = await self.embedder.embed(texts, Deadline.after(30))
        assert given.vectors == tuple(map(vector_of, texts))
        return len(self.model.calls) > before

    async def written(self) -> None:
        """Return when nothing is on its way any more."""
        async with asyncio.timeout(20):
            await self.entries.written()


@pytest.fixture
def space() -> Space:
    """A space that no other test uses."""
    return Space(f"https://{uuid4()}.example", "model", None, 4)


@asynccontextmanager
async def process(
    url: str,
    space: Space,
    wait_s: float = PATIENT_S,
    clock: Callable[[], float] = lambda: 0.0,
) -> AsyncIterator[Process]:
    server = RedisServer(url)
    entries = RedisEntries(server, b"secret", wait_s=wait_s, clock=clock)
    yield Process(entries, space)
    await entries.close()
    await server.close()


@pytest.fixture
async def admin(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(valkey.url, protocol=2) as client:
        yield client


@asynccontextmanager
async def through_proxy(valkey: ValkeyServer) -> AsyncIterator[tuple[Proxy, str]]:
    port = urlsplit(valkey.url).port
    assert port
    async with proxied(port) as proxy:
        yield proxy, f"redis://127.0.0.1:{proxy.port}"


# ------------------------------------------------------------------------------------ what is kept
async def test_an_entry_lives_for_a_day_and_holds_no_text(
    valkey: ValkeyServer, space: Space, admin: Redis
) -> None:
    async with process(valkey.url, space) as one:
        await one.embed("a canary text")
        await one.written()
    key = one.entries._named(space.key("a canary text"))
    assert KEPT_S - 60 < await admin.ttl(key) <= KEPT_S
    assert b"canary" not in key.encode() + await admin.get(key)


# ------------------------------------------------------------------------------- Redis in trouble
@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return what the log says of the cache, as `event doing`."""
    caplog.set_level("INFO", "drift")

    def lines() -> list[str]:
        records = [r for r in caplog.records if str(r.__dict__.get("event", "")).startswith("emb")]
        return [f"{r.__dict__['event']} {r.__dict__['doing']}" for r in records]

    return lines


async def test_nobody_listening_costs_nothing_and_is_told_once(
    space: Space, told: Callable[[], list[str]]
) -> None:
    now = [0.0]
    async with process("redis://127.0.0.1:1", space, clock=lambda: now[0]) as one:
        for text in "abcabc":
            await one.embed(text)
            now[0] += PAUSE_S + 1
        assert len(one.model.calls) == 3
        await one.written()
    assert told() == ["embedding_cache_failed reading"]


async def test_a_server_that_stands_still_is_done_without_and_used_again(
    valkey: ValkeyServer, space: Space, told: Callable[[], list[str]]
) -> None:
    now = [0.0]
    async with (
        through_proxy(valkey) as (proxy, url),
        process(url, space, wait_s=0.05, clock=lambda: now[0]) as one,
    ):
        proxy.swallow(new=True)
        for number in range(50):
            assert await one.embed(f"text {number}")
        await one.written()
        assert proxy.accepted == 1, "one look-up is waited for, the others do without"
        assert told() == ["embedding_cache_failed reading"]

        proxy.heal()
        proxy.reset()
        async with asyncio.timeout(30):
            while len(told()) < 2:
                now[0] += PAUSE_S + 1
                await one.embed(str(uuid4()))
                await one.written()
        assert told()[1] == "embedding_cache_restored reading"


async def test_a_look_up_that_comes_late_once_is_no_trouble(
    valkey: ValkeyServer, space: Space, told: Callable[[], list[str]]
) -> None:
    async with process(valkey.url, space, wait_s=0) as one:
        await one.embed("a")
        await one.written()
        assert not told()
        await one.embed("b")
        assert told() == ["embedding_cache_failed reading"]


async def test_closing_ends_what_is_on_its_way(valkey: ValkeyServer, space: Space) -> None:
    async with through_proxy(valkey) as (proxy, url), process(url, space, wait_s=0.01) as one:
        proxy.swallow(new=True)
        assert await one.embed("a")
        await one.entries.close()
        assert not one.entries._running


# -------------------------------------------------------------------------------- rights of a user
@pytest.mark.parametrize(("right", "fails"), [("+publish", "reading"), ("+mget", "writing")])
async def test_a_user_of_fewer_rights_has_no_cache_and_is_told_once(
    right: str, fails: str, valkey: ValkeyServer, space: Space, caplog: pytest.LogCaptureFixture
) -> None:
    name, now = f"few-{uuid4()}", [0.0]
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        await admin.execute_command("ACL", "SETUSER", name, "on", ">p", "allkeys", right)
        url = valkey.url.replace("redis://", f"redis://{name}:p@")
        async with process(url, space, clock=lambda: now[0]) as one:
            for text in "abc":
                assert await one.embed(text)
                await one.written()
                now[0] += PAUSE_S + 1
        await admin.execute_command("ACL", "DELUSER", name)
    (line,) = (r.__dict__ for r in caplog.records if r.name == "drift")
    assert (line["event"], line["doing"]) == ("embedding_cache_failed", fails)
    assert "docs/access.md" in line["cause"]
