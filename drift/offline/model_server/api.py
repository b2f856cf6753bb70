"""The OpenAI and the Azure OpenAI API of the local model server.

Chat completions are extracted from the prompt (`extractive`), embeddings are static (`embedding`).
Tokens in `usage` are estimated as a quarter of the characters; a system text that was seen before
counts as cached. Tests ask for faults over `/faults` (`faults`) and read over `/requests` what
arrived.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from drift.offline.model_server import embedding, extractive
from drift.offline.model_server.faults import (
    BODY,
    CONNECTION,
    DATA,
    HANG,
    LATENCY,
    REPLY,
    RULES,
    SAYS,
    STATUS,
    TEXT,
    VECTORS,
    Json,
    Plan,
    Rule,
    error_body,
)

CHAT_MODEL = "drift-extractive"
EMBEDDING_MODEL = "wordllama-256"

RECORDED_REQUESTS = 500
RECORDED_HEADERS = (
    "authorization",
    "api-key",
    "x-stainless-retry-count",
    "traceparent",
    "tracestate",
)
CHARACTERS_PER_TOKEN = 4
MAX_TEXTS = 2048
MAX_REMEMBERED = 1000
LONG_REQUEST = 32 * 1024
"""Bytes from which embedding takes over 10 ms, and is done in a thread; an extracted answer takes 3
to 10 ms."""
EMBEDDING = "embedding"
CLIENT_GONE = 499
"""What nginx calls it; nobody reads it."""


class _RefusedError(Exception):
    """The request is not one that this server can answer."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


@dataclass(slots=True)
class ModelApi:
    """What the server knows: its latencies in seconds, the faults to make, and the requests that came.

    `abandoned` counts the requests whose client went away during a latency or a hang. With
    `remembers`, what was asked word for word before gets the same answer at no cost, so that a
    benchmark's time is not this server's own work.
    """

    chat_s: float = 0.0
    embed_s: float = 0.0
    remembers: bool = False
    plan: Plan = field(default_factory=Plan)
    counts: Counter[str] = field(default_factory=Counter)
    requests: deque[Json] = field(default_factory=lambda: deque(maxlen=RECORDED_REQUESTS))
    in_flight: int = 0
    most_in_flight: int = 0
    abandoned: int = 0
    seen_prefixes: set[str] = field(default_factory=set)
    remembered: dict[bytes, bytes] = field(default_factory=dict)

    def app(self) -> Starlette:
        """Return the routes: the API at the paths of OpenAI, of Azure's v1 and of Azure's deployments."""
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
        return await self._answer(request, _reply_name, self._complete, self.chat_s)

    async def _embeddings(self, request: Request) -> Response:
        return await self._answer(request, lambda _: EMBEDDING, _embed, self.embed_s)

    async def _models(self, _: Request) -> Response:
        models = [
            {"id": m, "object": "model", "owned_by": "drift"} for m in (CHAT_MODEL, EMBEDDING_MODEL)
        ]
        return JSONResponse({"object": "list", "data": models})

    async def _answer(
        self,
        request: Request,
        kind_of: Callable[[Json], str],
        make: Callable[[Json, Rule | None], Json],
        seconds: float,
    ) -> Response:
        """Answer one call of the API.

        Make the fault that is planned for it, or answer well, after the latency.
        """
        began = time.perf_counter()
        raw = await request.body()
        body = _parsed(raw)
        if body is None:
            return JSONResponse(error_body("The body is not a JSON object."), 400)
        kind = kind_of(body)
        struck = self._arrived(request, kind, body, raw)
        try:
            rule = next((rule for rule in struck if rule.fault != LATENCY), None)
            wait = seconds + sum(rule.seconds for rule in struck if rule.fault == LATENCY)
            if rule and rule.fault in STATUS:
                status, error = STATUS[rule.fault](rule)
                answer: Response = JSONResponse(error, status, headers=rule.headers)
            elif rule and rule.fault == BODY:
                answer = Response(rule.text, media_type=rule.content_type)
            elif raw in self.remembered and not rule:
                answer = Response(self.remembered[raw], media_type="application/json")
            else:
                long = len(raw) > LONG_REQUEST and kind == EMBEDDING
                answer = JSONResponse(
                    await run_in_threadpool(make, body, rule) if long else make(body, rule)
                )
                if self.remembers and not rule and len(self.remembered) < MAX_REMEMBERED:
                    self.remembered[raw] = bytes(answer.body)
            # the latency is that of the whole call: what the answer took is part of it
            left = max(0.0, wait - (time.perf_counter() - began))
            if await _client_goes(request, None if rule and rule.fault == HANG else left):
                self.abandoned += 1
                return Response(status_code=CLIENT_GONE)
        except _RefusedError as error:
            return JSONResponse(error_body(str(error), param=error.param), 400)
        finally:
            self.in_flight -= 1
        return CONNECTION[rule.fault](answer, rule) if rule and rule.fault in CONNECTION else answer

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
        return self.plan.strike(kind, raw.decode(errors="replace"))

    def _complete(self, body: Json, rule: Rule | None) -> Json:
        """Return a chat completion."""
        system, user = _messages(body)
        name = _reply_name(body)
        if name not in extractive.REPLIES:
            raise _RefusedError(
                f"This server writes only {', '.join(extractive.REPLIES)}.", "response_format"
            )
        fault = rule.fault if rule else ""
        text = (
            rule.text
            if rule and fault == SAYS
            else TEXT.get(fault, str)(extractive.reply(name, user))
        )
        cached = tokens(system) if system in self.seen_prefixes else 0
        self.seen_prefixes.add(system)
        completion = {
            "id": f"chatcmpl-{name}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", CHAT_MODEL),
            "choices": [
                {"index": 0, "message": _message(text), "finish_reason": "stop", "logprobs": None}
            ],
            "usage": _usage(tokens(system) + tokens(user), tokens(text), cached),
        }
        return REPLY.get(fault, dict)(completion)

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
            }
        )

    async def _forget_requests(self, _: Request) -> Response:
        self.counts.clear()
        self.requests.clear()
        self.seen_prefixes.clear()
        self.most_in_flight = self.in_flight
        self.abandoned = 0
        return Response(status_code=204)


