"""The function's routes without the Functions host: what `function_app.app` registered.

Routes, methods and authorisation levels are read from the app itself and its own handlers are
called, so that nothing can be served here that the function does not have, but `/`, which leads to
the page to ask in. Keys are off, so it listens on loopback only and answers to this machine's
names alone.
"""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from drift.core.errors import LocalStackError, StoppingError
from drift.http.page import PAGE
from drift.local import PROJECT
from drift.local.hosts.same_machine import SameMachine
from drift.local.stack.loopback import HOST, candidates, listen

FUNCTION_APP = "function_app"
GRACE_S = 3.0
"""How long requests that have been told to end may take to do so."""
ARRIVAL_S = 30.0
"""How long a request may take to arrive, head and body, from the connection or the last answer."""
MAX_AHEAD_BYTES = 1 << 17
"""What a client may send before its request is answered: a next one with the largest body, and its
head."""


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


class LocalHost:
    """Carries requests to the handlers of a function app.

    Told to stop, it lets none wait for its client.
    """

    def __init__(self, module: str = FUNCTION_APP) -> None:
        """Import the module."""
        # the platform, too, runs with the app's folder on the path
        if str(PROJECT) not in sys.path:
            sys.path.append(str(PROJECT))
        self._routes = registered_routes(import_module(module).app)
        self._stopping = asyncio.Event()
        self._handlers: set[asyncio.Task[Any]] = set()

    def app(self) -> Starlette:
        """Return the routes as a Starlette app; wrong methods get 404, as on the platform."""
        routes = [
            Route("/", _to_the_page, methods=["GET"]),
            *(self._route(path, by_method) for path, by_method in self._by_path().items()),
        ]
        return Starlette(routes=routes, middleware=[Middleware(AsWritten)])

    def _by_path(self) -> dict[str, dict[str, RegisteredRoute]]:
        """Return what answers each method of each path."""
        found: dict[str, dict[str, RegisteredRoute]] = {}
        for route in self._routes:
            found.setdefault(route.path, {}).update(dict.fromkeys(route.methods, route))
        return found

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
                return Response(status_code=404)
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
            methods=["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
        )

    def _until_stopping(self, request: Request) -> Any:  # noqa: ANN401 - starlette's Receive
        """Return what receives the request's body.

        Told to stop, it raises StoppingError instead of waiting for the rest.
        """
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


async def _to_the_page(_request: Request) -> Response:
    return RedirectResponse(PAGE)


@asynccontextmanager
async def serving(
    port: int | None = 0, preferred: int | None = None, allowed: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serve the function's routes on loopback while the block runs; gives the URL.

    Port 0 takes a free one, None the preferred one or, when that is taken, a free one. `allowed`
    names hosts beside this machine's own. At the end requests in flight get the contract's error,
    and the clients that requests have opened are closed.

    Raises:
        LocalStackError: when the port is taken.
    """
    host, function = LocalHost(), import_module(FUNCTION_APP)

    async def told_to_end() -> None:
        host.stop_reading()
        await function.provider.stop()

    try:
        async with listening(
            host.app(), port, preferred, allowed=allowed, end=told_to_end, cut=host.cut
        ) as url:
            yield url
    finally:
        await function.provider.close()
        function.authentication.forget()


@asynccontextmanager
async def listening(  # noqa: PLR0913 - all by name but the ports
    app: ASGIApp,
    port: int | None = None,
    preferred: int | None = None,
    *,
    allowed: Collection[str] = (),
    end: Callable[[], Awaitable[None]] | None = None,
    cut: Callable[[], None] = lambda: None,
) -> AsyncIterator[str]:
    """Serve an app on loopback, for this machine alone; ports are those of `serving`.

    At the end, `end` tells requests to end, and after a grace connections are cut and `cut` does
    what is left.

    Raises:
        LocalStackError: when the port is taken.
    """
    listener = _listener(port, preferred)
    # uvicorn writes nothing below an error: the command line says what people need to know
    config = uvicorn.Config(
        SameMachine(app, allowed),
        http=_Protocol,
        ws="none",
        log_level="error",
        access_log=False,
        lifespan="off",
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn offers a flag, no event
            await asyncio.sleep(0.01)
        if task.done():
            raise LocalStackError("The local host could not be started.") from task.exception()
        yield f"http://{HOST}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        if end:
            await end()
        await asyncio.wait({task}, timeout=GRACE_S)
        if not task.done():  # clients that do not read, or a health check that waits
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            cut()
        await task
        listener.close()


class _Server(uvicorn.Server):
    """Leaves signals to the command that runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Protocol(H11Protocol):
    """Reads on while it answers, and waits for a request no longer than `ARRIVAL_S`.

    A client that has sent its next request already could otherwise not be seen to leave.
    """

    _given_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._wait_no_longer()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        """Begin to wait, unless the request is there, is waited for already, or none can come."""
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._wait_no_longer()
        elif self._given_up is None and not self.transport.is_closing():
            self._given_up = self.loop.call_later(ARRIVAL_S, self.transport.abort)

    def _wait_no_longer(self) -> None:
        if self._given_up:
            self._given_up.cancel()
            self._given_up = None

    def data_received(self, data: bytes) -> None:
        """Take data; a connection that sends too much ahead of its answer is cut."""
        super().data_received(data)
        self._wait()
        if self.conn.their_state is h11.DONE and self.flow.read_paused:
            if len(self.conn.trailing_data[0]) > MAX_AHEAD_BYTES:
                self.transport.abort()
            else:
                self.flow.resume_reading()


def _listener(port: int | None, preferred: int | None) -> socket.socket:
    for candidate in (port,) if port == 0 else candidates(port, preferred):
        try:
            return listen(candidate)
        except OSError as error:
            failure = error
    raise LocalStackError(
        f"No port on {HOST} can be used ({failure.strerror}); name one with --port."
    ) from failure
