"""Entries of the caches: a bounded layer in each process, and behind it one in Redis for all.

A look-up waits a moment at most, and nobody waits for a write.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any, Literal

from cachetools import TLRUCache
from redis.exceptions import InvalidResponse

from drift.core.circuit_breaker import CircuitBreaker
from drift.model.health import Readiness
from drift.redis.seal import Seal
from drift.redis.server import RedisServer, noted

KEPT_S = 86_400
"""An entry counts for a day, in Redis and in the process: a model behind a name may be changed."""
LOCAL_BYTES = 32 * 1024 * 1024  # about 2,600 vectors of 3,072 floats
GIVE_UP_S = 2.0  # how long an answer may take that nobody waits for any more
_FORBIDDEN = "its user may not keep entries (docs/access.md)"


class CacheEntries:
    """Entries by keys, for a day; when the process holds too many, those go that were not used.

    An entry begins with the second until which it counts, in Redis and in the process.
    """

    def __init__(
        self,
        shared: RedisEntries | None = None,
        most_bytes: int = LOCAL_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Hold so many bytes in the process, and ask `shared` for what is not among them."""
        self.shared = shared
        self._now = now
        self._local: TLRUCache[str, bytes] = TLRUCache(
            most_bytes,
            ttu=lambda _key, entry, _time: int.from_bytes(entry[:8]),
            timer=now,
            getsizeof=lambda entry: len(entry) + 300,  # the key, and its place in the layer
        )

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept under these keys, as far as that is known soon."""
        found = {}
        for key in keys:
            if entry := self._local.get(key):
                found[key] = entry[8:]

        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if not self.shared or not missing:
            return found

        for key, entry in (await self.shared.get(missing)).items():
            if int.from_bytes(entry[:8]) > self._now():
                self._keep(key, entry)
                found[key] = entry[8:]

        return found

    def put(self, bodies: Mapping[str, bytes]) -> None:
        """Keep something under each key; nobody waits for it."""
        until = (int(self._now()) + KEPT_S).to_bytes(8)
        entries = {key: until + body for key, body in bodies.items()}
        for key, entry in entries.items():
            self._keep(key, entry)
        if self.shared and entries:
            self.shared.put(entries)

    def _keep(self, key: str, entry: bytes) -> None:
        with suppress(ValueError):  # it is larger than the layer
            self._local[key] = entry


class RedisEntries:
    """Entries in Redis, each gone after its time; whatever happens, `get` and `put` do not raise.

    A new connection may take longer than a look-up waits. So one late answer is no trouble: the
    process waits for it and sends no other look-up. Two in a row are trouble. Keys and entries are
    signed with `secret`: others can delete them, not forge them. A look-up waits `wait_s`, also for
    a connection that is being opened.
    """

    def __init__(
        self,
        server: RedisServer,
        secret: bytes,
        what: Literal["embedding", "answer"] = "embedding",
        wait_s: float = 0.05,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare for the event loop that first asks; log lines say `what` is kept."""
        self._server = server
        self._wait_s = wait_s
        self._what = what
        self._seal = Seal(secret)
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
            self._late.add(asked)
            asked.add_done_callback(self._late.discard)
            self._late_in_a_row += 1
            if self._late_in_a_row > 1:
                self._reading.fail("it does not answer in time")
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
        # Keys of different slots, of which a cluster's nodes hold some each.
        found = await self._read([f"{prefix}:ready?{number}" for number in range(8)])
        if found is None:
            return Readiness.degraded(f"{self._reading.problem}, no {self._what} is kept in it")
        return Readiness.ok()

    async def written(self) -> None:
        """Return when nothing is on its way any more."""
        await asyncio.gather(*self._running)

    async def close(self) -> None:
        """End what is on its way; what was not written yet is lost."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running.clear()

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, context=Context())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _read(self, keys: Sequence[str]) -> dict[str, bytes] | None:
        async with noted(self._reading, GIVE_UP_S, _FORBIDDEN):
            # One command a key: a cluster refuses one for keys of several slots.
            replies = await self._server.ask(*(("MGET", self._seal.name(key)) for key in keys))
            if not all(isinstance(reply, list) and len(reply) == 1 for reply in replies):
                raise InvalidResponse("No answer to MGET.")
            opened = {
                key: self._seal.open(key, stored)
                for key, (stored,) in zip(keys, replies, strict=True)
            }
            return {key: entry for key, entry in opened.items() if entry is not None}

        return None

    async def _write(self, entries: Mapping[str, bytes]) -> None:
        async with noted(self._writing, GIVE_UP_S, _FORBIDDEN):
            await self._server.ask(
                *(
                    ("SET", self._seal.name(key), self._seal.close(key, entry), "EX", KEPT_S)
                    for key, entry in entries.items()
                )
            )
            self._writing.succeed()
