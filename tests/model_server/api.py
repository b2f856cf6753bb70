"""The model server's API with latencies, faults (`faults`), and a record of what arrived.

Tests ask for faults over `/faults` and read over `/requests` what arrived.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from drift.local.model_server.api import ModelApi, embed, ranked, refusal
from drift.local.model_server.bodies import (
    SCHEMA_IN_PROMPT,
    Json,
    RefusedError,
    messages,
    parsed,
    reply_name,
)
from drift.local.model_server.events import EVENT_STREAM, wants_stream
from tests.model_server import anthropic_api
from tests.model_server.connection_faults import CONNECTION
from tests.model_server.faults import (
    BODY,
    HANG,
    IGNORES_SCHEMA,
    LATENCY,
    REPLY,
    RULES,
    SAYS,
    STATUS,
    TEXT,
    Plan,
    Rule,
    spoil_vectors,
)
from tests.model_server.refusals import of_version
from tests.model_server.streams import STREAMED, Written, streamed

RECORDED_REQUESTS = 500
RECORDED_HEADERS = (
    "authorization",
    "api-key",
    "x-stainless-retry-count",
    "traceparent",
    "tracestate",
)
MAX_REMEMBERED = 1000
CLIENT_GONE = 499
"""What nginx calls it; nobody reads it."""
OK = 200

Make = Callable[[Json, int, Rule | None], Awaitable[Json]]
"""Makes the answer to a request's body of so many bytes, with a fault inside it."""


