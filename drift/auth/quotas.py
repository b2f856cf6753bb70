"""What each caller may still use, counted for all processes together or else for this one."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from drift.auth.caller import NO_QUOTA, Caller, Quota
from drift.core.circuit_breaker import CircuitBreaker
from drift.core.errors import QuotaError
from drift.core.logs import log
from drift.model.health import Readiness

WINDOW_S = 60.0  # the minute of `requests_per_minute` is the one that ends now
DAY_S = 86_400  # the day of `tokens_per_day` is that of UTC
WAIT_S = 0.5  # how long a request waits for the shared counter
ALONE = "each process counts for itself"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a counter knows of a caller: requests of the last minute, tokens of today.

    `wait_s` are the seconds until a request has room that was to be counted and was not.
    """

    requests: int = 0
    tokens: int = 0
    wait_s: float = 0.0
    day_left_s: float = 0.0


class CountingError(Exception):
    """Nothing can be counted now; the message says why, for people, and holds no address."""


class QuotaCounter(Protocol):
    """Counts callers by their names; it knows of no limit but the one that it is told."""

    async def count(self, name: str, *, most: int = 0, tokens: int = 0) -> Counts:
        """Add tokens and, where there is a `most`, a request; return the counts after that.

        It is one step. No request is added to as many as `most`. Raises CountingError.
        """


# ---------------------------------------------------------------------------------------- the rule
@dataclass(frozen=True, slots=True)
class QuotaLimit:
    """One limit of a quota: how much of it is used, and when all of it is free at the latest.

    After a refusal `free_in_s` are the seconds until a request has room.
    """

    name: str
    window_s: float
    most: int | None
    used: int
    free_in_s: float


def limits(quota: Quota, counts: Counts) -> tuple[QuotaLimit, ...]:
    """Return every limit that a quota may have."""
    requests, tokens, wait_s = counts.requests, counts.tokens, counts.wait_s or WINDOW_S
    return (
        QuotaLimit("requests_per_minute", WINDOW_S, quota.requests_per_minute, requests, wait_s),
        QuotaLimit("tokens_per_day", DAY_S, quota.tokens_per_day, tokens, counts.day_left_s),
    )


_counted: ContextVar[list[QuotaLimit]] = ContextVar("drift_quota_counted")


@contextmanager
def counting() -> Iterator[list[QuotaLimit]]:
    """Give the limits as the last request of the block and its tasks found them; empty for none.

    They are of the count that let it in or refused it, so nothing is asked for them.
    """
    found: list[QuotaLimit] = []
    token = _counted.set(found)
    try:
        yield found
    finally:
        _counted.reset(token)


async def admit(counter: QuotaCounter, name: str, quota: Quota, found: list[QuotaLimit]) -> None:
    """Count a request of a caller, or raise QuotaError where a limit is reached.

    Tokens are known only when a request has ended, so they are looked at before it is counted.
    `found` becomes the limits at the last count.
    """
    most, most_tokens = quota.requests_per_minute, quota.tokens_per_day
    if most_tokens is not None:
        counts = await counter.count(name)
        found[:] = limits(quota, counts)
        if counts.tokens >= most_tokens:
            raise _refusal("tokens_per_day", most_tokens, counts.day_left_s)

    if most is not None:
        counts = await counter.count(name, most=most)
        found[:] = limits(quota, counts)
        if counts.wait_s > 0:
            raise _refusal("requests_per_minute", most, counts.wait_s)


def _refusal(limit: str, most: int, wait_s: float) -> QuotaError:
    return QuotaError(limit, most, max(1, math.ceil(wait_s)))


# -------------------------------------------------------------------------------------- who counts
@dataclass(slots=True)
class _Count:
    requests: deque[float] = field(default_factory=deque)
    day: int = 0
    tokens: int = 0


