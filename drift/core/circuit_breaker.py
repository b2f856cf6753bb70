"""A server that fails is asked seldom; the log says once when that begins and when it ends."""

from __future__ import annotations

from collections.abc import Callable

from drift.core.logs import log

PAUSE_S = 5.0  # how long after a failure a server is asked again


class CircuitBreaker:
    """Spares a failing server requests; `problem` is empty while it answers.

    While it fails, one request in `PAUSE_S` seconds asks it. The log's events are `name` with
    `_failed` or `_restored` behind it, and tell what is `about` the server.
    """

    def __init__(self, name: str, clock: Callable[[], float], **about: str) -> None:
        """Begin with a server that answers."""
        self.problem = ""
        self._failed, self._restored = f"{name}_failed", f"{name}_restored"
        self._clock = clock
        self._about = about
        self._again_at = 0.0

    def allow(self) -> bool:
        """Tell whether to ask the server now; a True reserves the attempt."""
        if self.problem and self._clock() < self._again_at:
            return False
        self._again_at = self._clock() + PAUSE_S
        return True

    def fail(self, problem: str) -> None:
        """Note that the server fails now."""
        if problem != self.problem:
            log.warning(self._failed, extra={**self._about, "cause": problem})
        self.problem, self._again_at = problem, self._clock() + PAUSE_S

    def succeed(self) -> None:
        """Note that the server answers now."""
        if self.problem:
            self.problem = ""
            log.info(self._restored, extra=self._about)
