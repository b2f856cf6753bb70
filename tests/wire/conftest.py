"""Progress through a Valkey that takes tokens of Entra ID."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from redis.asyncio import Redis

from drift.auth.entra import TokenSource
from drift.contracts.progress import CHANNEL
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.progress import RedisProgress
from drift.redis.server import REDIS_SCOPE, RedisServer
from tests.wire.entra_redis import PATIENCE_S, Cache, Identity


@pytest.fixture
def identity() -> Iterator[Identity]:
    made = Identity()
    yield made
    made.open.set()


@pytest.fixture
async def cache(valkey: ValkeyServer, identity: Identity) -> AsyncIterator[Cache]:
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        cache = Cache(admin, identity)
        await cache.accept(1)
        await cache.channel.subscribe(CHANNEL)
        assert await cache.channel.get_message(timeout=PATIENCE_S) is None
        yield cache
        await cache.channel.aclose()
        await admin.execute_command("ACL", "DELUSER", cache.oid)


@pytest.fixture
def tokens(identity: Identity) -> TokenSource:
    return TokenSource(REDIS_SCOPE, lambda: identity, clock=lambda: identity.now)


@pytest.fixture
async def sink(
    valkey: ValkeyServer, tokens: TokenSource, identity: Identity, cache: Cache
) -> AsyncIterator[RedisProgress]:
    assert cache
    sink = RedisProgress(RedisServer(valkey.url, tokens))
    yield sink
    identity.open.set()
    await sink.close()


@pytest.fixture
def events(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO, "drift")
    return lambda: [record.event for record in caplog.records if record.name == "drift"]
