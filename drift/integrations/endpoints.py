"""The routes that other programs call in their own words: OpenAI's API, Dify, and MCP."""

from __future__ import annotations

import asyncio
from functools import partial
from types import ModuleType
from typing import Any

from starlette.responses import Response

from drift.contracts.chat_completions import CompletionRequest
from drift.contracts.dify import DifyRequest
from drift.contracts.vector_stores import VectorStoreSearch
from drift.core.errors import NotFoundError
from drift.core.logs import bound
from drift.http import asgi, protected_resource, reading
from drift.http.questions import streamed, whole
from drift.http.route import Call
from drift.http.streaming import EventStream
from drift.integrations import chat_completions as chat
from drift.integrations import dify, vector_stores


async def chat_completions(call: Call) -> Response:
    """Answer the last question of a conversation, as OpenAI's API does.

    The answer as a chat completion, with `stream` as its chunks (text/event-stream). Errors have
    OpenAI's shape.
    """
    asked: CompletionRequest = call.body
    request, told = chat.question_of(asked), chat.reply_of(asked)
    project = await call.project(request.project_id)
    service = await call.service()

    async def start(stream: EventStream | None) -> asyncio.Task[Any]:
        if told is not None:  # a task of the program's own, without a search
            return asyncio.create_task(asyncio.sleep(0, told))
        return await service.start(project, request, call.retrieval_id, stream)

    if asked.stream:
        stream = chat.ChatStream(asked, call.retrieval_id)
        return chat.told_unused(asked, await streamed(call, stream, start))
    respond = partial(chat.completion, asked, call.retrieval_id)
    return chat.told_unused(asked, await whole(call, await start(None), respond))


async def chat_models(call: Call) -> Response:
    """The caller's projects as models of OpenAI's API.

    The projects, each also as the model that takes one look (`:quick`).
    """
    service = await call.service()
    await service.quotas.admit(call.caller)
    return chat.models(await reading.project_ids(call.caller, service.reads()))


async def vector_store_search(call: Call) -> Response:
    """Find passages, as the search of a vector store in OpenAI's API does.

    The passages, an entry each, so that a file may have several. Errors have OpenAI's shape.
    """
    asked: VectorStoreSearch = call.body
    request = vector_stores.question_of(asked, call.id)
    project = await call.project(request.project_id)
    service = await call.service()
    reranks = vector_stores.reranks(asked)
    finding = await service.start_evidence(project, request, call.retrieval_id, reranks=reranks)
    return await whole(call, finding, partial(vector_stores.page, asked))


async def chat_embeddings(_call: Call) -> Response:
    """Say that this service embeds nothing for others."""
    raise NotFoundError(f"This service makes no embeddings for others; {chat.THERE_IS}")


async def chat_responses(_call: Call) -> Response:
    """Say that this service has no Responses API."""
    raise NotFoundError(f"This service has no Responses API; {chat.THERE_IS}")


async def dify_retrieval(call: Call) -> Response:
    """Find passages, as an external knowledge base of Dify.

    The passages. Errors have Dify's shape.
    """
    asked: DifyRequest = call.body
    request = dify.question_of(asked)
    project = await call.project(request.project_id)
    service = await call.service()
    finding = await service.start_evidence(project, request, call.retrieval_id)
    return await whole(call, finding, partial(dify.records, asked))


async def mcp(call: Call) -> Response:
    """Answer a message of the Model Context Protocol; nothing else is kept open or ended here."""
    if call.request.method != "POST":
        return Response(status_code=405, headers={"allow": "POST"})

    body = await asgi.read_body(call.request)
    service = await call.service()
    route = await asyncio.to_thread(_load_mcp)
    asker = route.Asker(call.caller, service, call.retrieval_id)
    with bound(retrieval_id=call.retrieval_id):
        response, call.at_end = await asgi.respond(route.serve, call.request, body, asker=asker)

    return response


def _load_mcp() -> ModuleType:
    from drift.integrations import mcp_route  # noqa: PLC0415 - its package loads with the first message

    return mcp_route


async def mcp_metadata(call: Call) -> Response:
    """Tell MCP clients where to sign in."""
    values = await call.authentication.settings()
    return protected_resource.metadata(values, call.request.headers)
