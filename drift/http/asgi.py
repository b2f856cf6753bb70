"""The answer of an ASGI app as a response of ours, as it comes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message

from drift.http.failures import log_failure

CLIENT_GONE = 499


async def respond(
    app: ASGIApp, request: Request, body: bytes, **scope: object
) -> tuple[Response, Callable[[], object]]:
    """Return what an app answers, and what ends its work; a client that leaves ends it too.

    The body has been read already. `scope` is added to that of the request. The app inherits the
    context variables of whoever calls this.
    """
    ahead: deque[Message] = deque([{"type": "http.request", "body": body}])
    sent: asyncio.Queue[Message | None] = asyncio.Queue()

    async def receive() -> Message:
        return ahead.popleft() if ahead else await request.receive()

    async def serve() -> None:
        await app({**request.scope, **scope}, receive, sent.put)

    task = asyncio.create_task(serve())
    task.add_done_callback(lambda _: sent.put_nowait(None))
    try:
        first = await sent.get()
    except asyncio.CancelledError:
        task.cancel()
        raise

    if first is None:
        await task  # raises what went wrong
        return Response(status_code=CLIENT_GONE), task.cancel

    response = StreamingResponse(_bodies(sent, task, request.url.path), first["status"])
    response.raw_headers = list(first["headers"])
    return response, task.cancel


async def _bodies(
    sent: asyncio.Queue[Message | None], task: asyncio.Task[None], path: str
) -> AsyncIterator[bytes]:
    try:
        while (message := await sent.get()) is not None:
            yield message.get("body", b"")
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            log_failure(error, {}, path)
    finally:
        task.cancel()
