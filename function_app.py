"""The Azure edge: routes, the guard around each handler, and what lives as long as the process.

No logic. Importing this module reads no setting but two, which the platform wants to know by then:
AUTH_MODE, whether it asks for function keys, and RECONCILE_SCHEDULE, when its timer fires. Neither
can fail. Nothing is opened; the SDKs load with the first request.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from types import ModuleType
from typing import Any, TypeVar
from uuid import uuid4

import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response, StreamingResponse
from starlette.requests import ClientDisconnect

from drift.auth.caller import NOBODY, Project
from drift.contracts.chat_completions import CompletionRequest
from drift.contracts.dify import DifyRequest
from drift.contracts.documents import MAX_DOCUMENT_BYTES
from drift.contracts.rag import RagRequest
from drift.contracts.request import MAX_BODY_BYTES, RetrieveRequest
from drift.core.errors import DriftError, UnauthenticatedError
from drift.core.logs import bound
from drift.http import asgi, at_import, documents, http, nodes, page, protected_resource, reading
from drift.http.auth import Authentication
from drift.http.provider import ServiceProvider
from drift.http.streaming import EventStream
from drift.http.timer import NodeTimer
from drift.integrations import chat_completions as chat
from drift.integrations import dify
from drift.telemetry import otel

# Its lines hold the whole URL, and with it a function key that is given as `?code=`.
logging.getLogger("uvicorn.access").addFilter(lambda _record: False)

try:
    # This runtime never forgets an invocation by itself. Another runtime has nothing to repair.
    from azure_functions_runtime.http_v2 import http_coordinator

    _INVOCATIONS = getattr(http_coordinator, "_context_references", None)
except ImportError:
    _INVOCATIONS = None

PLATFORM_ASKS = at_import.platform_asks_for_keys()
SCHEDULE = at_import.schedule()

app = func.FunctionApp(
    http_auth_level=func.AuthLevel.FUNCTION if PLATFORM_ASKS else func.AuthLevel.ANONYMOUS
)
authentication = Authentication(platform_asks_for_keys=PLATFORM_ASKS)
provider = ServiceProvider()
node_timer = NodeTimer(provider)

T = TypeVar("T")
Problem = Callable[[DriftError, str], http.Reply]
"""Makes an answer of an error and the call's id."""


class Call:
    """One HTTP call: the request, its caller once that is known, its id, and what ends it."""

    def __init__(self, request: Request, problem: Problem = http.problem) -> None:
        """Give the call an id of its own until the body names one; `problem` shapes its errors."""
        self.request = request
        self.problem = problem
        self.caller = NOBODY
        self.retrieval_id = str(uuid4())
        self.at_end: Callable[[], object] = lambda: None

    async def json_body(self, most: int = MAX_BODY_BYTES) -> bytes:
        """Return the body, which has to say that it is JSON."""
        http.check_media_type(self.request.headers.get("content-type", ""))
        return await asgi.read_body(self.request, most)


Handler = Callable[[Call], Awaitable[Response]]

Start = Callable[[EventStream | None], Awaitable[asyncio.Task[Any]]]
"""Starts answering a question; the stream, where there is one, is told how far it is."""

Endpoint = Callable[[Request, func.Context], Awaitable[Response]]


def endpoint(
    handler: Handler, *, is_open: bool = False, problem: Problem = http.problem
) -> Endpoint:
    """Return what the platform calls: an error becomes JSON, and nothing of the call stays.

    The handler runs only for a caller who is known, unless it `is_open`, because it holds nothing.
    Its errors have the shape of `problem`.
    The endpoint has its name, by which the platform knows the function. `functools.wraps` cannot be
    used: the runtime reads the parameters and annotations of `run`.
    """

    async def answer(call: Call) -> Response:
        if not is_open:
            call.caller = await authentication.caller(call.request.headers)
        return await handler(call)

    async def run(req: Request, context: func.Context) -> Response:
        call = Call(req, problem)
        with otel.invocation(context, req.headers):
            response = await _answer(call, answer)

        response.headers.setdefault("x-retrieval-id", call.retrieval_id)

        async def finish() -> None:
            call.at_end()
            if _INVOCATIONS is not None:
                _INVOCATIONS.pop(context.invocation_id, None)

        response.background = finish
        return response

    run.__name__, run.__doc__ = handler.__name__, handler.__doc__
    return run