class FaultyApi(ModelApi):
    """The API after latencies in seconds; a chat call takes `token_s` more for each token.

    `abandoned` counts the requests whose client went away during a latency or a hang. With
    `remembers`, what was asked word for word before gets the same answer at no cost, so that a
    measured time is not this server's own work.
    """

    def __init__(
        self,
        chat_s: float = 0.0,
        embed_s: float = 0.0,
        token_s: float = 0.0,
        *,
        remembers: bool = False,
    ) -> None:
        super().__init__()
        self.chat_s, self.embed_s, self.token_s = chat_s, embed_s, token_s
        self.remembers = remembers
        self.plan = Plan()
        self.counts: Counter[str] = Counter()
        self.requests: deque[Json] = deque(maxlen=RECORDED_REQUESTS)
        self.written: deque[Written] = deque(maxlen=RECORDED_REQUESTS)
        self.in_flight = self.most_in_flight = self.abandoned = 0
        self.remembered: dict[bytes, bytes] = {}

    def app(self) -> Starlette:
        app = super().app()
        app.router.routes += [
            Route("/v1/messages", self._message, methods=["POST"]),
            Route("/faults", self._set_faults, methods=["POST"]),
            Route("/faults", self._clear_faults, methods=["DELETE"]),
            Route("/requests", self._list_requests, methods=["GET"]),
            Route("/requests", self._forget_requests, methods=["DELETE"]),
        ]
        return app

    # -------------------------------------------------------------------------------------- the API
    async def chat(self, request: Request) -> Response:
        return await self._answer(request, reply_name, self._completed, self.chat_s)

    async def embeddings(self, request: Request) -> Response:
        return await self._answer(request, lambda _: "embedding", _embedded, self.embed_s)

    async def rerank(self, request: Request) -> Response:
        return await self._answer(request, lambda _: "rerank", _reranked, self.embed_s)

    async def _message(self, request: Request) -> Response:
        """Answer a message of Anthropic's API, whole or as a stream, without faults."""
        try:
            body = parsed(await request.body())
            chat = anthropic_api.as_chat_completion(body)
            message = anthropic_api.as_message(self.complete(chat, self.write(chat)))
        except RefusedError as error:
            return JSONResponse(anthropic_api.error_body(str(error)), 400)

        if wants_stream(body):
            return StreamingResponse(anthropic_api.events(message), media_type=EVENT_STREAM)
        return JSONResponse(message)

    async def _answer(
        self, request: Request, kind_of: Callable[[Json], str], make: Make, seconds: float
    ) -> Response:
        """Answer one call of the API after its latency, well or with the fault planned for it."""
        began = time.perf_counter()
        raw = await request.body()
        try:
            body = parsed(raw)
        except RefusedError as error:
            return refusal(error)

        struck = self._arrived(request, kind_of(body), body, raw)
        rule = next((rule for rule in struck if rule.fault != LATENCY), None)
        wait = seconds + sum(rule.seconds for rule in struck if rule.fault == LATENCY)
        try:
            if unknown := of_version(request.query_params.get("api-version", ""), body):
                return JSONResponse(unknown, 400)
            answer = await self._made(raw, body, make, rule)
            is_streamed = wants_stream(body) and answer.status_code == OK and not _is_cut_off(rule)
            if not is_streamed:
                # What the answer took is part of the latency: that is the time of the whole call.
                wait += self.token_s * _tokens_written(answer) if self.token_s else 0.0
            left = max(0.0, wait - (time.perf_counter() - began))
            if await _client_goes(request, None if rule and rule.fault == HANG else left):
                self.abandoned += 1
                return Response(status_code=CLIENT_GONE)
        except RefusedError as error:
            return refusal(error)
        finally:
            self.in_flight -= 1

        if is_streamed:
            return self._stream(body, answer, rule)
        return CONNECTION[rule.fault](answer, rule) if rule and rule.fault in CONNECTION else answer

    def _stream(self, body: Json, answer: Response, rule: Rule | None) -> Response:
        """Return an answer as a stream, which is watched until it ends or its client goes."""
        whole = json.loads(bytes(answer.body))
        response, written = streamed(body, whole, self.token_s, rule.fault if rule else "")
        response.body_iterator = self._watched(aiter(response.body_iterator))
        self.written.append(written)
        return response

    async def _watched(self, events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        has_ended = False
        self.in_flight += 1
        try:
            async for event in events:
                yield event
            has_ended = True
        finally:
            self.in_flight -= 1
            self.abandoned += not has_ended

    async def _made(self, raw: bytes, body: Json, make: Make, rule: Rule | None) -> Response:
        """Return an answer or its fault; without one, the answer that is remembered."""
        if rule and rule.fault in STATUS:
            status, error = STATUS[rule.fault](rule)
            return JSONResponse(error, status, headers=rule.headers)
        if rule and rule.fault == BODY:
            return Response(rule.text, media_type=rule.content_type)
        if raw in self.remembered and not rule:
            return Response(self.remembered[raw], media_type="application/json")

        answer = JSONResponse(await make(body, len(raw), rule))
        if self.remembers and not rule and len(self.remembered) < MAX_REMEMBERED:
            self.remembered[raw] = bytes(answer.body)
        return answer

    def _arrived(self, request: Request, kind: str, body: Json, raw: bytes) -> list[Rule]:
        """Record a request and return the faults planned for it."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.counts[kind] += 1
        headers = {
            name: request.headers[name] for name in RECORDED_HEADERS if name in request.headers
        }
        path = f"{request.url.path}?{request.url.query}".rstrip("?")
        self.requests.append({"kind": kind, "path": path, "headers": headers, "body": body})
        return self.plan.strike(kind, raw.decode(errors="replace"), body)

    async def _completed(self, body: Json, _size: int, rule: Rule | None) -> Json:
        """Return a chat completion, with the planned fault in its text or around it."""
        text = self.write(body)
        fault = rule.fault if rule else ""
        if fault == IGNORES_SCHEMA and SCHEMA_IN_PROMPT.search(messages(body)[0]):
            fault = ""
        if rule and (fault == SAYS or (fault in STREAMED and rule.text)):
            text = rule.text
        whole = self.complete(body, TEXT.get(fault, str)(text))
        return REPLY.get(fault, dict)(whole)

    # -------------------------------------------------------------------------- watching and faults
    async def _set_faults(self, request: Request) -> Response:
        try:
            self.plan.rules += RULES.validate_json(await request.body())
        except ValidationError as error:
            return JSONResponse({"errors": json.loads(error.json(include_url=False))}, 400)
        return JSONResponse({"rules": len(self.plan.rules)})

    async def _clear_faults(self, _: Request) -> Response:
        self.plan.rules.clear()
        return Response(status_code=204)

    async def _list_requests(self, _: Request) -> Response:
        return JSONResponse(
            {
                "counts": self.counts,
                "in_flight": self.in_flight,
                "most_in_flight": self.most_in_flight,
                "abandoned": self.abandoned,
                "requests": list(self.requests),
                "written": [asdict(one) for one in self.written],
            }
        )

    async def _forget_requests(self, _: Request) -> Response:
        self.counts.clear()
        self.requests.clear()
        self.written.clear()
        self.seen_prefixes.clear()
        self.most_in_flight = self.in_flight
        self.abandoned = 0
        return Response(status_code=204)


async def _embedded(body: Json, size: int, rule: Rule | None) -> Json:
    answer = await embed(body, size)
    return spoil_vectors(answer, rule.fault, body) if rule else answer


async def _reranked(body: Json, _size: int, _rule: Rule | None) -> Json:
    return await ranked(body)


def _is_cut_off(rule: Rule | None) -> bool:
    """Tell whether a fault strikes at the connection, or sends a body of its own."""
    return rule is not None and (rule.fault in CONNECTION or rule.fault == BODY)


def _tokens_written(answer: Response) -> int:
    """Return the tokens of a chat reply; an embedding has none."""
    try:
        usage = parsed(bytes(answer.body)).get("usage", {})
    except RefusedError:
        return 0
    return int(usage.get("completion_tokens", 0))


async def _client_goes(request: Request, seconds: float | None) -> bool:
    """Wait so many seconds (None: without end); return True as soon as the client has gone."""
    if seconds == 0:
        return False
    # After the body, there is only the disconnection to receive.
    gone = asyncio.ensure_future(request.receive())
    done, _ = await asyncio.wait({gone}, timeout=seconds)
    gone.cancel()
    return bool(done)