async def _client_goes(request: Request, seconds: float | None) -> bool:
    """Wait so many seconds (None: without end); return True as soon as the client has gone."""
    if seconds == 0:
        return False
    gone = asyncio.ensure_future(
        request.receive()
    )  # after the body there is only the disconnection to receive
    done, _ = await asyncio.wait({gone}, timeout=seconds)
    gone.cancel()
    return bool(done)


def tokens(text: str) -> int:
    """Return an estimate of a text's tokens."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _usage(prompt: int, completion: int = 0, cached: int = 0) -> Json:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _message(text: str) -> Json:
    return {"role": "assistant", "content": text, "refusal": None}


def _parsed(raw: bytes) -> Json | None:
    """Read a JSON object."""
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _reply_name(body: Json) -> str:
    """Return the name of the asked JSON schema; plain text is only asked for hypotheses."""
    given = body.get("response_format")
    schema = given.get("json_schema") if isinstance(given, dict) else None
    return str(schema.get("name")) if isinstance(schema, dict) else "hypothesis"


def _messages(body: Json) -> tuple[str, str]:
    """Return the system text and the user's texts."""
    given = body.get("messages")
    messages = [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []
    texts = {
        role: [str(m.get("content", "")) for m in messages if m.get("role") == role]
        for role in ("system", "user")
    }
    if not texts["user"]:
        raise _RefusedError("At least one message of the user is needed.", "messages")
    return "\n\n".join(texts["system"]), "\n\n".join(texts["user"])


def _embed(body: Json, rule: Rule | None) -> Json:
    """Return one embedding a text, as floats or as base64 of little-endian 32-bit floats."""
    texts = _texts(body.get("input"))
    size = body.get("dimensions", embedding.DIMENSIONS)
    if not isinstance(size, int) or not 1 <= size <= embedding.DIMENSIONS:
        raise _RefusedError(f"dimensions must be from 1 to {embedding.DIMENSIONS}.", "dimensions")
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise _RefusedError("encoding_format must be float or base64.", "encoding_format")
    vectors = embedding.normalised(embedding.embed(texts)[:, :size])
    fault = rule.fault if rule else ""
    rows = VECTORS.get(fault, list)(list(vectors))
    data = [
        {"object": "embedding", "index": i, "embedding": _encoded(row, encoding)}
        for i, row in enumerate(rows)
    ]
    usage = _usage(sum(map(tokens, texts)))
    return {
        "object": "list",
        "data": DATA.get(fault, list)(data),
        "model": body.get("model", EMBEDDING_MODEL),
        "usage": usage,
    }


def _texts(given: Any) -> list[str]:  # noqa: ANN401 - JSON
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise _RefusedError("input must be a string or a list of strings.", "input")
    if len(texts) > MAX_TEXTS:
        raise _RefusedError(f"input must hold at most {MAX_TEXTS} texts.", "input")
    return texts


def _encoded(vector: embedding.Matrix, encoding: str) -> str | list[float]:
    if encoding == "base64":
        return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    return [float(number) for number in vector]