open_endpoint = partial(endpoint, is_open=True)


async def _answer(call: Call, handler: Handler) -> Response:
    """Return the handler's response, or that of its error."""
    path = call.request.url.path
    try:
        return await handler(call)
    except ClientDisconnect:  # in the middle of its own request
        return Response(status_code=asgi.CLIENT_GONE)
    except UnauthenticatedError as error:
        http.log_failure(error, {"retrieval_id": call.retrieval_id}, path)
        refused = to_response(call.problem(error, call.retrieval_id))
        challenge = authentication.challenge(path, call.request.headers)
        refused.headers["www-authenticate"] = challenge
        return refused
    except DriftError as error:
        http.log_failure(error, {"retrieval_id": call.retrieval_id}, path)
        return to_response(call.problem(error, call.retrieval_id))
    except Exception as error:  # noqa: BLE001 - it becomes an answer
        http.log_failure(error, {"retrieval_id": call.retrieval_id}, path)
        return to_response(call.problem(http.internal_error(), call.retrieval_id))


def to_response(reply: http.Reply) -> Response:
    """Return a reply of the neutral edge as the extension's own type."""
    return Response(reply.body, reply.status, dict(reply.headers), reply.media_type)


async def _project_of(call: Call, named: str | None) -> Project:
    """Return the project of a request; one that the caller may not read opens nothing."""
    if named is not None:
        return call.caller.project(named)
    return await (await provider.get()).project(call.caller, None)


@app.route(route="retrieve", methods=["POST"])
@endpoint
async def retrieve(call: Call) -> Response:
    """Answer a question, buffered or as a stream of events."""
    request = http.parse(await call.json_body(), RetrieveRequest)
    if request.retrieval_id is not None:
        call.retrieval_id = str(request.retrieval_id)

    project = await _project_of(call, request.project_id)
    service = await provider.get()
    return await _answer_to(
        call, lambda stream: service.start(project, request, call.retrieval_id, stream)
    )


@app.route(route="api/rag/query", methods=["POST"])
@endpoint
async def rag_query(call: Call) -> Response:
    """Answer a question from the nodes nearest to it, buffered or as a stream of events."""
    service = await provider.get()
    service.rag()
    request = http.parse(await call.json_body(), RagRequest)
    project = await service.project(call.caller, request.project_id)

    return await _answer_to(
        call, lambda stream: service.start_rag(project, request.question, call.retrieval_id, stream)
    )


@app.route(route=nodes.NODES, methods=["POST"])
@endpoint
async def create_node(call: Call) -> Response:
    """Make a node of people's own, with its vector."""
    body = await call.json_body()
    return to_response(await nodes.create(call.caller, body, await provider.get()))


@app.route(route=nodes.NODE, methods=["PUT"])
@endpoint
async def replace_node(call: Call) -> Response:
    """Give a node other properties, and another vector where its text is another."""
    body = await call.json_body()
    return to_response(await nodes.replace(_sent(call), body, await provider.get()))


@app.route(route=nodes.NODE, methods=["DELETE"])
@endpoint
async def remove_node(call: Call) -> Response:
    """Remove a node with its vector."""
    return to_response(await nodes.remove(_sent(call), await provider.get()))


@app.route(route=documents.DOCUMENTS, methods=["POST"])
@endpoint
async def add_document(call: Call) -> Response:
    """Have a project hold a document in this state."""
    service = await provider.get()
    service.require_indexing()
    content_type = call.request.headers.get("content-type", "")
    body = await asgi.read_body(call.request, MAX_DOCUMENT_BYTES)
    return to_response(await documents.add(_sent(call), content_type, body, service))


