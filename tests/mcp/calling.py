"""Calling the tools: with the official client, and with messages as they go over the wire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

import httpx2
from mcp.client import Client
from mcp.client import session as client_session
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from tests.security.raw_http import JSON, Answer, events

MODERN, LEGACY = ERAS = ("2026-07-28", "2025-06-18")
"""A protocol without sessions, and the one before it that most clients speak."""
TOOLS = {"retrieve", "search", "read_source", "list_projects"}


@asynccontextmanager
async def connected(url: str, era: str, **headers: str) -> AsyncIterator[Client]:
    """Give the official client of an era."""
    mode = "auto" if era == MODERN else "legacy"
    with mock.patch.object(client_session, "LATEST_HANDSHAKE_VERSION", era):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):
            assert client.protocol_version == era
            yield client


def message(
    method: str, params: Mapping[str, Any], era: str = MODERN
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a message."""
    headers = {**JSON, "accept": "application/json, text/event-stream", "mcp-protocol-version": era}
    if era == MODERN:
        headers |= {"mcp-method": method, "mcp-name": str(params.get("name", ""))}
        meta = {PROTOCOL_VERSION_META_KEY: era, CLIENT_CAPABILITIES_META_KEY: {}}
        params = {**params, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return headers, json.dumps(body).encode()


def tool(name: str, era: str = MODERN, **arguments: Any) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a call to a tool."""
    return message("tools/call", {"name": name, "arguments": arguments}, era)


def reply(answer: Answer) -> dict[str, Any]:
    """Return the JSON-RPC message in an answer, a stream of events or none."""
    is_stream = dict(answer.headers)["content-type"].startswith("text/event-stream")
    data = events(answer.body)[-1][1] if is_stream else answer.body
    read: dict[str, Any] = json.loads(data)
    return read
