"""The OpenAI and the Azure OpenAI API of the local model server.

Chat completions are extracted from the prompt (`extractive`), embeddings are static (`embedding`).
A system text that was seen before counts as cached. Tests ask for faults over `/faults` (`faults`)
and read over `/requests` what arrived.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from drift.local.model_server import extractive
from drift.local.model_server.bodies import (
    CHAT_MODEL,
    EMBEDDING_MODEL,
    RefusedError,
    completion,
    embeddings,
    messages,
    parsed,
    repeats_schema,
    reply_name,
)
from drift.local.model_server.connection_faults import CONNECTION
from drift.local.model_server.faults import (
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
)
from drift.local.model_server.refusals import Json, error_body, of_version
from drift.local.model_server.streams import STREAMED, Written, streamed, wants_stream

RECORDED_REQUESTS = 500
RECORDED_HEADERS = (
    "authorization",
    "api-key",
    "x-stainless-retry-count",
    "traceparent",
    "tracestate",
)
MAX_REMEMBERED = 1000
LONG_REQUEST = 32 * 1024
"""Bytes from which embedding is done in a thread, because it would hold up the other requests."""
EMBEDDING = "embedding"
READY = "ready"
"""Not a reply of a search: whether the model answers."""
CLIENT_GONE = 499
OK = 200
"""What nginx calls it; nobody reads it."""

Make = Callable[[Json, Rule | None], Json]
"""Makes the answer to a request's body, with a fault inside it."""


@dataclass(slots=True)
class ModelApi:
    """What the server knows: its latencies in seconds, the faults to make, and what was asked.

    A chat call takes `chat_s`, and `token_s` for each token of its reply.
    `abandoned` counts the requests whose client went away during a latency or a hang. With
    `remembers`, what was asked word for word before gets the same answer at no cost, so that a
    benchmark's time is not this server's own work.
    """

    chat_s: float = 0.0
    embed_s: float = 0.0
    token_s: float = 0.0
    remembers: bool = False
    plan: Plan = field(default_factory=Plan)
    counts: Counter[str] = field(default_factory=Counter)
    requests: deque[Json] = field(default_factory=lambda: deque(maxlen=RECORDED_REQUESTS))
    in_flight: int = 0
    most_in_flight: int = 0
    abandoned: int = 0
    seen_prefixes: set[str] = field(default_factory=set)
    remembered: dict[bytes, bytes] = field(default_factory=dict)
    written: deque[Written] = field(default_factory=lambda: deque(maxlen=RECORDED_REQUESTS))

    def app(self) -> Starlette:
        """Return the routes, the API at the paths of OpenAI, Azure's v1 and Azure's deployments."""
        routes = [
            Route("/health", self._health, methods=["GET"]),
            Route("/faults", self._set_faults, methods=["POST"]),
            Route("/faults", self._clear_faults, methods=["DELETE"]),
            Route("/requests", self._list_requests, methods=["GET"]),
            Route("/requests", self._forget_requests, methods=["DELETE"]),
        ]
        for prefix in ("/v1", "/openai/v1", "/openai/deployments/{deployment}"):
            routes += [
                Route(f"{prefix}/chat/completions", self._chat, methods=["POST"]),
                Route(f"{prefix}/embeddings", self._embeddings, methods=["POST"]),
                Route(f"{prefix}/models", self._models, methods=["GET"]),
            ]
        return Starlette(routes=routes)

    # -------------------------------------------------------------------------------------- the API
    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, reply_name, self._complete, self.chat_s)

    async def _embeddings(self, request: Request) -> Response:
        return await self._answer(request, lambda _: EMBEDDING, embeddings, self.embed_s)

    async def _models(self, _: Request) -> Response:
        models = [
            {"id": m, "object": "model", "owned_by": "drift"} for m in (CHAT_MODEL, EMBEDDING_MODEL)
        ]
        return JSONResponse({"object": "list", "data": models})

    async def _answer(
        self,
        request: Request,
        kind_of: Callable[[Json], str],
        make: Make,
        seconds: float,
    ) -> Response:
        """Answer one call of the API after its latency, well or with the fault planned for it."""
        began = time.perf_counter()
        raw = await request.body()
        body = parsed(raw)
        if body is None:
            return JSONResponse(error_body("The body is not a JSON object."), 400)

        struck = self._arrived(request, kind_of(body), body, raw)
        if unknown := of_version(request.query_params.get("api-version", ""), body):
            self.in_flight -= 1
            return JSONResponse(unknown, 400)
        rule = next((rule for rule in struck if rule.fault != LATENCY), None)
        wait = seconds + sum(rule.seconds for rule in struck if rule.fault == LATENCY)
        try:
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
            return JSONResponse(error_body(str(error), param=error.param), 400)
        finally:
            self.in_flight -= 1

        if is_streamed:
            return self._stream(body, answer, rule)
        return CONNECTION[rule.fault](answer, rule) if rule and rule.fault in CONNECTION else answer

    def _stream(self, body: Json, answer: Response, rule: Rule | None) -> Response:
        """Return an answer as a stream, which is watched until it ends or its client goes."""
        whole = json.loads(bytes(answer.body))
        response, written = streamed(body, whole, self.token_s, rule)
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

        in_thread = len(raw) > LONG_REQUEST and make is embeddings
        made = await run_in_threadpool(make, body, rule) if in_thread else make(body, rule)
        answer = JSONResponse(made)
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

    def _complete(self, body: Json, rule: Rule | None) -> Json:
        """Return a chat completion, with the planned fault in its text or around it."""
        system, user = messages(body)
        name = reply_name(body)
        if name != READY and name not in extractive.REPLIES:
            raise RefusedError(
                f"This server writes only {', '.join(extractive.REPLIES)}.", "response_format"
            )

        fault = rule.fault if rule else ""
        if fault == IGNORES_SCHEMA and repeats_schema(system):
            fault = ""
        if rule and (fault == SAYS or (fault in STREAMED and rule.text)):
            text = rule.text
        else:
            made = '{"ready": true}' if name == READY else extractive.reply(name, user)
            text = TEXT.get(fault, str)(made)

        whole = completion(body, text, cached=system in self.seen_prefixes)
        self.seen_prefixes.add(system)
        return REPLY.get(fault, dict)(whole)

    # -------------------------------------------------------------------------- watching and faults
    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

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


def _is_cut_off(rule: Rule | None) -> bool:
    """Tell whether a fault strikes at the connection, or sends a body of its own."""
    return rule is not None and (rule.fault in CONNECTION or rule.fault == BODY)


def _tokens_written(answer: Response) -> int:
    """Return the tokens of a chat reply; an embedding has none."""
    usage = (parsed(bytes(answer.body)) or {}).get("usage", {})
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
