"""Who may speak to a server on loopback: programs of this machine, and pages that this server itself would serve.

A page of elsewhere can have its name resolve to 127.0.0.1 and would then read answers as its own (DNS rebinding). Its
requests still carry that name in `Host`, and what they carry in `Origin` is not this server.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from drift import http
from drift.errors import ForeignHostError

NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_SHOWN = 100


class SameMachine:
    """Refuses requests of other names than this machine's, and of pages of elsewhere, before the app sees them."""

    def __init__(self, app: ASGIApp, port: int, allowed: Collection[str] = ()) -> None:
        """Guard the app of this port; `allowed` names hosts of a proxy in front, with whatever port."""
        self._app = app
        self._port = port
        self._allowed = frozenset(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 or hand on."""
        error = self._objection(Headers(scope=scope)) if scope["type"] == "http" else None
        if error is None:
            await self._app(scope, receive, send)
            return
        reply = http.problem(error, str(uuid4()))
        await Response(reply.body, reply.status, dict(reply.headers), reply.media_type)(scope, receive, send)

    def _objection(self, headers: Headers) -> ForeignHostError | None:
        for name, prefix in (("host", "//"), ("origin", "")):
            for value in headers.getlist(name):
                if not self._is_ours(prefix + value):
                    return ForeignHostError(
                        f"This server answers to localhost:{self._port} alone, and the request's {name.capitalize()} is "
                        f"{value[:_MOST_SHOWN]!r}. If a proxy stands in front, start it with --allow-host NAME."
                    )
        return None

    def _is_ours(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            name, port = parts.hostname or "", parts.port or {"https": 443}.get(parts.scheme, 80)
        except ValueError:
            return False
        return name in self._allowed or (name in NAMES and port == self._port)
