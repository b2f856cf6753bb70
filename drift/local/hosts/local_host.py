"""The function's routes without the Functions host: what `function_app.app` registered.

Routes, methods and authorisation levels are read from the app itself and its own handlers are
called, so that nothing can be served here that the function does not have, but `/`, which leads to
the page to ask in, and that there is no `/favicon.ico`. Keys are off, so it listens on loopback
only and answers to this machine's names alone.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drift.core.errors import StoppingError
from drift.http.page import PAGE
from drift.local import PROJECT
from drift.local.hosts.server import listening
from drift.local.ingest.sent_files import read_sent

FUNCTION_APP = "function_app"


@dataclass(frozen=True, slots=True)
class RegisteredRoute:
    """A function's HTTP trigger as the app registered it."""

    path: str
    methods: tuple[str, ...]
    auth_level: str
    handler: Any


def registered_routes(app: Any) -> list[RegisteredRoute]:  # noqa: ANN401 - an azure.functions.FunctionApp
    """Return the HTTP functions of a function app."""
    # it remembers the names that it has listed, and refuses to list them twice
    app.functions_bindings = None

    routes = []
    for function in app.get_functions():
        trigger = function.get_trigger().get_dict_repr()
        if trigger["type"] != "httpTrigger":
            continue
        path = trigger.get("route") or function.get_function_name()
        methods = tuple(_word(method) for method in trigger.get("methods") or ("GET", "POST"))
        level = _word(trigger["authLevel"])
        routes.append(RegisteredRoute(f"/{path}", methods, level, function.get_user_function()))

    return routes


def _word(value: Any) -> str:  # noqa: ANN401 - an enum of azure.functions, or a text
    return str(getattr(value, "value", value))


async def _to_page(_request: Request, _context: object) -> Response:
    return RedirectResponse(PAGE)


async def _no_icon(_request: Request, _context: object) -> Response:
    """Browsers ask for it beside every document; the page names its own."""
    return Response(status_code=204)


_OWN_ROUTES = (
    RegisteredRoute("/", ("GET",), "anonymous", _to_page),
    RegisteredRoute("/favicon.ico", ("GET",), "anonymous", _no_icon),
)


class LocalHost:
    """Carries requests to the handlers of a function app, until it is told to stop."""

    def __init__(self, module: str = FUNCTION_APP) -> None:
        """Import the module."""
        # the platform, too, runs with the app's folder on the path
        if str(PROJECT) not in sys.path:
            sys.path.append(str(PROJECT))
        self._routes = registered_routes(import_module(module).app)
        self._stopping = asyncio.Event()
        self._handlers: set[asyncio.Task[Any]] = set()

    def app(self) -> Starlette:
        """Return the routes as a Starlette app; to others, methods and paths, it says what it has.

        The platform answers a method that no function has itself.
        """
        by_path: dict[str, dict[str, RegisteredRoute]] = {}
        for route in (*_OWN_ROUTES, *self._routes):
            by_path.setdefault(route.path, {}).update(dict.fromkeys(route.methods, route))

        routes = [self._route(path, by_method) for path, by_method in by_path.items()]
        return Starlette(routes=routes, middleware=[Middleware(AsWritten)])

    def stop_reading(self) -> None:
        """Refuse requests whose body has not arrived yet."""
        self._stopping.set()

    def cut(self) -> None:
        """Cancel the handlers that still run."""
        for task in self._handlers:
            task.cancel()

    def _route(self, path: str, by_method: Mapping[str, RegisteredRoute]) -> Route:
        async def call(request: Request) -> Response:
            registered = by_method.get(request.method)
            if registered is None:
                allowed = {"allow": ", ".join(sorted({*by_method, "OPTIONS"}))}
                return Response(None, 204 if request.method == "OPTIONS" else 405, allowed)

            impatient = Request(request.scope, self._until_stopping(request))
            context = SimpleNamespace(invocation_id=str(uuid4()))
            task = asyncio.current_task()
            assert task  # noqa: S101 - this runs in one
            self._handlers.add(task)
            try:
                response: Response = await registered.handler(impatient, context)
            except asyncio.CancelledError:
                return Response(status_code=503)  # nobody reads it: the connection is gone by now
            finally:
                self._handlers.discard(task)

            return response

        return Route(
            re.sub(r"{\*(\w+)}", r"{\1:path}", path),
            call,
            methods=["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"],
        )

    def _until_stopping(self, request: Request) -> Any:  # noqa: ANN401 - starlette's Receive
        """Return what receives a body; told to stop, it raises StoppingError instead of waiting."""
        whole = False

        async def receive() -> Message:
            nonlocal whole
            if whole:
                return await request.receive()

            arriving = asyncio.ensure_future(request.receive())
            stopping = asyncio.ensure_future(self._stopping.wait())
            try:
                await asyncio.wait({arriving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not arriving.done():
                    raise StoppingError
                whole = not arriving.result().get("more_body", False)
                return arriving.result()
            finally:
                arriving.cancel()
                stopping.cancel()

        return receive


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


@asynccontextmanager
async def serving(
    port: int | None = 0, preferred: int | None = None, allowed: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serve the function's routes on loopback while the block runs; gives the URL.

    Port 0 takes a free one, None the preferred one or, when that is taken, a free one. `allowed`
    names hosts beside this machine's own. Files that are sent are read as an ingest does. At the
    end requests in flight get the contract's error, and the clients that requests have opened are
    closed.

    Raises:
        LocalStackError: when the port is taken.
    """
    host, function = LocalHost(), import_module(FUNCTION_APP)
    function.provider.read_file = read_sent

    async def told_to_end() -> None:
        host.stop_reading()
        await function.provider.stop()

    try:
        async with listening(
            host.app(), port, preferred, allowed=allowed, end=told_to_end, cut=host.cut
        ) as url:
            yield url
    finally:
        function.provider.read_file = None
        await function.provider.close()
        function.authentication.forget()
