"""A request as it comes, and the answer of an ASGI app as a response of ours, as that comes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message

from drift.contracts.request import MAX_BODY_BYTES
from drift.http import http

CLIENT_GONE = 499
LEAVING_S = 1.0
"""How long work that was ended may take to leave what it has cost."""


async def read_body(request: Request, most: int = MAX_BODY_BYTES) -> bytes:
    """Return the body; refuse a large one by its declared length or as soon as it is too long."""
    http.check_size(http.declared_length(request.headers), most)
    body = bytearray()
    async for part in request.stream():
        body += part
        http.check_size(len(body), most)
    return bytes(body)


async def disconnected(request: Request) -> None:
    """Return when the client has gone; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def end(work: asyncio.Task[Any]) -> None:
    """Cancel work that goes on, and wait a moment until it has ended."""
    work.cancel()
    await asyncio.wait({work}, timeout=LEAVING_S)


async def respond(
    app: ASGIApp, request: Request, body: bytes, **scope: object
) -> tuple[Response, Callable[[], Awaitable[object]]]:
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
        return Response(status_code=CLIENT_GONE), partial(end, task)

    response = StreamingResponse(_bodies(sent, task, request.url.path), first["status"])
    response.raw_headers = list(first["headers"])
    return response, partial(end, task)


async def _bodies(
    sent: asyncio.Queue[Message | None], task: asyncio.Task[None], path: str
) -> AsyncIterator[bytes]:
    try:
        while (message := await sent.get()) is not None:
            yield message.get("body", b"")
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            http.log_failure(error, {}, path)
    finally:
        task.cancel()
