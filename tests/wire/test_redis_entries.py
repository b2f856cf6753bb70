"""Entries of the caches in a real Valkey: whose they are, and what its troubles cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from drift.core.circuit_breaker import PAUSE_S
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.entries import KEPT_S
from tests.proxy import proxied
from tests.wire.redis_entries import entries_at, keep, new_key

OTHER_SECRET = b"of nobody"


# ------------------------------------------------------------------------------------ what is kept
async def test_an_entry_lives_for_a_day_and_no_text_leads_to_it(valkey: ValkeyServer) -> None:
    key = new_key()
    async with entries_at(valkey.url) as entries, Redis.from_url(valkey.url, protocol=2) as admin:
        await keep(entries, **{key: b"body"})
        assert await entries.get([key, new_key()]) == {key: b"body"}
        stored = entries._seal.name(key)
        assert stored.startswith("embed:")
        assert KEPT_S - 60 < await admin.ttl(stored) <= KEPT_S
        assert await admin.exists(key) == 0


async def test_what_others_write_over_an_entry_is_a_miss_and_is_replaced(
    valkey: ValkeyServer,
) -> None:
    a, b = new_key(), new_key()
    async with (
        entries_at(valkey.url) as entries,
        entries_at(valkey.url, OTHER_SECRET) as others,
        Redis.from_url(valkey.url, protocol=2) as admin,
    ):
        await keep(others, **{a: b"forged"})
        assert await entries.get([a]) == {}
        await keep(entries, **{a: b"of a", b: b"of b"})
        place = entries._seal.name(a)
        stored = await admin.get(place)
        for bad in (
            await admin.get(entries._seal.name(b)),
            others._seal.close(a, b"of a"),
            stored[:-1] + bytes([stored[-1] ^ 1]),
            stored[32:],
            stored[:31],
            b"",
            b"x" * 10**6,
        ):
            await admin.set(place, bad)
            assert await entries.get([a]) == {}
        for command in (("RPUSH", place, "x"), ("SADD", place, "x"), ("HSET", place, "x", "y")):
            await admin.delete(place)
            await admin.execute_command(*command)
            assert await entries.get([a, b]) == {b: b"of b"}  # which is there all the same
        await keep(entries, **{a: b"of a"})
        assert await entries.get([a, b]) == {a: b"of a", b: b"of b"}


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
    told: Callable[[], list[str]],
) -> None:
    now = [0.0]
    async with entries_at("redis://127.0.0.1:1", clock=lambda: now[0]) as entries:
        for _ in range(3):
            assert await entries.get([new_key()]) == {}
            await keep(entries, **{new_key(): b"x"})
            now[0] += PAUSE_S + 1
    assert told() == ["embedding_cache_failed reading"]


async def test_a_server_that_stands_still_is_done_without_and_used_again(
    valkey: ValkeyServer, told: Callable[[], list[str]]
) -> None:
    now, port = [0.0], urlsplit(valkey.url).port
    assert port
    async with (
        proxied(port) as proxy,
        entries_at(f"redis://127.0.0.1:{proxy.port}", wait_s=0.05, clock=lambda: now[0]) as entries,
    ):
        proxy.swallow(new=True)
        for _ in range(50):
            assert await entries.get([new_key()]) == {}
        await entries.written()
        assert proxy.accepted == 1, "one look-up is waited for, the others do without"
        assert told() == ["embedding_cache_failed reading"]

        proxy.heal()
        proxy.reset()
        async with asyncio.timeout(30):
            while len(told()) < 2:
                now[0] += PAUSE_S + 1
                await entries.get([new_key()])
                await entries.written()
        assert told()[1] == "embedding_cache_restored reading"

        proxy.swallow(new=True)
        assert await entries.get([new_key()]) == {}
        await entries.close()
        assert not entries._running


async def test_a_look_up_that_comes_late_once_is_no_trouble(
    valkey: ValkeyServer, told: Callable[[], list[str]]
) -> None:
    async with entries_at(valkey.url, wait_s=0) as entries:
        await entries.get([new_key()])
        await entries.written()
        assert not told()
        await entries.get([new_key()])
        assert told() == ["embedding_cache_failed reading"]


@pytest.mark.parametrize(("right", "fails"), [("+publish", "reading"), ("+mget", "writing")])
async def test_a_user_of_fewer_rights_has_no_cache_and_is_told_once(
    right: str, fails: str, valkey: ValkeyServer, caplog: pytest.LogCaptureFixture
) -> None:
    name, now = new_key(), [0.0]
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        await admin.execute_command("ACL", "SETUSER", name, "on", ">p", "allkeys", right)
        url = valkey.url.replace("redis://", f"redis://{name.replace(':', '%3A')}:p@")
        async with entries_at(url, clock=lambda: now[0]) as entries:
            for _ in range(3):
                assert await entries.get([new_key()]) == {}
                await keep(entries, **{new_key(): b"x"})
                now[0] += PAUSE_S + 1
        await admin.execute_command("ACL", "DELUSER", name)
    (line,) = (r.__dict__ for r in caplog.records if r.name == "drift")
    assert (line["event"], line["doing"]) == ("embedding_cache_failed", fails)
    assert "docs/access.md" in line["cause"]