@app.route(route=documents.DOCUMENT, methods=["DELETE"])
@endpoint
async def remove_document(call: Call) -> Response:
    """Take a document out of a project."""
    service = await provider.get()
    service.require_indexing()
    return to_response(await documents.remove(_sent(call), service))


def _sent(call: Call) -> reading.Sent:
    scope = call.request.scope
    return reading.Sent(call.caller, scope["raw_path"], scope["query_string"])


async def _answer_to(call: Call, start: Start) -> Response:
    """Start answering, and give the answer as the caller wants it; one who leaves ends it."""
    if http.wants_stream(",".join(call.request.headers.getlist("accept"))):
        return await _streamed(call, EventStream(call.retrieval_id), start)
    return await _whole(call, await start(None), http.result)


async def _streamed(call: Call, stream: EventStream, start: Start) -> Response:
    stream.follow(await start(stream))
    call.at_end = stream.cancel
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream.events(), media_type=http.EVENT_STREAM, headers=headers)


async def _whole(
    call: Call, answering: asyncio.Task[T], reply: Callable[[T, str], http.Reply]
) -> Response:
    """Return the reply to what a task finds, which ends when the client has gone."""
    gone = asyncio.create_task(asgi.disconnected(call.request))
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            return Response(status_code=asgi.CLIENT_GONE)
        return to_response(reply(answering.result(), call.retrieval_id))
    finally:
        answering.cancel()
        gone.cancel()


@app.route(route="v1/chat/completions", methods=["POST"])
@partial(endpoint, problem=chat.problem)
async def chat_completions(call: Call) -> Response:
    """Answer the last question of a conversation, as OpenAI's API does."""
    body = await call.json_body(chat.MAX_BODY_BYTES)
    # it may be long, and others are served meanwhile
    asked = await asyncio.to_thread(http.parse, body, CompletionRequest)
    request, told = chat.question_of(asked), chat.reply_of(asked)
    project = await _project_of(call, request.project_id)
    service = await provider.get()

    async def start(stream: EventStream | None) -> asyncio.Task[Any]:
        if told is not None:  # a task of the program's own, without a search
            return asyncio.create_task(asyncio.sleep(0, told))
        return await service.start(project, request, call.retrieval_id, stream)

    if asked.stream:
        return await _streamed(call, chat.ChatStream(asked, call.retrieval_id), start)
    return await _whole(call, await start(None), partial(chat.completion, asked))


@app.route(route="v1/models", methods=["GET"])
@partial(endpoint, problem=chat.problem)
async def chat_models(call: Call) -> Response:
    """List the caller's projects as models."""
    service = await provider.get()
    await service.quotas.admit(call.caller)
    return to_response(chat.models(await reading.project_ids(call.caller, service.reads())))


@app.route(route="dify/retrieval", methods=["POST"])
@partial(endpoint, problem=dify.problem)
async def dify_retrieval(call: Call) -> Response:
    """Find passages for Dify's external knowledge."""
    asked = http.parse(await call.json_body(), DifyRequest)
    request = dify.question_of(asked)
    project = await _project_of(call, request.project_id)
    service = await provider.get()
    finding = await service.start_evidence(project, request, call.retrieval_id)
    return await _whole(call, finding, lambda found, _: dify.records(asked, found))


def read_endpoint(route: reading.ReadRoute) -> Endpoint:
    """Guard a read route: nothing is read before the caller's right on the project is known."""

    async def read(call: Call) -> Response:
        service = await provider.get()
        asked = await route.check(_sent(call), service.project)
        await service.quotas.admit(call.caller)
        return to_response(await reading.reply(route, asked, service.reads()))

    read.__name__, read.__doc__ = route.name, route.summary
    return endpoint(read)


for read_route in reading.ROUTES:
    app.route(route=read_route.path, methods=["GET"])(read_endpoint(read_route))


@app.route(route=reading.USAGE, methods=["GET"])
@endpoint
async def read_usage(call: Call) -> Response:
    """Tell a caller what it has used of its quota; asking counts for none."""
    service = await provider.get()
    return to_response(await reading.usage(call.caller, service.quotas))


