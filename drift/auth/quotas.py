"""What each caller may still use, counted for all processes together or else for this one."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from drift.auth.caller import Caller, Quota
from drift.core.circuit_breaker import CircuitBreaker
from drift.core.errors import QuotaError
from drift.core.logs import log
from drift.model.health import Readiness

Limit = Literal["requests_per_minute", "tokens_per_day"]
WINDOW_S = 60.0  # the minute of `requests_per_minute` is the one that ends now
DAY_S = 86_400  # the day of `tokens_per_day` is that of UTC
MAX_NAMES = 1000  # so many names are kept before those that count nothing any more are forgotten
WAIT_S = 0.5  # how long a request waits for the shared counter
ALONE = "each process counts for itself"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The limit that a caller has reached, and the seconds until there is room again."""

    limit: Limit
    most: int
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class Used:
    """Requests of the last minute and tokens of today."""

    requests: int = 0
    tokens: int = 0


class CountingError(Exception):
    """Nothing can be counted now; the message says why, for people, and holds no address."""


class QuotaCounter(Protocol):
    """Counts callers by their names, each call in one step; every method raises CountingError."""

    async def admit(self, name: str, quota: Quota) -> Refusal | None:
        """Count a request of a caller with limits, unless one is reached."""

    async def spend(self, name: str, tokens: int) -> None:
        """Add tokens to those of today."""

    async def used(self, name: str) -> Used:
        """Return what is counted of the caller."""


@dataclass(slots=True)
class _Count:
    requests: deque[float] = field(default_factory=deque)
    day: int = 0
    tokens: int = 0


class LocalCounter:
    """Counts what one process has admitted; it starts from nothing with the process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Take the time from `clock`, in seconds since 1970."""
        self._clock = clock
        self._counts: defaultdict[str, _Count] = defaultdict(_Count)

    async def admit(self, name: str, quota: Quota) -> Refusal | None:
        """Count a request, unless a limit is reached."""
        now = self._clock()
        count = self._now(name, now)
        most = quota.tokens_per_day
        if most is not None and count.tokens >= most:
            return Refusal("tokens_per_day", most, DAY_S - now % DAY_S)

        most = quota.requests_per_minute
        if most is not None:
            if len(count.requests) >= most:
                return Refusal("requests_per_minute", most, count.requests[-most] + WINDOW_S - now)
            count.requests.append(now)

        return None

    async def spend(self, name: str, tokens: int) -> None:
        """Add tokens to those of today."""
        self._now(name, self._clock()).tokens += tokens

    async def used(self, name: str) -> Used:
        """Return what is counted of the caller."""
        count = self._now(name, self._clock())
        return Used(len(count.requests), count.tokens)

    def _now(self, name: str, now: float) -> _Count:
        if len(self._counts) > MAX_NAMES:
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
        if caller.quota == Quota():
            return

        refusal = await self._refusal(caller)
        if refusal is None:
            return

        wait_s = max(1, math.ceil(refusal.retry_after_s))
        log.warning("quota_exceeded", extra={"caller": caller.name, "limit": refusal.limit})
        raise QuotaError(refusal.limit, refusal.most, wait_s)

    async def _refusal(self, caller: Caller) -> Refusal | None:
        try:
            refusal = await self._ask(lambda shared: shared.admit(caller.name, caller.quota))
        except CountingError:
            return await self._local.admit(caller.name, caller.quota)

        if refusal is None:
            await self._local.admit(caller.name, caller.quota)
        return refusal

    def spent(self, caller: Caller, tokens: int) -> None:
        """Add the tokens of a request that has ended; whoever calls does not wait."""
        if caller.quota.tokens_per_day is None or tokens <= 0:
            return
        task = asyncio.create_task(self._spend(caller.name, tokens))
        self._spending.add(task)
        task.add_done_callback(self._spending.discard)

    async def _spend(self, name: str, tokens: int) -> None:
        await self._local.spend(name, tokens)
        with suppress(CountingError):
            await self._ask(lambda shared: shared.spend(name, tokens))

    async def used(self, caller: Caller) -> tuple[Used, bool]:
        """Return what the caller has used, and whether that is of all processes."""
        try:
            return await self._ask(lambda shared: shared.used(caller.name)), True
        except CountingError:
            return await self._local.used(caller.name), False

    async def readiness(self) -> Readiness:
        """Return ok, or why each process counts for itself."""
        try:
            await self._ask(lambda shared: shared.used(""))
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
        except (CountingError, TimeoutError) as error:
            is_slow = isinstance(error, TimeoutError)
            problem = "it does not answer in time" if is_slow else str(error)
            self._breaker.fail(problem)
            raise CountingError(problem) from error

        self._breaker.succeed()
        return answer
