"""One client for the model server.

Which paths it speaks, how it proves who it is, how long it waits.
"""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx2
from openai import AsyncAzureOpenAI, AsyncOpenAI

from drift.auth.entra import TokenCredential, TokenSource, identity, sdk_errors
from drift.core.errors import ModelMisconfiguredError, ModelUnavailableError
from drift.llm.reply_limits import BoundedClient
from drift.telemetry import otel

TokenProvider = Callable[[], Awaitable[str]]

AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
OPENAI_HOST = "api.openai.com"
ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default"

CONNECT_S = 5.0
WRITE_S = 10.0
KEEPALIVE_S = 60.0
"""Idle connections are closed before Azure's load balancer cuts them, after 4 minutes."""
MAX_CONNECTIONS = 256

_VERSIONED = re.compile(r"/v\d+[a-z0-9]*(/|$)")
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Where the model server is and how to sign in.

    With `key`, or as an Entra ID identity when there is none.
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    timeout_s: float = 60.0
    azure_client_id: str | None = None
    max_reply_bytes: int = 4 * 1024 * 1024


def build_client(server: ModelServer, tokens: TokenProvider | None = None) -> AsyncOpenAI:
    """Return a client for chat and embeddings that never retries by itself.

    With `api_version` it speaks the classic Azure paths (`/openai/deployments/...`), without it the
    v1 API. `tokens` replaces the Entra ID tokens that are used when there is no key; they are only
    ever sent to Azure.
    """
    parts = urlsplit(server.base_url)
    if not server.key and not tokens and (server.api_version or is_azure(parts)):
        tokens = EntraTokens(server.azure_client_id)

    shared: dict[str, Any] = {"max_retries": 0, "http_client": _http_client(server, parts)}
    if server.api_version:
        credential = {"api_key": server.key} if server.key else {"azure_ad_token_provider": tokens}
        return AsyncAzureOpenAI(
            azure_endpoint=resource_url(parts),
            api_version=server.api_version,
            **credential,
            **shared,
        )

    return AsyncOpenAI(base_url=v1_url(parts), api_key=server.key or tokens or _NO_KEY, **shared)


def _http_client(server: ModelServer, parts: SplitResult) -> BoundedClient:
    """Build the connection pool; waiting for a free connection counts as waiting for the answer."""
    # Below that it writes a line with the address for every request.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    timeout_s = server.timeout_s
    return BoundedClient(
        server.max_reply_bytes,
        timeout=httpx2.Timeout(connect=CONNECT_S, read=timeout_s, write=WRITE_S, pool=timeout_s),
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=32,
            keepalive_expiry=KEEPALIVE_S,
        ),
        event_hooks={"request": [_carry_trace]},
        # A proxy cannot reach this machine's own ports.
        trust_env=not _is_loopback(parts.hostname or ""),
    )


def provider_name(server: ModelServer) -> str:
    """Return what traces and metrics call the server, OpenTelemetry's `gen_ai.provider.name`."""
    return (
        "azure.ai.openai" if server.api_version or is_azure(urlsplit(server.base_url)) else "openai"
    )


def knows_cache_options(server: ModelServer) -> bool:
    """Tell whether the server is of a make whose API has `prompt_cache_options`."""
    parts = urlsplit(server.base_url)
    return not server.api_version and (is_azure(parts) or parts.hostname == OPENAI_HOST)


async def _carry_trace(request: httpx2.Request) -> None:
    """Pass the caller's trace on with every request, unless an instrumentation did."""
    for name, value in otel.outgoing().items():
        request.headers.setdefault(name, value)


def is_azure(parts: SplitResult) -> bool:
    """Tell whether the host is one of Azure's for OpenAI models."""
    return (parts.hostname or "").endswith(AZURE_HOSTS)


def v1_url(parts: SplitResult) -> str:
    """Return the base URL of the v1 API; a path that names a version already is kept."""
    path = parts.path.rstrip("/")
    if _VERSIONED.search(path):
        return _rebuilt(parts, path)
    if is_azure(parts) and not path.endswith("/openai"):
        path += "/openai"
    return _rebuilt(parts, path + "/v1")


def resource_url(parts: SplitResult) -> str:
    """Return the address of an Azure resource, without the API's own path."""
    path = parts.path.rstrip("/").removesuffix("/v1").removesuffix("/openai")
    return _rebuilt(parts, path)


def _rebuilt(parts: SplitResult, path: str) -> str:
    return parts._replace(path=path, query="", fragment="").geturl()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class EntraTokens:
    """Tokens of the managed identity `client_id`, or of whoever is signed in on this machine.

    Raises errors of ours alone, so that a request says what is missing.
    """

    def __init__(self, client_id: str | None, credential: TokenCredential | None = None) -> None:
        """Remember the identity, or the credential to use instead; nothing is asked yet."""
        self._refused, self._failed = sdk_errors()  # here, and never in the event loop
        self._source = TokenSource(ENTRA_SCOPE, lambda: credential or identity(client_id))

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
                "sign in, or set OAI_KEY."
            ) from error
        except self._failed as error:
            raise ModelUnavailableError(
                "Entra ID, which gives the token for the model server, cannot be reached."
            ) from error
