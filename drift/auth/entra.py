"""Tokens of Entra ID in place of keys, fetched beside the event loop, renewed before they end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from drift.core.logs import chain, log
from drift.core.shared_build import SharedBuild

RENEW_S = 240.0
"""How long before its end a token is renewed. azure-identity gives the old one until 300 s before
it."""

TOO_LATE_S = 10.0
"""A token that is valid for less than this is not used any more: it would end on its way."""

PAUSE_S = 30.0
"""How long after a renewal that failed the next one is tried, while the old token is valid."""


class Token(Protocol):
    """What is used of azure.core's AccessToken."""

    @property
    def token(self) -> str:
        """The token itself."""

    @property
    def expires_on(self) -> int:
        """When it ends, in seconds since 1970."""


class TokenCredential(Protocol):
    """What is used of azure-identity's synchronous credentials; others would need aiohttp."""

    def get_token(self, *scopes: str) -> Token:
        """Return a token; blocks."""


class TokenSource:
    """The token of one identity for one scope, for everybody on one event loop.

    Those who ask at the same time share one fetch, and while a token is valid nobody waits for its
    renewal. An identity that fails occupies one thread at most, and is logged once.
    """

    def __init__(
        self,
        scope: str,
        make_credential: Callable[[], TokenCredential],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Remember what to ask; `make_credential` is called in a thread."""
        self.held: Token | None = None
        self._scope = scope
        self._make_credential = make_credential
        self._credential: TokenCredential | None = None
        self._clock = clock
        self._fetch = SharedBuild(self._fetch_token)
        self._renew_not_before = 0.0
        self._failing = False

    async def get(self) -> Token:
        """Return a token that is valid now; what the credential raises is raised here."""
        now = self._clock()
        if self.held is None or self.held.expires_on - now < TOO_LATE_S:
            return await asyncio.shield(self._fetch.start())
        if now >= max(self.held.expires_on - RENEW_S, self._renew_not_before):
            self._fetch.start()
        return self.held

    async def _fetch_token(self) -> Token:
        try:
            token = await asyncio.to_thread(self._ask)
        except Exception as error:
            self._renew_not_before = self._clock() + PAUSE_S
            if not self._failing:
                self._failing = True
                log.warning(
                    "entra_token_failed", extra={"scope": self._scope, "cause": chain(error)}
                )
            raise

        self.held = token
        if self._failing:
            self._failing = False
            log.info("entra_token_restored", extra={"scope": self._scope})
        return token

    def _ask(self) -> Token:
        if self._credential is None:
            self._credential = self._make_credential()
        return self._credential.get_token(self._scope)


def identity(client_id: str | None) -> TokenCredential:
    """Return the managed identity `client_id`, or whoever is signed in here; call in a thread."""
    from azure.identity import DefaultAzureCredential, ManagedIdentityCredential  # noqa: PLC0415 - only with Entra ID

    for name in ("azure.core", "azure.identity"):
        # Below that they write addresses and answers for every attempt.
        logging.getLogger(name).setLevel(logging.ERROR)

    if not client_id:
        return DefaultAzureCredential()

    # The endpoint is on this machine; the SDK would wait 5 minutes at a time for one that hangs.
    patience: dict[str, Any] = {"connection_timeout": 5, "read_timeout": 10, "retry_total": 1}
    return ManagedIdentityCredential(client_id=client_id, **patience)


def sdk_errors() -> tuple[type[Exception], type[Exception]]:
    """Return what the SDK raises: when no credential works, and on any other failure."""
    from azure.core.exceptions import (  # noqa: PLC0415 - only with Entra ID
        AzureError,
        ClientAuthenticationError,
    )

    return ClientAuthenticationError, AzureError
