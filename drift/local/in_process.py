"""The service in this process: the routes of the local host, called without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self, cast

import httpx2
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message

from drift.auth.caller import EVERYBODY, Caller
from drift.auth.resolvers import RequestHeaders
from drift.client.methods import ServiceMethods
from drift.core.errors import NotConfiguredError
from drift.http import settings as environment
from drift.http import wiring
from drift.http.asgi import respond
from drift.http.auth import Authentication
from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.service import Service
from drift.http.settings import Settings
from drift.local.hosts.local_host import build_app
from drift.local.ingest.sent_files import read_sent
from drift.local.recording.replay import recording
from drift.routes import ROUTES


class Drift(ServiceMethods):
    """The service in this process, by the settings of the environment or by these.

    Its caller may read and write every project, whatever AUTH_MODE and ENABLE_INDEXING say. It
    belongs to the loop that it is first used in; connections close at the end of the block.
    `build` makes the service in the place of the usual wiring. Questions of the block are written
    to the new file `record`, for `drift replay`.

    Raises:
        NotConfiguredError: at the beginning of the block, settings are missing or wrong.
        LocalStackError: at the same time, the file exists or cannot be written.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        build: Callable[[Settings], Service] | None = None,
        record: Path | None = None,
    ) -> None:
        """Read nothing and open nothing yet."""
        self._opened = ExitStack()
        self._build, self._record = build, record

        def read() -> Settings:
            given = settings or environment.load()
            return given.model_copy(update={"enable_indexing": True})

        self._services = ServiceProvider(read, build=self._built, read_file=read_sent)
        app = build_app(Dispatcher(_Owner(platform_asks_for_keys=True), self._services), ROUTES)
        transport = _AppTransport(app)
        http = httpx2.AsyncClient(transport=transport, base_url="http://in-process")
        super().__init__(http, max_attempts=1)

    @classmethod
    def from_env(cls) -> Self:
        """Return it by the settings of the environment."""
        return cls()

    async def __aenter__(self) -> Self:
        """Build the service; nothing is connected yet."""
        if self._record is not None:
            self._build = self._opened.enter_context(recording(self._record))
        try:
            await self._services.get()
        except BaseException:
            self._opened.close()
            raise
        return self

    def _built(self, settings: Settings) -> Service:
        if self._record is not None and self._build is None:
            raise NotConfiguredError(("record: `async with` is needed, which ends the file.",))
        return (self._build or wiring.build_service)(settings)

    async def close(self) -> None:
        """End what still runs, and close the connections."""
        await super().close()
        await self._services.stop()
        await self._services.close()
        self._opened.close()


class _Owner(Authentication):
    """Whoever runs the process asks."""

    async def caller(self, headers: RequestHeaders) -> Caller:  # noqa: ARG002 - it needs none
        return EVERYBODY


class _AppTransport(httpx2.AsyncBaseTransport):
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

    def __init__(self, parts: AsyncGenerator[bytes], end: Callable[[], Awaitable[object]]) -> None:
        self._parts = parts
        self._end = end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part

    async def aclose(self) -> None:
        await self._end()
        await self._parts.aclose()
