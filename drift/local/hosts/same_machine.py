"""Who may speak to a server on loopback: this machine's programs, and the server's own pages.

A page of elsewhere can have its name resolve to 127.0.0.1 and would then read answers as its own
(DNS rebinding). Its requests still carry that name in `Host`, and what they carry in `Origin` is
not this server.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from ipaddress import IPv6Address
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from drift.core.errors import ForeignHostError
from drift.core.logs import REQUEST_ENDED, log
from drift.http import answer_headers, http

NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")
_MAX_SHOWN = 100


class SameMachine:
    """Lets an app see only requests to this machine's names, and of its own pages."""

    def __init__(self, app: ASGIApp, allowed: Collection[str] = ()) -> None:
        """Guard the app; `allowed` names hosts of a proxy in front, each as `host_name` gives it.

        Ports do not matter: tunnels change them.
        """
        self._app = app
        self._allowed = frozenset(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 or hand on."""
        app = self._app
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if error := self._objection(headers):
                id_ = str(uuid4())
                app = refusal = http.problem(error, id_)
                answer_headers.name(refusal, headers, id_)
                write_unrouted(scope["method"], error.status)
        await app(scope, receive, send)

    def _objection(self, headers: Headers) -> ForeignHostError | None:
        host = headers.get("host", "")
        if _name_in(f"//{host}") not in NAMES | self._allowed:
            return _refusal("Host", host)

        for origin in headers.getlist("origin"):
            own_page = origin.lower().partition("://")[2] == host.lower()
            if not own_page and _name_in(origin) not in self._allowed:
                return _refusal("Origin", origin)

        return None


def write_unrouted(method: str, status: int) -> None:
    """Write the line of a request that no route answers; whatever its path is, it is not told."""
    log.info(
        REQUEST_ENDED,
        extra={"method": method, "route": "none", "status": status, "duration_s": 0.0},
    )


def host_name(given: str) -> str:
    """Return the name of one host as it is compared: in small letters, without brackets.

    Raises:
        ValueError: it is no name of a host, or more than that.
    """
    with suppress(ValueError):
        return str(IPv6Address(given.removeprefix("[").removesuffix("]")))

    if not _HOST.fullmatch(given):
        raise ValueError(
            f"{given[:_MAX_SHOWN]!r} is not the name of one host: write it without http://, port, "
            "path, spaces and *, and other letters than a to z as xn--"
        )

    return given.lower()


def _name_in(address: str) -> str | None:
    """Return the host's name in an address; None when it is none."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises when it is no number
    except ValueError:
        return None
    return None if "@" in parts.netloc or parts.path else parts.hostname


def _refusal(header: str, value: str) -> ForeignHostError:
    return ForeignHostError(
        f"This server answers to localhost and to its own pages, and the {header} of this request "
        f"is {value[:_MAX_SHOWN]!r}. If a proxy stands in front, start it with --allow-host NAME."
    )
