"""Settings to what tells callers apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from drift.auth.entra import identity
from drift.auth.key_vault import VaultSecret
from drift.auth.keyring import KeyRing
from drift.auth.project_keys import NO_ENTRY, KeysError
from drift.auth.resolvers import EasyAuth, FunctionKeys, OwnKeys, Resolver
from drift.core.errors import NotConfiguredError
from drift.http.settings_access import NO_KEYS, AccessSettings

_NOBODY_AUTHENTICATES = (
    "AUTH_MODE=easyauth, but the platform's authentication is off: turn it on. The platform then "
    "sets WEBSITE_AUTH_ENABLED to true."
)
_NONE = frozenset({f"{NO_KEYS}.", f"PROJECT_KEYS: {NO_ENTRY}."})
"""What the settings say where there is no key any more."""


def build_resolver(
    values: AccessSettings, read: Callable[[], AccessSettings], clock: Callable[[], float]
) -> Resolver:
    """Return what tells callers apart in the mode of the settings; nothing is opened.

    Keys that stand in a setting are read from it again with `read`; they age by the `clock`.

    Raises:
        NotConfiguredError: the platform would have to authenticate callers, and does not say so.
    """
    if values.auth_mode == "easyauth":
        # Without it, what the platform says of callers could be written by anybody.
        if (values.website_auth_enabled or "").strip().lower() != "true":
            raise NotConfiguredError((_NOBODY_AUTHENTICATES,))
        return EasyAuth(values.auth_tenant_id or "", values.project_claim)
    if values.auth_mode == "keys":
        if values.project_keys_secret is None:
            return OwnKeys(KeyRing(partial(_from_the_setting, read), clock), "PROJECT_KEYS")
        secret = VaultSecret(values.project_keys_secret, partial(identity, values.azure_client_id))
        return OwnKeys(KeyRing(secret.read, clock), "PROJECT_KEYS_SECRET")
    return FunctionKeys()


async def _from_the_setting(read: Callable[[], AccessSettings]) -> str:
    """Return PROJECT_KEYS as it is now, nothing where it was taken away."""
    try:
        value = read().project_keys
    except NotConfiguredError as error:
        if _NONE.intersection(error.problems):
            return ""
        raise KeysError(error.problems) from error
    return value.get_secret_value() if value else ""
