"""Who sends a request: every route asks here before it does anything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from drift.auth.caller import Caller
from drift.core.errors import NotConfiguredError
from drift.core.shared_build import SharedBuild
from drift.http import protected_resource
from drift.model.health import Readiness

if TYPE_CHECKING:
    from drift.auth.resolvers import RequestHeaders, Resolver
    from drift.http.settings_access import AccessSettings


class Authentication:
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
        """Remember whether a request arrives only with a function key; keys age by the `clock`."""
        self._clock = clock
        self._platform_asks_for_keys = platform_asks_for_keys
        self._read_settings = read_settings
        self._settings: AccessSettings | None = None
        # In a thread: libraries are imported while other requests go on.
        self._resolver = SharedBuild(lambda: asyncio.to_thread(self._build))

    async def caller(self, headers: RequestHeaders) -> Caller:
        """Return who sends a request; UnauthenticatedError, ForbiddenError for nobody who may."""
        return await (await self._resolver.get()).caller(headers)

    async def settings(self) -> AccessSettings:
        """Return the settings as they are now; NotConfiguredError where they are wrong."""
        return await asyncio.to_thread(self._read)

    def challenge(self, path: str, headers: Mapping[str, str]) -> str:
        """Return what WWW-Authenticate says to who is not known."""
        known = self._settings
        return protected_resource.challenge(known, path, headers) if known else "Bearer"

    async def readiness(self) -> Readiness:
        """Return how well callers can be told apart."""
        return (await self._resolver.get()).readiness()

    def _read(self) -> AccessSettings:
        from drift.http import settings  # noqa: PLC0415 - loads with the first request

        return (self._read_settings or settings.load_access)()

    def _build(self) -> Resolver:
        """Return what tells callers apart in the mode of the settings; nothing is opened."""
        # They load with the first request.
        from drift.auth.entra import identity  # noqa: PLC0415
        from drift.auth.key_vault import VaultSecret  # noqa: PLC0415
        from drift.auth.keyring import KeyRing  # noqa: PLC0415
        from drift.auth.resolvers import EasyAuth, FunctionKeys, OwnKeys  # noqa: PLC0415

        read = self._read
        values = self._settings = read()
        if values.auth_mode == "easyauth":
            # Without it, what the platform says of callers could be written by anybody.
            if (values.website_auth_enabled or "").strip().lower() != "true":
                problem = (
                    "AUTH_MODE=easyauth, but the platform's authentication is off: turn it on. The "
                    "platform then sets WEBSITE_AUTH_ENABLED to true."
                )
                raise NotConfiguredError((problem,))
            return EasyAuth(values.auth_tenant_id or "", values.project_claim)

        if values.auth_mode == "keys":
            if values.project_keys_secret is None:
                keys = KeyRing(partial(_keys_of_the_setting, read), self._clock)
                return OwnKeys(keys, "PROJECT_KEYS")
            make_credential = partial(identity, values.azure_client_id)
            secret = VaultSecret(values.project_keys_secret, make_credential)
            return OwnKeys(KeyRing(secret.read, self._clock), "PROJECT_KEYS_SECRET")

        if not self._platform_asks_for_keys:
            raise NotConfiguredError(
                ("AUTH_MODE was another one when the function started: start it again.",)
            )

        return FunctionKeys()


async def _keys_of_the_setting(read: Callable[[], AccessSettings]) -> str:
    """Return PROJECT_KEYS as it is now, nothing where it was taken away."""
    from drift.auth.project_keys import NO_ENTRY, KeysError  # noqa: PLC0415 - as above
    from drift.http.settings_access import NO_KEYS  # noqa: PLC0415

    try:
        value = read().project_keys
    except NotConfiguredError as error:
        # What the settings say where there is no key any more.
        if {f"{NO_KEYS}.", f"PROJECT_KEYS: {NO_ENTRY}."}.intersection(error.problems):
            return ""
        raise KeysError(error.problems) from error

    return value.get_secret_value() if value else ""
