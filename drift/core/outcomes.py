"""How the latest requests to a server ended: a health check that is answered does not show that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from drift.core.deadline import Deadline
from drift.core.errors import (
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
)

FORGOTTEN_S = 600.0
"""How long failures count where no request follows that could end them."""


@dataclass(slots=True)
class Outcomes:
    """The failures in a row of one server's requests; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    in_a_row: int = 0
    _reason: str = ""
    _at: float = 0.0

    @contextmanager
    def noted(self, deadline: Deadline) -> Iterator[None]:
        """Note how a block ends that asks the server: answered, failed, or not in the time."""
        try:
            yield
        except (GraphUnavailableError, ModelMisconfiguredError, ModelUnavailableError) as error:
            self.failed(error.detail)
            raise
        except asyncio.CancelledError:
            if not deadline.remaining():
                self.failed(deadline.error().detail)
            raise
        self.in_a_row = 0

    def failed(self, reason: str) -> None:
        """Note that a request has failed now."""
        self.in_a_row, self._reason, self._at = self.in_a_row + 1, reason, self.clock()

    @property
    def problem(self) -> str:
        """How many failed in a row, and why the last did; empty after one that was answered."""
        age = self.clock() - self._at
        if not self.in_a_row or age >= FORGOTTEN_S:
            return ""
        failed = "request" if self.in_a_row == 1 else f"{self.in_a_row:,} requests"
        return f"the last {failed} failed, {age:.0f} s ago: {self._reason}"
