"""MCP over HTTP: each POST is answered by itself, in either era of the protocol."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from drift.integrations.mcp_server import Asker, build_server

_SERVER = build_server(lambda request: request.scope["asker"])
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a message for the `asker` of the scope; whatever was begun for it ends with it.

    Who calls the function by another name than its own, or from a page of another site, is refused.
    """
    asker: Asker = scope["asker"]
    hosts = [*asker.service.settings.own_names, *_LOOPBACK]
    origins = [f"{scheme}://{host}" for scheme in ("https", "http") for host in hosts]
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )
    # a manager cannot be run twice, and this one holds no sessions
    _SERVER.streamable_http_app(stateless_http=True, transport_security=security)
    manager = _SERVER.session_manager
    async with manager.run():
        await manager.handle_request(scope, receive, send)
