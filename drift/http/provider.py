"""The one process-wide object: the service of the running loop, built with the first request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from drift.core.errors import DriftError, NotConfiguredError
from drift.core.logs import log
from drift.core.shared_build import SharedBuild
from drift.telemetry import prometheus

if TYPE_CHECKING:
    from drift.http.service import Service
    from drift.http.settings import Settings
    from drift.indexing.documents import ReadFile


class ServiceProvider:
    """Hands out the service of the running loop; concurrent first calls share one build."""

    def __init__(
        self,
        read_settings: Callable[[], Settings] | None = None,
        rebuild_pause_s: float = 5.0,
        build: Callable[[Settings], Service] | None = None,
        read_file: ReadFile | None = None,
    ) -> None:
        """Remember how to read settings (None: the environment) and to build (None: wiring).

        `read_file` is that of Service.
        """
        self.read_file = read_file
        self._read_settings = read_settings
        self._build_service = build
        self._rebuild_pause_s = rebuild_pause_s
        self._service = SharedBuild(self._build)
        self._failure: tuple[float, tuple[str, ...]] | None = None

    async def get(self) -> Service:
        """Return the service of the running loop; NotConfiguredError where it cannot be built."""
        if self._service.here() is None:
            self._failure = None
        if self._failure and time.monotonic() - self._failure[0] < self._rebuild_pause_s:
            raise NotConfiguredError(self._failure[1])

        try:
            return await self._service.get()
        except NotConfiguredError as error:
            self._failure = (time.monotonic(), error.problems)
            raise

    async def stop(self) -> None:
        """End the requests in flight with StoppingError; only the local host asks for this."""
        if building := self._service.here():
            with suppress(NotConfiguredError):
                await (await asyncio.shield(building)).admission.stop()

    async def close(self) -> None:
        """Close what the running loop has built; the next call reads the settings anew."""
        building = self._service.here()
        self._service.forget()
        if building:
            with suppress(NotConfiguredError):
                await (await building).close()

    async def _build(self) -> Service:
        try:
            # In a thread: SDKs are imported and certificates read while other requests go on.
            return await asyncio.to_thread(self._build_now)
        except NotConfiguredError:
            raise
        except DriftError as error:
            raise NotConfiguredError((error.detail,)) from error
        except Exception as error:
            log.exception("service_build_failed")
            raise NotConfiguredError(
                (f"The clients could not be built ({type(error).__name__}).",)
            ) from error

    def _build_now(self) -> Service:
        from drift.http import settings, wiring  # noqa: PLC0415 - most code loads with the first request

        values = (self._read_settings or settings.load)()
        if values.enable_metrics:
            prometheus.begin()
        if values.schedule_problem:
            log.warning("reconcile_schedule_refused", extra={"reason": values.schedule_problem})
        service = (self._build_service or wiring.build_service)(values)
        service.read_file = self.read_file
        return service
