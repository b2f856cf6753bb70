"""The clock that requests are measured by: this machine's, or that of a recorded request."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import Protocol


class TimeSource(Protocol):
    """Tells seconds as the module `time` does."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""

    def time(self) -> float:
        """Return the seconds since 1970."""


clock: ContextVar[TimeSource] = ContextVar("drift_clock", default=time)


def seconds() -> float:
    """Return seconds that never go back."""
    return clock.get().monotonic()


def unix_time() -> float:
    """Return the seconds since 1970."""
    return clock.get().time()
