"""Whose the id of a retrieval is, so that two callers never write into one channel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from cachetools import TLRUCache

from drift.auth.caller import Caller
from drift.core.errors import ConflictError


class SharedClaims(Protocol):
    """Claims that all processes share."""

    async def holds(self, retrieval_id: str, name: str, seconds: float) -> bool:
        """Claim an id; tell whether it is not another caller's, as far as known; never raises."""


class Claims:
    """An id is that of the caller who used it last, for as long as a retrieval may take."""

    def __init__(
        self, shared: SharedClaims | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Claim for all processes with `shared`, and for this one without."""
        self._shared = shared
        self._clock = clock
        self._claims: TLRUCache[str, tuple[str, float]] = TLRUCache(
            # More than a process has in an hour; beyond them the oldest go.
            100_000,
            ttu=lambda _id, claim, _now: claim[1],
            timer=clock,
        )
        self._running: set[asyncio.Task[bool]] = set()

    async def take(
        self, retrieval_id: str, caller: Caller, seconds: float, *, is_chosen: bool
    ) -> None:
        """Claim an id for a caller, anew when it is its own; nobody waits for one that is random.

        Raises:
            ConflictError: another caller uses it.
        """
        before = self._claims.get(retrieval_id)
        if before and before[0] != caller.name:
            raise in_use()

        self._claims[retrieval_id] = caller.name, self._clock() + seconds

        if self._shared is None:
            return

        claiming = asyncio.create_task(self._shared.holds(retrieval_id, caller.name, seconds))
        self._running.add(claiming)
        claiming.add_done_callback(self._running.discard)
        if is_chosen and not await claiming:
            if before is None:
                self._claims.pop(retrieval_id, None)
            raise in_use()


def in_use() -> ConflictError:
    """Return what is said of an id that stands for something else, whoever asked that."""
    return ConflictError(
        "This retrieval_id or Idempotency-Key stands for another request, or is another caller's: "
        "choose another one, a random UUID, or leave it out."
    )
