"""What the timer does: people's nodes and their vectors, in every project, within its time.

It belongs to no caller: whoever sets RECONCILE_SCHEDULE asks for the writes.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.core.logs import log

if TYPE_CHECKING:  # they load what only a first request shall
    from drift.http.provider import ServiceProvider

RUN_S = 240.0
"""How long a run may take: under `functionTimeout` of host.json, at which the platform ends the
whole process, with every request in it."""


class NodeTimer:
    """Runs when the timer fires; one run at a time in a process."""

    def __init__(self, provider: ServiceProvider, run_s: float = RUN_S) -> None:
        """Take the servers of this provider; nothing is opened yet."""
        self._provider = provider
        self._run_s = run_s
        self._is_running = False

    async def fire(self, *, is_late: bool = False) -> None:
        """Look at every node and mend what differs; never raises, the log tells how it ended."""
        if self._is_running:
            log.warning("reconcile_skipped", extra={"reason": "the run before has not ended"})
            return

        self._is_running = True
        try:
            await self._run(is_late=is_late)
        except DriftError as error:
            log.warning("reconcile_failed", exc_info=error)
        except Exception:
            log.exception("reconcile_crashed")
        finally:
            self._is_running = False

    async def _run(self, *, is_late: bool) -> None:
        service = await self._provider.get()
        if reason := service.settings.nothing_to_reconcile:
            log.warning("reconcile_skipped", extra={"reason": reason})
            return

        started = time.monotonic()
        summary = await service.reconciling().everything(Deadline.after(self._run_s))
        took = {"duration_s": time.monotonic() - started, "is_late": is_late}
        log.info("reconcile_ended", extra={**asdict(summary), **took})
