"""MCP over HTTP: each POST is answered by itself, in either era of the protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drift.integrations.mcp_server import Asker, build_server
from drift.telemetry import arrivals

_SERVER = build_server(lambda request: request.scope["asker"])
_OF_BATCHES = "2025-03-26"
"""The one version of the protocol in which a POST may hold several messages."""
MOST_IN_A_BATCH = 32


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a message for the `asker` of the scope; whatever was begun for it ends with it.

    A batch is answered as one, message after message. Who calls the function by another name than
    its own, or from a page of another site, is refused.
    """
    asker: Asker = scope["asker"]
    hosts = [*asker.service.settings.own_names, "localhost", "127.0.0.1", "[::1]"]
    origins = [f"{scheme}://{host}" for scheme in ("https", "http") for host in hosts]
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )
    # a manager cannot be run twice, and this one holds no sessions
    _SERVER.streamable_http_app(stateless_http=True, transport_security=security)
    manager = _SERVER.session_manager
    body = (await receive())["body"]  # the route has read it whole
    async with manager.run():
        app = manager.handle_request
        response: ASGIApp = _InOwnWords(app, body)
        if messages := _batch_in(scope, body):
            response = await _answer_to_batch(app, scope, receive, messages)
        await response(scope, receive, send)


def _batch_in(scope: Scope, body: bytes) -> list[Any]:
    """Return the messages of a batch; none where the body is no batch of its version."""
    if Headers(scope=scope).get("mcp-protocol-version", _OF_BATCHES) != _OF_BATCHES:
        return []
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return read if isinstance(read, list) else []


async def _answer_to_batch(
    app: ASGIApp, scope: Scope, receive: Receive, messages: list[Any]
) -> Response:
    if len(messages) > MOST_IN_A_BATCH:
        told = f"A batch may hold at most {MOST_IN_A_BATCH} messages."
        return JSONResponse(_error(INVALID_REQUEST, told), HTTPStatus.BAD_REQUEST)
    answers: list[Any] = []
    for one in messages:
        own = {**scope, "asker": replace(scope["asker"], retrieval_id=str(uuid4()))}
        got = _BufferedReply()
        with arrivals.arriving():  # it waited for those before, which is not its own time
            await _InOwnWords(app, json.dumps(one).encode())(own, receive, got.send)
        # anything else is a refusal of the whole POST
        if got.status not in {HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.BAD_REQUEST}:
            return Response(got.body, got.status, dict(Headers(raw=got.headers)))
        answers += got.answers()
    return JSONResponse(answers) if answers else Response(status_code=HTTPStatus.ACCEPTED)


class _BufferedReply:
    """The messages of an app, kept."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""
        self.headers: list[tuple[bytes, bytes]] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], message["headers"]
        else:
            self.body += message.get("body", b"")

    def answers(self) -> list[Any]:
        """Return the answers in it, which may be JSON, or events beside others."""
        texts = [
            line.removeprefix(b"data:") for line in self.body.splitlines() if line[:1] in b"d{"
        ]
        read = [json.loads(text) for text in texts if text.strip()]
        return [one for one in read if isinstance(one, dict) and {"result", "error"} & set(one)]


@dataclass(frozen=True, slots=True)
class _InOwnWords:
    """An app given a body, whose refusals do not speak of the classes that found them."""

    app: ASGIApp
    body: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ahead: list[Message] = [{"type": "http.request", "body": self.body}]
        refused: list[Message] = []

        async def received() -> Message:
            return ahead.pop() if ahead else await receive()

        async def sent(message: Message) -> None:
            if message.get("status") == HTTPStatus.BAD_REQUEST:
                refused.append(message)
            elif not refused:
                await send(message)
            else:
                told = _reworded(message.get("body", b""))
                await JSONResponse(told, HTTPStatus.BAD_REQUEST)(scope, receive, send)

        await self.app(scope, received, sent)


def _reworded(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    said = json.loads(body)
    message = str(said["error"]["message"])
    if message.startswith("Parse error"):
        return _error(PARSE_ERROR, "The body is not JSON.")
    if message.startswith("Validation error"):
        return _error(INVALID_REQUEST, "The body is no message of JSON-RPC 2.0.")
    return said


def _error(code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
