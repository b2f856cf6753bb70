"""Entries in a Redis, opened for a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from drift.redis.entries import RedisEntries
from drift.redis.server import RedisServer

PATIENT_S = 1.5
"""Long enough for a machine that has other things to do, in tests of what Redis holds."""
SECRET = b"of the service"


@asynccontextmanager
async def entries_at(
    url: str,
    secret: bytes = SECRET,
    wait_s: float = PATIENT_S,
    clock: Callable[[], float] = lambda: 0.0,
) -> AsyncIterator[RedisEntries]:
    server = RedisServer(url)
    entries = RedisEntries(server, secret, wait_s=wait_s, clock=clock)
    try:
        yield entries
    finally:
        await entries.close()
        await server.close()


def new_key() -> str:
    """Return a key that no other test uses."""
    return f"embed:{uuid4()}"


async def keep(entries: RedisEntries, **bodies: bytes) -> None:
    entries.put(bodies)
    await entries.written()
