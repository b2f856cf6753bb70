"""One writer a project: a lease on the project's node.

It expires by the server's clock, and every write checks it.

What is written under a lease is written in transactions that begin by locking the project's node
and looking whether the lease still holds. So a writer that stood still until another took over
cannot write anything more, however late it wakes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from drift.core.deadline import task_group
from drift.core.errors import (
    GraphTimeoutError,
    GraphUnavailableError,
    LeaseLostError,
    ProjectBusyError,
    UpstreamError,
)
from drift.graph.connection import READ_TIMEOUT_S, WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.versions import read_known_format
from drift.graph.writing import lease_statements

LEASE_S = 45.0
"""How long a project stays held after the last sign of life."""

MAX_WAIT_S = 600.0
"""How long a writer waits for another one of the same project, unless it is told otherwise."""

_RENEWALS = 4
"""Renewals in the time of a lease: several may fail before it is lost."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a project, in words for people; `id` tells one lease from the next."""

    id: str
    words: str


class Lease:
    """The right to write one project; building it takes nothing."""

    def __init__(self, connection: Connection, project_id: str, lease_s: float = LEASE_S) -> None:
        """Name the holder; who runs it, and where, is told to whoever waits."""
        self.project_id = project_id
        self.connection = connection
        self.lease_s = lease_s
        self._claim: Mapping[str, Any] = {
            "project_id": project_id,
            "holder": uuid.uuid4().hex,
            "name": f"{platform.node()}, process {os.getpid()}",
            "lease_ms": round(lease_s * 1000),
        }

    async def take(self) -> Holder | None:
        """Take the project; return who has it when it is not free. Errors as for any write."""
        await read_known_format(self.connection)
        seen = await self.connection.write(lease_statements.HOLDER, self._claim)
        if seen.records:
            return _holder(seen.records[0])

        async def work(run: Statement) -> Holder | None:
            await run(lease_statements.LOCK, self._claim)
            row = (await run(lease_statements.TAKE, self._claim)).records[0]
            return None if row["held"] else _holder(row)

        try:
            return await self.connection.transaction(work, READ_TIMEOUT_S)
        except GraphTimeoutError:
            # A writer hangs; the server ends its write in time.
            return Holder("", "a write that has not ended yet")

    async def transaction(
        self, work: Callable[[Statement], Awaitable[T]], timeout_s: float = WRITE_TIMEOUT_S
    ) -> T:
        """Run the statements of `work` in one transaction, in which nobody else writes the project.

        LeaseLostError when the lease is over; nothing is changed. Other errors as for any write.
        """

        async def guarded(run: Statement) -> T:
            began = time.monotonic()
            await self._keep(run)
            done = await work(run)
            if time.monotonic() - began > self.lease_s / _RENEWALS:
                # The lock kept everybody out, the renewal as well: the time begins again.
                await run(lease_statements.TAKE, self._claim)

            return done

        return await self.connection.transaction(guarded, timeout_s)

    async def keep_up(self) -> None:
        """Renew the lease until cancelled; LeaseLostError when it is over."""
        while True:
            await asyncio.sleep(self.lease_s / _RENEWALS)
            # Whether the lease still holds, the next renewal or the next write will tell.
            with contextlib.suppress(GraphUnavailableError):
                await self.connection.transaction(self._keep)

    async def release(self) -> None:
        """Give the project back, or let the lease end; one that holds nothing is forgotten."""
        release_timeout_s = 5.0

        async def work(run: Statement) -> None:
            await run(lease_statements.LOCK, self._claim)
            await run(lease_statements.RELEASE, self._claim)
            await run(lease_statements.FORGET, {**self._claim, "ours": lease_statements.OURS})

        with contextlib.suppress(UpstreamError, TimeoutError):
            async with asyncio.timeout(release_timeout_s):
                await self.connection.transaction(work, release_timeout_s)

    async def _keep(self, run: Statement) -> None:
        await run(lease_statements.LOCK, self._claim)
        row = (await run(lease_statements.KEEP, self._claim)).records[0]
        if not row["held"]:
            raise LeaseLostError(self._lost(row))

    def _lost(self, row: Mapping[str, Any]) -> str:
        why = (
            f"This run gave no sign of life for {self.lease_s:g} s, so it no longer holds project "
            f"{self.project_id}"
        )
        if row["holder"] not in {None, self._claim["holder"]}:
            why += f", which {_holder(row).words} has taken over"

        return (
            f"{why}. What it had written stays, nothing more was written: run it again, and it "
            "goes on from there."
        )


@asynccontextmanager
async def holding(
    lease: Lease, *, wait_s: float, say: Callable[[str], None]
) -> AsyncIterator[Lease]:
    """Hold the project while the block runs, and give it back at once however the block ends.

    Another writer is waited for up to `wait_s` seconds, with a sentence for each; ProjectBusyError
    then. LeaseLostError as soon as the lease is lost; the block is cancelled.
    """
    try:
        await _take(lease, wait_s, say)
        async with task_group() as group:
            renewing = group.create_task(lease.keep_up())
            yield lease
            renewing.cancel()
    finally:
        await lease.release()


async def _take(lease: Lease, wait_s: float, say: Callable[[str], None]) -> None:
    give_up, told = time.monotonic() + wait_s, None
    while (other := await lease.take()) is not None:
        held = f"Project {lease.project_id} is being written by {other.words}"
        left = give_up - time.monotonic()
        if left <= 0:
            waited = f", and still was after {wait_s:g} s" if wait_s else ""
            raise ProjectBusyError(
                f"{held}{waited}. Run this again when that has ended, or let it wait longer; "
                f"a run that was killed holds a project for at most {lease.lease_s:g} s more."
            )

        if other.id != told:
            say(f"{held}: waiting until that has ended, at most {left:.0f} s.")
            told = other.id

        await asyncio.sleep(min(1.0, left))


def _holder(row: Mapping[str, Any]) -> Holder:
    since = row["since_ms"]
    try:
        when = f" since {datetime.fromtimestamp(since / 1000, UTC):%H:%M:%S} UTC"
    except (TypeError, ValueError, OverflowError, OSError):
        when = ""
    return Holder(str(row["holder"]), f"{row['name'] or 'somebody'}{when}")
