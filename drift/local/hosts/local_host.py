"""The function's routes without the Functions host: the same table, handlers and guard.

Beside them stands `/`, which leads to the page to ask in, and that there is no `/favicon.ico`. The
platform's keys are off, so it listens on loopback only and answers to this machine's names alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from uuid import uuid4

from starlette import routing
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drift.core.errors import NotFoundError, StoppingError
from drift.http import answer_headers, at_import, http
from drift.http.auth import Authentication
from drift.http.dispatcher import Dispatcher
from drift.http.page import PAGE
from drift.http.provider import ServiceProvider
from drift.http.route import Call, Route
from drift.http.service import Service
from drift.http.settings import Settings
from drift.local.hosts.loopback_server import listening
from drift.local.hosts.same_machine import write_unrouted
from drift.local.ingest.sent_files import read_sent
from drift.routes import ROUTES

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
_UNKNOWN = "There is nothing under this path; /openapi.yaml lists the routes."


async def _to_page(_call: Call) -> Response:
    return RedirectResponse(PAGE)


async def _no_icon(_call: Call) -> Response:
    """Browsers ask for it beside every document; the page names its own."""
    return Response(status_code=204)


OWN_ROUTES = (
    Route("GET", "", _to_page, is_open=True),
    Route("GET", "favicon.ico", _no_icon, is_open=True),
)


def build_dispatcher(build: Callable[[Settings], Service] | None = None) -> Dispatcher:
    """Return what answers calls of the function in this process; it opens nothing yet.

    `build` is that of ServiceProvider.
    """
    authentication = Authentication(platform_asks_for_keys=at_import.platform_asks_for_keys())
    return Dispatcher(authentication, ServiceProvider(build=build, read_file=read_sent))


def build_app(
    dispatcher: Dispatcher, routes: Sequence[Route] = (*OWN_ROUTES, *ROUTES)
) -> Starlette:
    """Return routes as one app; to other methods it says which there are.

    The platform answers what no function has itself: with 404, whether the path or the method.
    """
    by_path: dict[str, dict[str, Route]] = {}
    for route in routes:
        path = "/" + re.sub(r"{\*(\w+)}", r"{\1:path}", route.path)
        by_path.setdefault(path, {}).update(dict.fromkeys(route.methods.split(), route))

    # A path that takes what is left comes last, as on the platform.
    ordered = sorted(by_path.items(), key=lambda one: ":path}" in one[0])
    listed = [
        routing.Route(path, _endpoint(dispatcher, of_path), methods=_METHODS)
        for path, of_path in ordered
    ]
    return Starlette(
        routes=listed, middleware=[Middleware(AsWritten)], exception_handlers={404: _nothing_here}
    )


async def _nothing_here(request: Request, _error: Exception) -> Response:
    return _of_nobody(request, http.problem(NotFoundError(_UNKNOWN), str(uuid4())))


def _of_nobody(request: Request, response: Response) -> Response:
    """Name an answer that no route gives."""
    answer_headers.name(response, request.headers, str(uuid4()))
    write_unrouted(request.method, response.status_code)
    return response


def _endpoint(
    dispatcher: Dispatcher, by_method: Mapping[str, Route]
) -> Callable[[Request], Awaitable[Response]]:
    allowed = {"allow": ", ".join(sorted({*by_method, "OPTIONS"}))}

    async def call(request: Request) -> Response:
        if route := by_method.get(request.method):
            context = SimpleNamespace(invocation_id=str(uuid4()))
            return await dispatcher.answer(route, request, context)
        status = 204 if request.method == "OPTIONS" else 405
        return _of_nobody(request, Response(None, status, allowed))

    return call


class AsWritten:
    """Chooses routes by the path as it was sent, as the platform does: `%2F` is no slash there."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand in front of the routes."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its path undecoded."""
        if scope["type"] == "http":
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self._app(scope, receive, send)


class UntilStopped:
    """Hands on requests as they come; told to stop, it refuses those that are not there whole."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand in front of an app."""
        self._app = app
        self._waiting: set[asyncio.Timeout] = set()
        self._is_stopped = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request."""
        is_whole = False

        async def received() -> Message:
            nonlocal is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout(0 if self._is_stopped else None) as waiting:
                    self._waiting.add(waiting)
                    message = await receive()
            except TimeoutError:
                raise StoppingError from None
            finally:
                self._waiting.discard(waiting)
            is_whole = not message.get("more_body", False)
            return message

        await self._app(scope, received, send)

    def stop(self) -> None:
        """Refuse requests whose body has not arrived yet."""
        self._is_stopped = True
        for waiting in self._waiting:
            waiting.reschedule(0)


@asynccontextmanager
async def serving(
    port: int | None = 0,
    preferred: int | None = None,
    allowed: Collection[str] = (),
    dispatcher: Dispatcher | None = None,
) -> AsyncIterator[str]:
    """Serve the function's routes on loopback while the block runs; gives the URL.

    Port 0 takes a free one, None the preferred one or, when that is taken, a free one. `allowed`
    names hosts beside this machine's own. Files that are sent are read as an ingest does. At the
    end requests in flight get the contract's error, and the clients that requests have opened are
    closed.

    Raises:
        LocalStackError: when the port is taken.
    """
    dispatcher = dispatcher or build_dispatcher()
    app = UntilStopped(build_app(dispatcher))

    async def told_to_end() -> None:
        app.stop()
        await dispatcher.provider.stop()

    try:
        async with listening(app, port, preferred, allowed=allowed, end=told_to_end) as url:
            yield url
    finally:
        await dispatcher.provider.close()
