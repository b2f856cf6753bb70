"""The one way in: every route asks here who sends a request, before it does anything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from drift.auth.caller import Caller
from drift.core.errors import NotConfiguredError
from drift.core.shared_build import SharedBuild
from drift.model.health import Readiness

if TYPE_CHECKING:
    from drift.auth.resolvers import Headers, Resolver
    from drift.http.settings_access import AccessSettings


class Entrance:
    """Tells who sends a request, in the way that AUTH_MODE names; nobody is let in by default.

    It reads its own settings only: whoever is not known yet is not told what else is missing.
    """

    def __init__(
        self,
        *,
        platform_asks_for_keys: bool,
        read_settings: Callable[[], AccessSettings] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Remember whether a request arrives only with a function key; nothing is read yet.

        Keys age by the `clock`.
        """
        self._clock = clock
        self._platform_asks_for_keys = platform_asks_for_keys
        self._read_settings = read_settings
        # In a thread: libraries are imported while other requests go on.
        self._resolver = SharedBuild(lambda: asyncio.to_thread(self._build))

    async def caller(self, headers: Headers) -> Caller:
        """Return who sends a request with these headers.

        Raises:
            UnauthenticatedError, ForbiddenError: it is nobody who may ask anything.
            NotConfiguredError: the settings do not say who may ask.
        """
        return await (await self._resolver.get()).caller(headers)

    async def readiness(self) -> Readiness:
        """Return how well callers can be told apart."""
        return (await self._resolver.get()).readiness()

    def forget(self) -> None:
        """Read the settings anew with the next request."""
        self._resolver.forget()

    def _build(self) -> Resolver:
        from drift.http import gates, settings  # noqa: PLC0415 - they load with the first request

        read = self._read_settings or settings.load_access
        values = read()
        if values.auth_mode == "function" and not self._platform_asks_for_keys:
            raise NotConfiguredError(
                ("AUTH_MODE was another one when the function started: start it again.",)
            )
        return gates.build_resolver(values, read, self._clock)