class LocalCounter:
    """QuotaCounter of what one process has admitted; it starts from nothing with the process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Take the time from `clock`, in seconds since 1970."""
        self._clock = clock
        self._counts: defaultdict[str, _Count] = defaultdict(_Count)

    async def count(self, name: str, *, most: int = 0, tokens: int = 0) -> Counts:
        """Count in the memory of the process."""
        now, wait_s = self._clock(), 0.0
        count = self._now(name, now)
        count.tokens += tokens
        if most and len(count.requests) >= most:
            wait_s = count.requests[-most] + WINDOW_S - now
        elif most:
            count.requests.append(now)

        return Counts(len(count.requests), count.tokens, wait_s, DAY_S - now % DAY_S)

    def _now(self, name: str, now: float) -> _Count:
        # So many names are kept before those that count nothing any more are forgotten.
        most_names = 1000
        if len(self._counts) > most_names:
            for known, count in list(self._counts.items()):
                _expire(count, now)
                if not count.requests and not count.tokens:
                    del self._counts[known]

        count = self._counts[name]
        _expire(count, now)
        return count


def _expire(count: _Count, now: float) -> None:
    while count.requests and count.requests[0] <= now - WINDOW_S:
        count.requests.popleft()
    if count.day != now // DAY_S:
        count.day, count.tokens = int(now // DAY_S), 0


class Quotas:
    """Counts requests and tokens of callers who have limits; the others cost nothing.

    Each process counts its own part too, so that it knows that much when the shared counter fails.
    """

    def __init__(
        self,
        shared: QuotaCounter | None = None,
        local: LocalCounter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Count with `shared`, or with this process's own counter where there is none."""
        self._shared = shared
        self._local = local or LocalCounter()
        self._breaker = CircuitBreaker("quota_counting", clock)
        self._spending: set[asyncio.Task[None]] = set()

    async def admit(self, caller: Caller) -> None:
        """Count a request of the caller, or raise QuotaError where a limit is reached."""
        name, quota = caller.name, caller.quota
        if quota == NO_QUOTA:
            return

        found = _counted.get([])
        try:
            try:
                await self._ask(lambda shared: admit(shared, name, quota, found))
            except CountingError:
                await admit(self._local, name, quota, found)
            else:
                with suppress(QuotaError):
                    await admit(self._local, name, quota, [])
        except QuotaError as error:
            log.warning("quota_exceeded", extra={"caller": name, "limit": error.limit})
            raise

    def spent(self, caller: Caller, tokens: int) -> None:
        """Add the tokens of a request that has ended; whoever calls does not wait."""
        if caller.quota.tokens_per_day is None or tokens <= 0:
            return
        task = asyncio.create_task(self._spend(caller.name, tokens))
        self._spending.add(task)
        task.add_done_callback(self._spending.discard)

    async def _spend(self, name: str, tokens: int) -> None:
        await self._local.count(name, tokens=tokens)
        with suppress(CountingError):
            await self._ask(lambda shared: shared.count(name, tokens=tokens))

    async def used(self, caller: Caller) -> tuple[tuple[QuotaLimit, ...], bool]:
        """Return the caller's limits as they are used, and whether that is of all processes."""
        try:
            counts, is_of_all = await self._ask(lambda shared: shared.count(caller.name)), True
        except CountingError:
            counts, is_of_all = await self._local.count(caller.name), False
        return limits(caller.quota, counts), is_of_all

    async def readiness(self) -> Readiness:
        """Return ok, or why each process counts for itself."""
        try:
            await self._ask(lambda shared: shared.count(""))
        except CountingError as error:
            return Readiness.degraded(f"{error}, {ALONE}")
        return Readiness.ok()

    async def _ask(self, question: Callable[[QuotaCounter], Awaitable[_T]]) -> _T:
        """Return the shared counter's answer; CountingError where there is none now."""
        if self._shared is None:
            raise CountingError("REDIS_URL is not set")
        if not self._breaker.allow():
            raise CountingError(self._breaker.problem)

        try:
            async with asyncio.timeout(WAIT_S):
                answer = await question(self._shared)
        except QuotaError:  # an answer too
            self._breaker.succeed()
            raise
        except (CountingError, TimeoutError) as error:
            is_slow = isinstance(error, TimeoutError)
            problem = "it does not answer in time" if is_slow else str(error)
            self._breaker.fail(problem)
            raise CountingError(problem) from error

        self._breaker.succeed()
        return answer
