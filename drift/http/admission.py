"""Who is let in, what runs, and how it ends when the process is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from drift.auth.caller import Caller
from drift.auth.quotas import Quotas
from drift.core.errors import BusyError, QuotaError, StoppingError
from drift.core.outcomes import RecentSearches
from drift.telemetry import parts

_T = TypeVar("_T")


class Admission:
    """Lets in as many requests at a time as fit, each counted for its caller until it stops."""

    def __init__(self, most: int, quotas: Quotas) -> None:
        """Let in up to `most` requests at a time."""
        self.most = most
        self.in_flight = 0
        self.searches = RecentSearches()
        self._quotas = quotas
        self._running: set[asyncio.Task[Any]] = set()
        self._stopping = False

    async def begin(
        self,
        caller: Caller,
        work: Callable[[], Coroutine[Any, Any, _T]],
        claim: Callable[[], Awaitable[None]] | None = None,
    ) -> asyncio.Task[_T]:
        """Let a request in, and have its work done in a task.

        Raises:
            BusyError: as many as fit are inside; it counts for no quota.
            ConflictError: as `claim` says.
            QuotaError: the caller has used what it may.
            StoppingError: the process is being stopped.
        """
        self._refuse_when_stopping()
        if self.in_flight >= self.most:
            parts.refused(BusyError.code)
            raise BusyError(f"{self.most} requests are being answered; try again later.")

        self.in_flight += 1
        try:
            if claim:
                await claim()
            await self.count(caller)
        except BaseException:
            self.in_flight -= 1
            raise

        task = asyncio.create_task(work())
        self._running.add(task)
        task.add_done_callback(self._free_slot)
        return task

    async def count(self, caller: Caller) -> None:
        """Count a request of the caller; QuotaError and StoppingError as for `begin`."""
        try:
            await self._quotas.admit(caller)
        except QuotaError:
            parts.refused(QuotaError.code)
            raise
        self._refuse_when_stopping()  # it may have begun meanwhile

    @contextmanager
    def counted(self, caller: Caller) -> Iterator[None]:
        """Count the tokens of a block for its caller; StoppingError where stopping cancelled it."""
        try:
            with parts.measured() as part:
                try:
                    yield
                finally:
                    cost = part.cost
                    self._quotas.spent(caller, cost.prompt_tokens + cost.completion_tokens)
        except asyncio.CancelledError:
            self._refuse_when_stopping()
            raise

    async def stop(self) -> None:
        """Let nobody in any more, and let whoever waits know that the process is being stopped."""
        self._stopping = True
        await asyncio.sleep(0)  # a task that never began could not say why it ended
        for task in list(self._running):
            task.cancel()

    def _refuse_when_stopping(self) -> None:
        if self._stopping:
            raise StoppingError from None

    def _free_slot(self, task: asyncio.Task[Any]) -> None:
        self.in_flight -= 1
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: whoever waited may have gone
