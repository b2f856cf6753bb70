"""The service in this process: the routes of the local host, called without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Self, cast

import httpx2
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message

from drift.auth.caller import EVERYBODY, Caller
from drift.auth.resolvers import RequestHeaders
from drift.client.methods import Methods
from drift.http import settings as environment
from drift.http.asgi import respond
from drift.http.auth import Authentication
from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.service import Service
from drift.http.settings import Settings
from drift.local.hosts.local_host import build_app
from drift.local.ingest.sent_files import read_sent
from drift.routes import ROUTES


class Drift(Methods):
    """The service in this process, by the settings of the environment or by these.

    Its caller may read and write every project, whatever AUTH_MODE and ENABLE_INDEXING say. It
    belongs to the loop that it is first used in; connections close at the end of the block.
    `build` makes the service in the place of the usual wiring.

    Raises:
        NotConfiguredError: at the beginning of the block, settings are missing or wrong.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        build: Callable[[Settings], Service] | None = None,
    ) -> None:
        """Read nothing and open nothing yet."""

        def read() -> Settings:
            given = settings or environment.load()
            return given.model_copy(update={"enable_indexing": True})

        self._services = ServiceProvider(read, build=build, read_file=read_sent)
        app = build_app(Dispatcher(_Owner(platform_asks_for_keys=True), self._services), ROUTES)
        transport = _InProcess(app)
        super().__init__(httpx2.AsyncClient(transport=transport, base_url="http://in-process"))

    @classmethod
    def from_env(cls) -> Self:
        """Return it by the settings of the environment."""
        return cls()

    async def __aenter__(self) -> Self:
        """Build the service; nothing is connected yet."""
        await self._services.get()
        return self

    async def close(self) -> None:
        """End what still runs, and close the connections."""
        await super().close()
        await self._services.stop()
        await self._services.close()


class _Owner(Authentication):
    """Whoever runs the process asks."""

    async def caller(self, headers: RequestHeaders) -> Caller:  # noqa: ARG002 - it needs none
        return EVERYBODY


class _InProcess(httpx2.AsyncBaseTransport):
    """Hands requests to an app, and answers on as they come."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path, _, query = request.url.raw_path.partition(b"?")
        scope = {
            "type": "http",
            "method": request.method,
            "scheme": "http",
            "server": None,
            "root_path": "",
            "path": request.url.path,
            "raw_path": path,
            "query_string": query,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
        }

        async def nothing_more() -> Message:
            return await asyncio.Future()

        body = await request.aread()
        response, end = await respond(self._app, Request(scope, nothing_more), body)
        parts = cast("AsyncGenerator[bytes]", cast("StreamingResponse", response).body_iterator)
        stream = _Parts(parts, end)
        return httpx2.Response(response.status_code, headers=response.raw_headers, stream=stream)


class _Parts(httpx2.AsyncByteStream):
    """The body of an answer; closing it ends the work."""

    def __init__(self, parts: AsyncGenerator[bytes], end: Callable[[], object]) -> None:
        self._parts = parts
        self._end = end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part

    async def aclose(self) -> None:
        self._end()
        await self._parts.aclose()