@app.route(route=protected_resource.RESOURCE, methods=["POST", "GET", "DELETE"])
@endpoint
async def mcp(call: Call) -> Response:
    """Answer a message of the Model Context Protocol; nothing else is kept open or ended here."""
    if call.request.method != "POST":
        return Response(status_code=405, headers={"allow": "POST"})

    body = await asgi.read_body(call.request)
    service = await provider.get()
    route = await asyncio.to_thread(_load_mcp)
    asker = route.Asker(call.caller, service, call.retrieval_id)
    with bound(retrieval_id=call.retrieval_id):
        response, call.at_end = await asgi.respond(route.serve, call.request, body, asker=asker)

    return response


def _load_mcp() -> ModuleType:
    from drift.integrations import mcp_route  # noqa: PLC0415 - its package loads with the first message

    return mcp_route


@app.route(route=protected_resource.METADATA, methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@open_endpoint
async def mcp_metadata(call: Call) -> Response:
    """Tell MCP clients where to sign in."""
    values = await authentication.settings()
    return to_response(protected_resource.metadata(values, call.request.headers))


@app.route(route=page.PAGE, methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@open_endpoint
async def show_page(call: Call) -> Response:
    """Show the page to ask in, which holds no data."""
    path, headers = call.request.scope["raw_path"], call.request.headers
    reads_files = provider.read_file is not None
    return to_response(await asyncio.to_thread(page.reply, path, headers, reads_files))


@app.route(route=page.FILE, methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@open_endpoint
async def show_page_file(call: Call) -> Response:
    """Give a file of the page."""
    path, headers = call.request.scope["raw_path"], call.request.headers
    return to_response(await asyncio.to_thread(page.reply, path, headers))


@app.route(route="health/live", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@open_endpoint
async def health_live(_call: Call) -> Response:
    """Answer that the process serves; touches nothing."""
    return Response(status_code=200)


@app.route(route="health/ready", methods=["GET"])
@endpoint
async def health_ready(_call: Call) -> Response:
    """Answer whether requests can be served, one entry a dependency."""
    readiness = {
        "access": await authentication.readiness(),
        **await (await provider.get()).health.readiness(),
    }
    ready = all(one.serves for one in readiness.values())
    words = {name: str(one) for name, one in readiness.items()}

    return _json(200 if ready else 503, {"status": "ready" if ready else "not_ready", **words})


@app.route(route="health/neo4j", methods=["GET"])
@endpoint
async def health_neo4j(_call: Call) -> Response:
    """Answer whether the graph answers."""
    graph = (await (await provider.get()).health.graph_readiness())["graph"]
    if graph.serves:
        return _json(200, {"status": "healthy", "message": graph.reason or "Neo4j answers."})
    return _json(503, {"status": "unhealthy", "message": str(graph)})


@app.route(route="openapi.yaml", methods=["GET"])
@endpoint
async def openapi(_call: Call) -> Response:
    """Describe this API; JSON is YAML too."""
    return Response(await asyncio.to_thread(_described), media_type="application/yaml")


@app.route(route="openapi-3.0.json", methods=["GET"])
@endpoint
async def openapi_3_0(_call: Call) -> Response:
    """Describe this API for tools that read OpenAPI 3.0 alone."""
    return Response(await asyncio.to_thread(_described, is_3_0=True), media_type=http.JSON)


def _described(*, is_3_0: bool = False) -> str:
    from drift.http.description import as_3_0, document  # noqa: PLC0415 - only these routes need it

    return json.dumps(as_3_0(document()) if is_3_0 else document(), indent=2)


def _json(status: int, body: dict[str, str]) -> Response:
    return Response(json.dumps(body), status, media_type=http.JSON)


async def reconcile(timer: func.TimerRequest, context: func.Context) -> None:
    """Name and mend what differs between people's nodes and their vectors."""
    with otel.invocation(context, {}):
        await node_timer.fire(is_late=timer.past_due)


if SCHEDULE is not None:  # without one the platform knows of no timer, and wants no storage for it
    app.timer_trigger(arg_name="timer", schedule=SCHEDULE)(reconcile)
