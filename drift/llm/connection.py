"""How a model server is reached: one pool of connections, and tokens in place of keys."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable
from contextvars import ContextVar
from urllib.parse import urlsplit

import httpx2

from drift.auth.entra import TokenCredential, TokenSource, identity, sdk_errors
from drift.core.errors import ModelMisconfiguredError, ModelUnavailableError
from drift.llm.reply_limits import BoundedClient
from drift.telemetry import otel

pool: ContextVar[Callable[..., BoundedClient]] = ContextVar("drift_pool", default=BoundedClient)
"""What makes connection pools, with BoundedClient's own arguments; a recording has another."""


def http_client(base_url: str, timeout_s: float, max_reply_bytes: int) -> BoundedClient:
    """Build the connection pool; waiting for a free connection counts as waiting for the answer."""
    # Below that it writes a line with the address for every request.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    return pool.get()(
        max_reply_bytes,
        timeout=httpx2.Timeout(connect=5.0, read=timeout_s, write=10.0, pool=timeout_s),
        limits=httpx2.Limits(
            max_connections=256,
            max_keepalive_connections=32,
            keepalive_expiry=60.0,  # Azure's load balancer cuts idle ones after 4 minutes
        ),
        event_hooks={"request": [_carry_trace]},
        # A proxy cannot reach this machine's own ports.
        trust_env=not _is_loopback(urlsplit(base_url).hostname or ""),
    )


async def _carry_trace(request: httpx2.Request) -> None:
    """Pass the caller's trace on with every request, unless an instrumentation did."""
    for name, value in otel.outgoing().items():
        request.headers.setdefault(name, value)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class EntraTokens:
    """Tokens of the managed identity `client_id`, or of whoever is signed in on this machine.

    Raises errors of ours alone, so that a request names the missing part; `key` is the setting that
    makes tokens needless.
    """

    def __init__(
        self,
        client_id: str | None,
        credential: TokenCredential | None = None,
        *,
        scope: str,
        key: str,
    ) -> None:
        """Remember the identity, or the credential to use instead; nothing is asked yet."""
        self._refused, self._failed = sdk_errors()  # here, and never in the event loop
        self._source = TokenSource(scope, lambda: credential or identity(client_id))
        self._key = key

    async def __call__(self) -> str:
        """Return a token that is valid now.

        Raises:
            ModelMisconfiguredError: when no credential works.
            ModelUnavailableError: when Entra ID cannot be reached.
        """
        try:
            return (await self._source.get()).token
        except self._refused as error:
            raise ModelMisconfiguredError(
                "No Entra ID token for the model server: give the app an identity with access, "
                f"sign in, or set {self._key}."
            ) from error
        except self._failed as error:
            raise ModelUnavailableError(
                "Entra ID, which gives the token for the model server, cannot be reached."
            ) from error
