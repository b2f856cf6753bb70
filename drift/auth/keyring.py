"""The keys that are valid now: read again while requests go on, so that a key can be changed.

A value that cannot be used leaves the keys as they were, for an hour at most. A value that is gone,
or a list without keys, leaves none.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from drift.auth.project_keys import KeysError, NoKeysError, ProjectKeys, parse
from drift.core.logs import chain, log
from drift.core.shared_build import SharedBuild
from drift.model.health import Readiness

MAX_AGE_S = 60.0  # how long keys are valid without a look at where they come from
EARLY_S = 15.0  # how long before that they are read again, beside the requests that come meanwhile
KEPT_S = 3600.0  # how long keys are valid that cannot be read again
READ_S = 30.0  # how long a reading may take
WAIT_S = 3.0  # how long a request waits for keys that are older
PAUSE_S = 10.0  # how long after a failure the next attempt comes; nobody waits for that one


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
        self._reading = SharedBuild(self._read_again)

    async def keys(self) -> ProjectKeys:
        """Return the keys, or raise KeysError; when the source fails those of an hour before."""
        age = self._age()
        pauses = self._failed_at is not None and self._clock() - self._failed_at < PAUSE_S
        if self._keys is None or age > KEPT_S:
            await asyncio.shield(self._reading.start())
            if self._keys is not None and self._age() > KEPT_S:
                self._keys = None
                log.error("project_keys_expired", extra={"cause": self._problem})
        elif age > MAX_AGE_S - EARLY_S and not pauses:
            reading = self._reading.start()
            if age > MAX_AGE_S and self._failed_at is None:
                await asyncio.wait({reading}, timeout=WAIT_S)

        if self._keys is None:
            raise KeysError([self._problem])
        return self._keys

    def readiness(self) -> Readiness:
        """Return ok, or why the keys are older than they should be, or none."""
        left_s = KEPT_S - self._age()
        if self._keys is None or left_s <= 0:
            return Readiness.failing(self._problem or "was not read yet")
        if not self._problem:
            return Readiness.ok()

        left = f"for {math.ceil(left_s / 60)} more minutes at most"
        return Readiness.degraded(f"{self._problem}; the keys from before are used {left}")

    def _age(self) -> float:
        return self._clock() - self._read_at

    async def _read_again(self) -> None:
        try:
            async with asyncio.timeout(READ_S):
                keys = _keys_in(await self._read())
        except NoKeysError as error:
            self._keys = None
            self._failed(str(error), error)
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


def _keys_in(value: str) -> ProjectKeys:
    if not value.strip():
        raise NoKeysError(["holds no value"])
    return parse(value)
