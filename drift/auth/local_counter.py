"""QuotaCounter in the memory of one process."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from drift.auth.caller import Quota
from drift.auth.counting import DAY_S, WINDOW_S, Refusal, Used

MAX_NAMES = 1000
"""So many names are kept before those that count nothing any more are forgotten."""


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
        """Return what counts of a caller at this time."""
        if len(self._counts) > MAX_NAMES:
            self._forget(now)
        count = self._counts[name]
        _expire(count, now)
        return count

    def _forget(self, now: float) -> None:
        for name, count in list(self._counts.items()):
            _expire(count, now)
            if not count.requests and not count.tokens:
                del self._counts[name]


def _expire(count: _Count, now: float) -> None:
    while count.requests and count.requests[0] <= now - WINDOW_S:
        count.requests.popleft()
    if count.day != now // DAY_S:
        count.day, count.tokens = int(now // DAY_S), 0
