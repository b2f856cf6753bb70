"""The deadline of a request's calls, turns for computations, and groups of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from drift.core.clock import seconds
from drift.core.errors import DeadlineError


@dataclass(frozen=True, slots=True)
class Deadline:
    """A request must be answered by `total_s` seconds after `started`, on a monotonic clock."""

    total_s: float
    clock: Callable[[], float] = seconds
    started: float = field(default=-1.0)

    @classmethod
    def after(cls, total_s: float, clock: Callable[[], float] = seconds) -> Deadline:
        """Return a deadline `total_s` seconds from now."""
        return cls(total_s, clock, clock())

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.total_s - self.elapsed())

    def until_aggregation(self) -> float:
        """Seconds until aggregation has to begin, never below zero."""
        # Share of the time after which no new follow-up starts and aggregation begins.
        return max(0.0, self.total_s * 0.75 - self.elapsed())

    def require(self) -> float:
        """Return the seconds left; DeadlineError when none is left."""
        if (left := self.remaining()) > 0:
            return left
        raise self.error()

    def error(self) -> DeadlineError:
        """Return the error of a request that ran out of time."""
        return DeadlineError(f"The request was not answered within {self.total_s:g} seconds.")

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cancel the block when the time is used up; DeadlineError stands for that cancellation."""
        try:
            async with asyncio.timeout(self.remaining()) as scope:
                yield
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise self.error() from error


class Turns:
    """Lets computations of milliseconds follow one another, with all else in between."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._next = asyncio.Lock()

    async def mine(self) -> None:
        """Return in a round of the event loop that no other of the turns is in."""
        async with self._next:
            await asyncio.sleep(0)


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks together; when one fails, cancel the others and raise its own error."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        failure = first_failure(failures)
        # The group is left out; what caused the failure stays for the log.
        raise failure from failure.__cause__


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception that is not a group, depth first."""
    first = failures.exceptions[0]
    return first_failure(first) if isinstance(first, BaseExceptionGroup) else first
