"""What each caller may still use, counted for all processes together or else for this one."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from drift.auth.caller import Caller, Quota
from drift.auth.counting import CountingError, QuotaCounter, Refusal, Used
from drift.auth.local_counter import LocalCounter
from drift.core.circuit_breaker import Trouble
from drift.core.errors import QuotaError
from drift.core.logs import log
from drift.model.health import Readiness

WAIT_S = 0.5
"""How long a request waits for the shared counter."""
PAUSE_S = 5.0
"""How long after a failure the shared counter is asked again."""
ALONE = "each process counts for itself"
NO_REDIS = "REDIS_URL is not set"
_SLOW = "it does not answer in time"

_T = TypeVar("_T")


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
        self._trouble = Trouble(_say_failed, _say_restored, PAUSE_S, clock)
        self._spending: set[asyncio.Task[None]] = set()

    async def admit(self, caller: Caller) -> None:
        """Count a request of the caller.

        Raises:
            QuotaError: the caller has reached a limit; this request is not counted.
        """
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
        try:
            await self._ask(lambda shared: shared.spend(name, tokens))
        except CountingError:
            return

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
        """Return the shared counter's answer.

        Raises:
            CountingError: there is none, or it has just failed.
        """
        if self._shared is None:
            raise CountingError(NO_REDIS)
        if not self._trouble.lets_try():
            raise CountingError(self._trouble.problem)

        try:
            async with asyncio.timeout(WAIT_S):
                answer = await question(self._shared)
        except (CountingError, TimeoutError) as error:
            problem = _SLOW if isinstance(error, TimeoutError) else str(error)
            self._trouble.began(problem)
            raise CountingError(problem) from error
        self._trouble.ended()
        return answer


def _say_failed(problem: str) -> None:
    log.warning("quota_counting_failed", extra={"cause": problem})


def _say_restored() -> None:
    log.info("quota_counting_restored")
