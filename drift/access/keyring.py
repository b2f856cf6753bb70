"""The keys that are valid now: read again while requests go on, so that a key can be changed.

A value that cannot be read, or cannot be used, leaves the keys as they were.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from drift.access.project_keys import KeysError, ProjectKeys, parse
from drift.telemetry.logs import chain, log
from drift.values.health import Readiness

MAX_AGE_S = 60.0
"""How long keys are valid without a look at where they come from."""
EARLY_S = 15.0
"""How long before that they are read again, beside the requests that come meanwhile."""
WAIT_S = 3.0
"""How long a request waits for keys that are older."""
PAUSE_S = 10.0
"""How long after a failure the next attempt comes; nobody waits for that one."""


class KeyRing:
    """The keys of one source, for one event loop."""

    def __init__(
        self, read: Callable[[], Awaitable[str]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Remember where the value comes from; nothing is read yet."""
        self._read = read
        self._clock = clock
        self._keys: ProjectKeys | None = None
        self._read_at = 0.0
        self._failed_at: float | None = None
        self._problem = ""
        self._reading: asyncio.Task[None] | None = None

    async def keys(self) -> ProjectKeys:
        """Return the keys; those from before when the source fails.

        Raises:
            KeysError: the source has not given any since the start.
        """
        age = self._clock() - self._read_at
        if self._keys is None:
            await asyncio.shield(self._begin())
        elif age > MAX_AGE_S - EARLY_S and not self._pauses():
            reading = self._begin()
            if age > MAX_AGE_S and self._failed_at is None:
                await asyncio.wait({reading}, timeout=WAIT_S)

        if self._keys is None:
            raise KeysError([self._problem])
        return self._keys

    def readiness(self) -> Readiness:
        """Return ok, or why the keys are older than they should be."""
        if not self._problem:
            return Readiness.ok()
        if self._keys is None:
            return Readiness.failing(self._problem)
        return Readiness.degraded(f"{self._problem}; the keys from before are used")

    def _pauses(self) -> bool:
        return self._failed_at is not None and self._clock() - self._failed_at < PAUSE_S

    def _begin(self) -> asyncio.Task[None]:
        """Return the reading that goes on, or a new one."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_again())
        return self._reading

    async def _read_again(self) -> None:
        try:
            keys = parse(await self._read())
        except KeysError as error:
            self._failed(str(error), error)
        except Exception as error:  # noqa: BLE001 - whatever a source raises leaves the keys
            self._failed("could not be read", error)
        else:
            self._keys, self._read_at = keys, self._clock()
            self._failed_at, self._problem = None, ""

    def _failed(self, problem: str, error: Exception) -> None:
        self._failed_at = self._clock()
        if problem != self._problem:
            self._problem = problem
            log.warning("project_keys_unreadable", extra={"cause": chain(error)})
