"""The routes that answer questions, and how an answer is given: whole, or as a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from starlette.responses import Response, StreamingResponse

from drift.contracts.rag import RagRequest
from drift.contracts.request import RetrieveRequest
from drift.http import http
from drift.http.asgi import CLIENT_GONE, disconnected, end
from drift.http.joining import key_of
from drift.http.route import Call
from drift.http.streaming import EventStream, Start

T = TypeVar("T")


async def retrieve(call: Call) -> Response:
    """Answer a question from a project's knowledge graph, with checked citations.

    The answer, or `no_data_found`. With `answer: false` the evidence alone, without a call to a
    chat model.
    """
    request: RetrieveRequest = call.body
    chosen, headers = request.retrieval_id, call.request.headers
    if chosen is not None:
        call.retrieval_id = str(chosen)
    key = key_of(call.request, chosen)
    project = await call.project(request.project_id)
    service = await call.service()
    if key is not None:
        chosen = service.joining.id_of(project, key)
        call.retrieval_id = str(chosen)
    asked = request.model_copy(update={"retrieval_id": chosen})

    def start(stream: EventStream | None) -> Awaitable[asyncio.Task[Any]]:
        return service.start(project, asked, call.retrieval_id, stream)

    if chosen is None:
        return await _answer(call, start)
    run = await service.joining.join(project, asked, start)
    if _wants_stream(call):
        return _as_events(run.read(headers.get("last-event-id")))
    return await whole(call, asyncio.create_task(run.whole()), lambda response: response)


async def rag_query(call: Call) -> Response:
    """Answer a question from the nodes nearest to it, cited by their numbers.

    The answer, with the nodes that it was written from: `[Node n]` is the n-th of them. Where none
    is near enough, it is "I don't have enough information", without sources.
    """
    request: RagRequest = call.body
    service = await call.service()
    project = await service.project(call.caller, request.project_id)
    return await _answer(
        call, lambda stream: service.start_rag(project, request, call.retrieval_id, stream)
    )


async def _answer(call: Call, start: Start) -> Response:
    """Start answering, and give the answer as the caller wants it."""
    if _wants_stream(call):
        return await streamed(call, EventStream(call.retrieval_id), start)
    return await whole(call, await start(None), http.result)


async def streamed(call: Call, stream: EventStream, start: Start) -> Response:
    """Return the answer as events; a client that leaves ends it."""
    task = await start(stream)
    stream.follow(task)
    call.at_end = partial(end, task)
    return _as_events(stream.read())


def _wants_stream(call: Call) -> bool:
    return http.wants_stream(",".join(call.request.headers.getlist("accept")))


def _as_events(events: AsyncIterator[bytes]) -> Response:
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type=http.EVENT_STREAM, headers=headers)


async def whole(
    call: Call, answering: asyncio.Task[T], respond: Callable[[T], Response]
) -> Response:
    """Return the response to what a task finds, which ends when the client has gone."""
    gone = asyncio.create_task(disconnected(call.request))
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            await end(answering)
            return Response(status_code=CLIENT_GONE)
        return respond(answering.result())
    finally:
        answering.cancel()
        gone.cancel()
