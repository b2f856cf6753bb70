"""A service whose calls go over a tape: its graph, its models, its requests and their clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
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
_KINDS: Mapping[str, Kind] = {"embeddings": "embedding", "rerank": "reranker"}
"""What is asked for by the last part of a path; a chat by any other."""
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
        return wiring.build_service(alone, partial(_TapedReads, tape), partial(_TapedService, tape))
    finally:
        connection.pool.reset(token)


class _TapedService(Service):
    """Requests whose clock is that of the tape."""

    def __init__(self, tape: Tape, *parts: Any, **named: Any) -> None:  # noqa: ANN401 - Service's
        super().__init__(*parts, **named)
        self._tape = tape

    async def start(
        self,
        project: Project,
        request: RetrieveRequest,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[Any]:
        asked = request.within(project.id, project.filter).model_dump(mode="json")
        noted = Request(retrieval_id, project.id, 0.0, asked)
        await self._tape.begin(noted)
        token, named = clock.set(self._tape), asking.set(retrieval_id)
        try:
            with arrivals.arriving():  # by the clock of the tape
                task = await super().start(project, request, retrieval_id, listener)
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
        noted.answer = bytes(response.body).decode()
        self._tape.end(noted)


class _TapedReads(Connection):
    """Reads over the tape."""

    def __init__(self, tape: Tape, *login: Any) -> None:  # noqa: ANN401 - those of Connection
        super().__init__(*login)
        self._tape = tape

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        read = super().read

        async def ask() -> Json:
            return _rows(await read(text, parameters, timeout_s))

        return _result(await self._tape.call("graph", _asked(text, parameters), ask))


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

        send = super().send

        async def ask() -> Json:
            return _told(await send(whole, stream=stream, **options))

        path = request.url.path
        kind = _KINDS.get(path.rpartition("/")[2], "chat")
        reply = await self._tape.call(kind, {"path": path, "body": body}, ask)
        text = json.dumps(reply["json"]) if "json" in reply else reply["text"]
        return httpx2.Response(
            reply["status"], headers=reply.get("headers"), content=text.encode(), request=request
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
