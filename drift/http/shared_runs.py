"""Runs that several processes share: one runs it and copies its events, others follow the copy.

Who runs holds a head, which says which run it is and what was asked. The head is renewed while the
run goes on, so a process that dies is known by it; behind an answer it stays for ten minutes.
Events lie beside it in numbered parts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol

from drift.auth.claims import in_use
from drift.core.errors import StoppingError
from drift.http.streaming import EventStream

KEPT_S = 600.0
"""How long an answer is there for who asks again under its id."""
LEASE_S = 15.0
"""How long after its last sign of life a process that runs counts as dead."""
PAUSE_S = 0.1  # between two parts, and two looks for more


class SharedValues(Protocol):
    """Values that all processes with the `secret` share for some seconds; no method raises."""

    secret: bytes

    async def hold(self, key: str, value: bytes, seconds: float) -> bytes | None:
        """Write a value where none stands or this one does; return what stands there, if known."""

    async def put(self, key: str, value: bytes, seconds: float) -> bool:
        """Write a value, for no seconds to take it away; tell whether that was done."""

    async def get(self, keys: Sequence[str]) -> list[bytes | None] | None:
        """Return what stands under keys, read in their order; None where that is not known."""


class SharedRuns:
    """Runs by keys, each of one process at a time as far as the shared values are known."""

    def __init__(self, values: SharedValues, lease_s: float = LEASE_S) -> None:
        """Share by these values."""
        self.secret = values.secret
        self._values = values
        self._lease_s = lease_s

    async def claim(self, key: str, digest: str, token: str) -> str | None:
        """Claim a run for this process; return the token of who has it, None where unknown.

        Raises:
            ConflictError: something else is asked there.
        """
        held = await self._values.hold(_head(key), f"{token} {digest}".encode(), self._lease_s)
        if held is None:
            return None
        theirs, _, asked = held.decode().partition(" ")
        if asked != digest:
            raise in_use()
        return theirs

    async def release(self, key: str) -> None:
        """Let another request run what this process has claimed and not begun."""
        await self._values.put(_head(key), b"", 0)

    async def publish(self, key: str, digest: str, stream: EventStream) -> None:
        """Copy a run of this process up to its end, unless another process has claimed it."""
        head, told, number = f"{stream.token} {digest}".encode(), 0, 0
        while True:
            await stream.wait(told, self._lease_s / 3)
            is_over, events = stream.is_over, stream.events[told:]
            part = _part(stream.token, number)
            if events and await self._values.put(part, b"".join(events), 2 * KEPT_S):
                told, number = told + len(events), number + 1
            stays = stream.is_answered and told == len(stream.events)
            held = await self._values.hold(_head(key), head, KEPT_S if stays else self._lease_s)
            if held not in {None, head} or is_over:
                break
            await asyncio.sleep(PAUSE_S)

        if held == head and not stays:
            await self.release(key)

    async def follow(self, key: str, stream: EventStream) -> None:
        """Take the events of another process's run up to its end; a failed one until it is let go.

        Raises:
            StoppingError: that process gives no more sign of life.
        """
        number, seen = 0, time.monotonic()
        while not stream.is_answered:
            names = [_part(stream.token, number + ahead) for ahead in range(16)]
            # The head is read first: a last part stands before its head goes.
            found = await self._values.get([_head(key), *names])
            head, *parts = found or [None]
            told = [part for part in takewhile(bool, parts) if part]  # none behind a gap
            if told:
                stream.take(b"".join(told))
                number += len(told)
            if head and head.startswith(f"{stream.token} ".encode()):
                seen = time.monotonic()
            elif stream.is_over:
                return
            elif not told and (found or time.monotonic() - seen > self._lease_s):
                raise StoppingError("The process that was answering has ended; ask again.")
            if not told:
                await asyncio.sleep(PAUSE_S)


def _head(key: str) -> str:
    return f"run:{key}"


def _part(token: str, number: int) -> str:
    return f"events:{token}:{number}"
