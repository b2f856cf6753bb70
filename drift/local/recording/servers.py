"""A service whose calls go over a tape: its graph, its models, its requests and their clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx2
from neo4j import EagerResult, Record

from drift.auth.caller import Project
from drift.contracts.request import RetrieveRequest
from drift.core.clock import clock
from drift.core.errors import DriftError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.http import http, wiring
from drift.http.service import Service
from drift.http.settings import Settings
from drift.llm import connection
from drift.llm.reply_limits import BoundedClient
from drift.local.recording.player import Player
from drift.local.recording.recorder import Recorder
from drift.local.recording.tape import (
    Json,
    Kind,
    RecordingError,
    Request,
    asking,
    digest,
    from_json,
    to_json,
)
from drift.ports import Listener
from drift.telemetry import arrivals

Tape = Recorder | Player
"""What stands between a request and its servers, and tells it the time."""
_HEADERS = ("content-type", "retry-after", "retry-after-ms")
_KEYS = ("authorization", "api-key", "x-api-key")
_OF_BODY = {"content-length", "transfer-encoding"}
_SHORT = 16
"""Letters of a hash that are kept of a statement and of what it is asked with."""


def build(settings: Settings, tape: Tape) -> Service:
    """Return a service over a tape, which keeps nothing beyond a request.

    Raises:
        RecordingError: vectors are searched beside the graph.
    """
    if settings.vector_store != "neo4j":
        raise RecordingError(
            "What a store beside the graph replies is not recorded: set VECTOR_STORE=neo4j."
        )
    alone = settings.model_copy(update={"cache": "off", "cache_answers": False})
    token = connection.pool.set(partial(_Client, tape))
    try:
        return wiring.build_service(
            alone, partial(_TapedReads, tape), partial(_TapedService, tape=tape)
        )
    finally:
        connection.pool.reset(token)


@dataclass(slots=True)
class _TapedService(Service):
    """Requests whose clock is that of the tape."""

    tape: Tape | None = None

    async def start(
        self,
        project: Project,
        request: RetrieveRequest,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[Any]:
        assert self.tape is not None  # noqa: S101 - `build` gives it
        asked = request.within(project.id, project.filter).model_dump(mode="json")
        noted = Request(retrieval_id, project.id, 0.0, asked)
        await self.tape.begin(noted)
        token, named = clock.set(self.tape), asking.set(retrieval_id)
        try:
            with arrivals.arriving():  # by the clock of the tape
                task = await super(_TapedService, self).start(
                    project, request, retrieval_id, listener
                )
            task.add_done_callback(partial(self._ended, noted))
        except DriftError as error:
            self._answered(noted, http.problem(error, retrieval_id))
            raise
        finally:
            clock.reset(token)
            asking.reset(named)
        return task

    def _ended(self, noted: Request, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        if error := task.exception():
            told = error if isinstance(error, DriftError) else http.internal_error()
            self._answered(noted, http.problem(told, noted.id))
        else:
            self._answered(noted, http.result(task.result()))

    def _answered(self, noted: Request, response: Any) -> None:  # noqa: ANN401 - starlette's
        noted.status, noted.answer = response.status_code, bytes(response.body).decode()
        if self.tape:
            self.tape.end(noted)


class _TapedReads(Connection):
    """Reads over the tape."""

    def __init__(self, tape: Tape, *login: Any) -> None:  # noqa: ANN401 - those of Connection
        super().__init__(*login)
        self._tape = tape

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        ask = partial(super().read, text, parameters, timeout_s)
        return await self._tape.call("graph", _asked(text, parameters), ask, _rows, _result)


def _asked(text: str, parameters: Mapping[str, Any]) -> Json:
    """Return what a statement is found by; hashes, because vectors and words are long."""
    values: dict[str, Any] = {}
    for name, value in parameters.items():
        inner = value if isinstance(value, Mapping) else {"": value}
        values |= {f"{name}.{key}".rstrip("."): one for key, one in inner.items()}
    return {
        "begins": " ".join(text.split())[:60],
        "statement": digest(text)[:_SHORT],
        "parameters": {name: digest(value)[:_SHORT] for name, value in values.items()},
    }


def _rows(result: EagerResult) -> Json:
    rows = [to_json(list(row)) for row in result.records]
    return {"agent": result.summary.server.agent, "keys": result.keys, "rows": rows}


def _result(reply: Json) -> EagerResult:
    keys = list(reply["keys"])
    read = [zip(keys, from_json(row), strict=True) for row in reply["rows"]]
    rows = [Record(row) for row in read]  # type: ignore[no-untyped-call]
    summary = SimpleNamespace(server=SimpleNamespace(agent=reply["agent"]))  # no search reads more
    return EagerResult(rows, summary, keys)  # type: ignore[arg-type]


class _Client(BoundedClient):
    """Requests to models over the tape; no reply is streamed, so that a file has JSON of each."""

    def __init__(self, tape: Tape, most_bytes: int, **options: Any) -> None:  # noqa: ANN401 - httpx2's
        super().__init__(most_bytes, **options)
        self._tape = tape

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        **options: Any,  # noqa: ANN401 - httpx2's
    ) -> httpx2.Response:
        body = json.loads(request.content)
        for name in ("stream", "stream_options"):
            body.pop(name, None)
        headers = {n: v for n, v in request.headers.items() if n.lower() not in _OF_BODY}
        whole = httpx2.Request(
            request.method, request.url, headers=headers, json=body, extensions=request.extensions
        )

        path = request.url.path
        return await self._tape.call(
            _kind(path),
            {"path": path, "body": body},
            partial(super().send, whole, stream=stream, **options),
            _told,
            partial(_response, request),
        )


def _kind(path: str) -> Kind:
    return (
        "embedding"
        if path.endswith("/embeddings")
        else ("reranker" if path.endswith("/rerank") else "chat")
    )


def _told(response: httpx2.Response) -> Json:
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    reply: Json = {"status": response.status_code, "headers": headers}
    text = response.content.decode(errors="replace")
    told = (response.request.headers.get(name, "").rpartition(" ")[2] for name in _KEYS)
    keys = [form for key in told if key for form in (key, quote(key, safe=""))]
    try:
        return {**reply, "json": _without(keys, json.loads(text))}
    except ValueError:
        return {**reply, "text": _without(keys, text)}


def _without(keys: Sequence[str], told: Json) -> Json:
    """Return what a server told without keys: some servers repeat one that they refuse."""
    if isinstance(told, str):
        for key in keys:
            told = told.replace(key, "[key]")
    elif isinstance(told, list):
        return [_without(keys, one) for one in told]
    elif isinstance(told, dict):
        return {_without(keys, name): _without(keys, one) for name, one in told.items()}
    return told


def _response(request: httpx2.Request, reply: Json) -> httpx2.Response:
    text = json.dumps(reply["json"]) if "json" in reply else reply["text"]
    return httpx2.Response(
        reply["status"], headers=reply.get("headers"), content=text.encode(), request=request
    )
