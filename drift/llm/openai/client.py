"""One client for the model server.

Which paths it speaks, how it proves who it is, how long it waits.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from openai import AsyncAzureOpenAI, AsyncOpenAI

from drift.llm.connection import EntraTokens, http_client

ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default"


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


def build_client(
    server: ModelServer, tokens: Callable[[], Awaitable[str]] | None = None
) -> AsyncOpenAI:
    """Return a client for chat and embeddings that never retries by itself.

    With `api_version` it speaks the classic Azure paths (`/openai/deployments/...`), without it the
    v1 API. `tokens` replaces the Entra ID tokens that are used when there is no key; they are only
    ever sent to Azure.
    """
    parts = urlsplit(server.base_url)
    if not server.key and not tokens and (server.api_version or is_azure(parts)):
        tokens = EntraTokens(server.azure_client_id, scope=ENTRA_SCOPE, key="OAI_KEY")

    shared: dict[str, Any] = {
        "max_retries": 0,
        "http_client": http_client(server.base_url, server.timeout_s, server.max_reply_bytes),
    }
    if server.api_version:
        credential = {"api_key": server.key} if server.key else {"azure_ad_token_provider": tokens}
        return AsyncAzureOpenAI(
            azure_endpoint=resource_url(parts),
            api_version=server.api_version,
            **credential,
            **shared,
        )

    return AsyncOpenAI(base_url=v1_url(parts), api_key=server.key or tokens or "none", **shared)


def provider_name(server: ModelServer) -> str:
    """Return the server's name in traces and metrics, OpenTelemetry's `gen_ai.provider.name`."""
    return (
        "azure.ai.openai" if server.api_version or is_azure(urlsplit(server.base_url)) else "openai"
    )


def knows_cache_options(server: ModelServer) -> bool:
    """Tell whether the server is of a make whose API has `prompt_cache_options`."""
    parts = urlsplit(server.base_url)
    return not server.api_version and (is_azure(parts) or parts.hostname == "api.openai.com")


def is_azure(parts: SplitResult) -> bool:
    """Tell whether the host is one of Azure's for OpenAI models."""
    return (parts.hostname or "").endswith(
        (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
    )


def v1_url(parts: SplitResult) -> str:
    """Return the base URL of the v1 API; a path that names a version already is kept."""
    path = _without_target(parts.path)
    if re.search(r"/v\d++[a-z0-9]*+(/|$)", path):
        return _rebuilt(parts, path)
    if is_azure(parts) and not path.endswith("/openai"):
        path += "/openai"
    return _rebuilt(parts, path + "/v1")


def resource_url(parts: SplitResult) -> str:
    """Return the address of an Azure resource, without the API's own path."""
    path = _without_target(parts.path).removesuffix("/v1").removesuffix("/openai")
    return _rebuilt(parts, path)


def _without_target(path: str) -> str:
    """Return a path without that of one call or deployment, which consoles give out as a target."""
    path = re.sub(
        r"/(?:(?:models/)?chat/completions|completions|embeddings|responses|models|"
        r"api/(?:chat|generate|embed|embeddings|tags))\Z",
        "",
        path.rstrip("/"),
    )
    return re.sub(r"(?:/openai)?/deployments/[^/]+\Z", "", path)


def _rebuilt(parts: SplitResult, path: str) -> str:
    return parts._replace(path=path, query="", fragment="").geturl()
