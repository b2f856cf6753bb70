"""Entries of a cache in Redis: a look-up waits a moment at most, and nobody waits for a write."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal

from redis.exceptions import InvalidResponse, NoPermissionError

from drift.core.circuit_breaker import CircuitBreaker
from drift.model.health import Readiness
from drift.redis.cache_entries import KEPT_S
from drift.redis.pipeline import Pipeline
from drift.redis.server import RedisServer, in_words

WAIT_S = 0.05
"""How long a look-up waits for Redis, also for one that is still opening its connection."""
GIVE_UP_S = 2.0  # how long an answer may take that nobody waits for any more
_PROBES = 8  # keys of different slots, of which a cluster's nodes hold some each
_MARK_BYTES = 32
_FORBIDDEN = "its user may not keep entries (docs/access.md)"
_SLOW = "it does not answer in time"


class RedisEntries:
    """SharedEntries in Redis; each is gone after its time.

    A new connection may take longer than a look-up waits. So one late answer is no trouble, it is
    waited for without the others; two in a row are. Keys and entries are what only those can make
    who know the `secret`: whoever else writes into Redis can take entries away, and put none in.
    """

    def __init__(
        self,
        server: RedisServer,
        secret: bytes,
        what: Literal["embedding", "answer"] = "embedding",
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare for the event loop that first asks; log lines say `what` is kept."""
        self._pipeline = Pipeline(server)
        self._wait_s = wait_s
        self._what = what
        self._secret = secret
        self._reading = CircuitBreaker(f"{what}_cache", clock, doing="reading")
        self._writing = CircuitBreaker(f"{what}_cache", clock, doing="writing")
        self._running: set[asyncio.Task[Any]] = set()
        self._late: set[asyncio.Task[Any]] = set()
        self._late_in_a_row = 0

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return those entries that are there; none of them when Redis does not say so soon."""
        if self._late or not self._reading.allow():
            return {}

        asked = self._start(self._read(keys))
        done, _ = await asyncio.wait({asked}, timeout=self._wait_s)
        if not done:
            self._is_late(asked)
            return {}

        found: dict[str, bytes] | None = None if asked.cancelled() else asked.result()
        if found is None:
            return {}

        self._late_in_a_row = 0
        self._reading.succeed()
        return found

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep entries for their time; while Redis does not answer, they are dropped."""
        if not self._late and not self._reading.problem and self._writing.allow():
            self._start(self._write(entries))

    async def health(self) -> Readiness:
        """Return ok, or in words why nothing can be read; keys of several slots are tried."""
        prefix = "embed" if self._what == "embedding" else "answer"
        found = await self._read([f"{prefix}:ready?{number}" for number in range(_PROBES)])
        if found is None:
            return Readiness.degraded(f"{self._reading.problem}, no {self._what} is kept in it")
        return Readiness.ok()

    async def written(self) -> None:
        """Return when nothing is on its way any more."""
        await asyncio.gather(*self._running)

    async def close(self) -> None:
        """Close the connection; what was not written yet is lost."""
        # first those that ask, or one that has just begun would open the connection again
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running.clear()
        await self._pipeline.close()

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def _is_late(self, asked: asyncio.Task[Any]) -> None:
        self._late.add(asked)
        asked.add_done_callback(self._late.discard)
        self._late_in_a_row += 1
        if self._late_in_a_row > 1:
            self._reading.fail(_SLOW)

    async def _read(self, keys: Sequence[str]) -> dict[str, bytes] | None:
        # One command a key: a cluster refuses one for keys of several slots. They go in one packet.
        commands = [("MGET", self._named(key)) for key in keys]
        try:
            async with asyncio.timeout(GIVE_UP_S):
                replies = await self._pipeline.ask_each(commands)
            pairs = zip(keys, map(self._opened, keys, map(_only, replies)), strict=True)
            return {key: entry for key, entry in pairs if entry is not None}
        except Exception as error:  # noqa: BLE001 - whatever it is, the entry is made anew
            self._reading.fail(_in_words(error))
            return None

    async def _write(self, entries: Mapping[str, bytes]) -> None:
        commands = [
            ("SET", self._named(key), self._sealed(key, entry), "EX", KEPT_S)
            for key, entry in entries.items()
        ]
        try:
            async with asyncio.timeout(GIVE_UP_S):
                await self._pipeline.ask_each(commands)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is made again
            self._writing.fail(_in_words(error))
        else:
            self._writing.succeed()

    def _named(self, key: str) -> str:
        return f"{key.partition(':')[0]}:{self._mark(b'key', key).hex()}"

    def _sealed(self, key: str, entry: bytes) -> bytes:
        return self._mark(b"entry", key, entry) + entry

    def _opened(self, key: str, stored: object) -> bytes | None:
        if not isinstance(stored, bytes):
            return None
        mark, entry = stored[:_MARK_BYTES], stored[_MARK_BYTES:]
        return entry if hmac.compare_digest(mark, self._mark(b"entry", key, entry)) else None

    def _mark(self, of: bytes, key: str, entry: bytes = b"") -> bytes:
        return hmac.digest(self._secret, b"\n".join((of, key.encode(), entry)), "sha256")


def _only(reply: object) -> object:
    match reply:
        case [value]:
            return value
    raise InvalidResponse("No answer to MGET.")


def _in_words(error: Exception) -> str:
    return _FORBIDDEN if isinstance(error, NoPermissionError) else in_words(error)
