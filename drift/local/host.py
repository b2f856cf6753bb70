"""The function's routes without the Functions host: what `function_app.app` registered, on a Starlette app.

Routes, methods and authorisation levels are read from the app itself and its own handlers are called, so that nothing
can be served here that the function does not have. Keys are off, so it listens on loopback only.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from drift.errors import LocalStackError

LOOPBACK = "127.0.0.1"
FUNCTION_APP = "function_app"
PROJECT_ROOT = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True, slots=True)
class RegisteredRoute:
    """A function's HTTP trigger as the app registered it."""

    path: str
    methods: tuple[str, ...]
    auth_level: str
    handler: Any


def registered_routes(app: Any) -> list[RegisteredRoute]:  # noqa: ANN401 - an azure.functions.FunctionApp
    """Return the HTTP functions of a function app."""
    routes = []
    app.functions_bindings = None  # it remembers the names it has told, and refuses to tell them twice
    for function in app.get_functions():
        trigger = function.get_trigger().get_dict_repr()
        if trigger["type"] == "httpTrigger":
            methods = tuple(str(getattr(m, "value", m)) for m in trigger.get("methods") or ("GET", "POST"))
            level = str(getattr(trigger["authLevel"], "value", trigger["authLevel"]))
            route = trigger.get("route") or function.get_function_name()
            routes.append(RegisteredRoute(f"/{route}", methods, level, function.get_user_function()))
    return routes


def local_app(module: str = FUNCTION_APP) -> Starlette:
    """Return the routes of a function app module as a Starlette app; wrong methods get 404, as on the platform."""
    if PROJECT_ROOT not in sys.path:
        sys.path.append(PROJECT_ROOT)  # the platform, too, runs with the app's folder on the path
    return Starlette(routes=[_route(r) for r in registered_routes(import_module(module).app)])


def _route(registered: RegisteredRoute) -> Route:
    async def call(request: Request) -> Response:
        if request.method not in registered.methods:
            return Response(status_code=404)
        response: Response = await registered.handler(request, SimpleNamespace(invocation_id=str(uuid4())))
        return response

    return Route(registered.path, call, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])


@asynccontextmanager
async def serving(port: int = 0) -> AsyncIterator[str]:
    """Serve the function's routes on loopback while the block runs; gives the URL. Port 0 takes a free one.

    The clients that the requests have opened are closed at the end.

    Raises:
        LocalStackError: when the port is taken.
    """
    listener = _listen(port)
    # uvicorn writes nothing below a warning: the command line says what people need to know
    config = uvicorn.Config(
        local_app(), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=3
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn offers a flag, no event
            await asyncio.sleep(0.01)
        if task.done():
            raise LocalStackError("The local host could not be started.") from task.exception()
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()
        await import_module(FUNCTION_APP).provider.close()


class _Server(uvicorn.Server):
    """Leaves signals to the command that runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _listen(port: int) -> socket.socket:
    # the protocol is named, or asyncio would leave Nagle on: 40 ms a request
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise LocalStackError(
            f"Port {port} on {LOOPBACK} cannot be used ({error.strerror}); give another one with --port."
        ) from error
    return listener
