"""How the latest requests ended: a health check that is answered does not show that."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    DriftError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    RequestError,
)

FORGOTTEN_S = 600.0
"""How long failures count where no request follows that could end them."""


@dataclass(frozen=True, slots=True)
class _Failures:
    """How many requests of one kind have failed in a row, why the last did, and when."""

    number: int
    reason: str
    at: float


@dataclass(slots=True)
class Outcomes:
    """The failures in a row of one server's requests; `clock` gives seconds.

    Each kind of request is counted by itself: quick ones are answered while slow ones are not.
    """

    clock: Callable[[], float] = time.monotonic
    _failing: dict[str, _Failures] = field(default_factory=dict)

    @contextmanager
    def noted(self, deadline: Deadline, kind: str = "") -> Iterator[None]:
        """Note how a block ends that asks the server: answered, failed, or not in the time."""
        try:
            yield
        except (GraphUnavailableError, ModelMisconfiguredError, ModelUnavailableError) as error:
            self._failed(kind, error.detail)
            raise
        except asyncio.CancelledError:
            if not deadline.remaining():
                self._failed(kind, deadline.error().detail)
            raise
        self._failing.pop(kind, None)

    def _failed(self, kind: str, reason: str) -> None:
        before = self._failing.get(kind)
        number = before.number + 1 if before else 1
        self._failing[kind] = _Failures(number, reason, self.clock())

    @property
    def problem(self) -> str:
        """How many of a kind failed in a row, and why the last did; empty where none does."""
        now = self.clock()
        recent = [one for one in self._failing.values() if now - one.at < FORGOTTEN_S]
        if not recent:
            return ""
        most = max(recent, key=lambda one: (one.number, one.at))
        ago = f"{now - most.at:.0f} s ago: {most.reason}"
        if most.number == 1:
            return f"the last request failed, {ago}"
        return f"the last {most.number:,} requests of a kind failed, the last {ago}"


@dataclass(slots=True)
class RecentSearches:
    """How this process's searches of the last minute ended, the latest 1,000 at most.

    `clock` gives seconds. What a caller asked wrongly, left or gave too little time for is none.
    """

    clock: Callable[[], float] = time.monotonic
    _ended: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=1_000))

    @contextmanager
    def counted(self, *, is_own_limit: bool = False) -> Iterator[None]:
        """Count how a search ends; `is_own_limit` says that its caller chose how long it may take.

        CancelledError counts as nothing: who asked has gone.
        """
        try:
            yield
        except Exception as error:
            is_late = is_own_limit and isinstance(error, DeadlineError)
            if not is_late and not isinstance(error, RequestError):
                code = error.code if isinstance(error, DriftError) else DriftError.code
                self._ended.append((self.clock(), code))
            raise
        self._ended.append((self.clock(), ""))

    @property
    def problem(self) -> str:
        """How many searches of the last minute failed, and why; empty under one in twenty."""
        since = self.clock() - 60.0
        recent = [code for at, code in self._ended if at >= since]
        failed = [code for code in recent if code]
        if not failed or len(failed) * 20 < len(recent):
            return ""
        codes = ", ".join(sorted(set(failed)))
        return f"{len(failed):,} of {len(recent):,} searches of the last minute failed: {codes}"
