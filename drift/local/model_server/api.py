"""The APIs of OpenAI and Azure OpenAI, of the local model server.

Chat completions are extracted from the prompt (`extractive`), embeddings are static (`embedding`).
A system text that was seen before counts as cached. Texts are ranked as Cohere's API does.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from drift.local.model_server import extractive
from drift.local.model_server.bodies import (
    Json,
    RefusedError,
    completion,
    embeddings,
    error_body,
    messages,
    parsed,
    reply_name,
)
from drift.local.model_server.events import EVENT_STREAM, Events, wants_stream
from drift.local.model_server.reranking import reranked

LONG_REQUEST = 32 * 1024
"""Bytes from which embedding is done in a thread, because it would hold up the other requests."""
READY = "ready"
"""Not a reply of a search: whether the model answers."""


class ModelApi:
    """The routes of the server, and the system texts that it has seen."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.seen_prefixes: set[str] = set()

    def app(self) -> Starlette:
        """Return the routes, the API at the paths of OpenAI, Azure's v1 and Azure's deployments."""
        routes = [Route("/health", lambda _: JSONResponse({"status": "ok"}), methods=["GET"])]
        for prefix in ("/v1", "/openai/v1", "/openai/deployments/{deployment}"):
            routes += [
                Route(f"{prefix}/chat/completions", self.chat, methods=["POST"]),
                Route(f"{prefix}/embeddings", self.embeddings, methods=["POST"]),
            ]

        paths = ("/rerank", "/v1/rerank", "/v2/rerank")
        routes += [Route(path, self.rerank, methods=["POST"]) for path in paths]
        return Starlette(routes=routes)

    async def chat(self, request: Request) -> Response:
        """Answer a chat completion, whole or as a stream."""
        try:
            body = parsed(await request.body())
            whole = self.complete(body, self.write(body))
        except RefusedError as error:
            return refusal(error)

        if wants_stream(body):
            return StreamingResponse(Events(body, whole).all(), media_type=EVENT_STREAM)
        return JSONResponse(whole)

    async def embeddings(self, request: Request) -> Response:
        """Answer one embedding a text."""
        raw = await request.body()
        try:
            return JSONResponse(await embed(parsed(raw), len(raw)))
        except RefusedError as error:
            return refusal(error)

    async def rerank(self, request: Request) -> Response:
        """Answer how relevant each document is."""
        try:
            return JSONResponse(await ranked(parsed(await request.body())))
        except RefusedError as error:
            return refusal(error)

    def write(self, body: Json) -> str:
        """Return the text of the reply that a request asks for; a RefusedError where it is none."""
        _, user = messages(body)
        name = reply_name(body)
        if name == READY:
            return '{"ready": true}'

        if name not in extractive.REPLIES:
            raise RefusedError(
                f"This server writes only {', '.join(extractive.REPLIES)}.", "response_format"
            )

        return extractive.reply(name, user)

    def complete(self, body: Json, text: str) -> Json:
        """Return the chat completion that says `text`, and keep its system text as seen."""
        system, _ = messages(body)
        whole = completion(body, text, cached=system in self.seen_prefixes)
        self.seen_prefixes.add(system)
        return whole


async def embed(body: Json, size: int) -> Json:
    """Return the answer to an embedding request of `size` bytes, a long one from a thread."""
    return await run_in_threadpool(embeddings, body) if size > LONG_REQUEST else embeddings(body)


async def ranked(body: Json) -> Json:
    """Return the answer to a ranking request, from a thread: it has many passages."""
    return await run_in_threadpool(reranked, body)


def refusal(error: RefusedError) -> Response:
    """Return the fault of a request, as OpenAI words it."""
    return JSONResponse(error_body(str(error), param=error.param), 400)
