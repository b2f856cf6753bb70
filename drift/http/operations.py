"""The operations of the OpenAPI description: a row a route, as FastAPI is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

from drift.contracts.answer import Problem, RetrieveResponse
from drift.contracts.chat_completions import (
    ChatError,
    ChatModelList,
    CompletionOut,
    CompletionRequest,
)
from drift.contracts.dify import DifyError, DifyRequest, DifyResponse
from drift.contracts.documents import IndexedOut, NewDocument
from drift.contracts.nodes import NewNode, NodeChange, NodeOut
from drift.contracts.progress import Event
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.reading import Parameters, ProjectParameters, QuotaRead
from drift.contracts.request import RetrieveRequest
from drift.http import documents, nodes, reading
from drift.http.http import EVENT_STREAM
from drift.http.query import MAX_ID_CHARACTERS

_ERRORS = {
    400: "The request breaks the contract (`invalid_request`): its body is not JSON, or a field or "
    "parameter is unknown, given twice or wrong. Every broken one is named.",
    401: "There is no credential, or none that is known (`unauthenticated`). In mode `function` "
    "the platform answers instead.",
    403: "The project is not among those of the caller (`forbidden`), whether it exists or not.",
    404: "The project holds nothing under this id, whoever else does, or a setting hides the route "
    "(`not_found`).",
    409: "Another caller uses this `retrieval_id`, or the node's id is known, is one of "
    "ingestion's own, or is being changed by others, or the document is of another source "
    "(`conflict`); or an ingest holds the project (`project_held`, with Retry-After).",
    413: "The body is over 64 KiB, 1 MiB of a document or 8 MiB of a chat (`too_large`).",
    415: "The content type is not one that the route reads (`unsupported_media_type`).",
    429: "Too many requests are in flight (`busy`), or the key has used what it may "
    "(`quota_exceeded`, with the `limit`); see Retry-After.",
    500: "A server behind this one failed (`graph_unavailable`, `graph_misconfigured`, "
    "`model_unavailable`, `model_misconfigured`, `deadline`), or this one has a bug (`internal`).",
    503: "Settings are missing or wrong (`not_configured`), or the process is being stopped "
    "(`stopping`); see Retry-After.",
}
_STREAMED: Mapping[Event, str] = {
    Event.PROGRESS: "for each progress message (ProgressMessage)",
    Event.ANSWER_DELTA: "with the `text` that comes next of the answer",
    Event.ANSWER_REPLACED: "with a `text` in place of all before",
    Event.CITATIONS: "with the `key_facts`",
    Event.FOLLOWUP: 'with `include: ["trace"]`, for each follow-up that begins or has ended, as '
    "the trace has it",
    Event.SOURCES: "with the `sources`",
}
_OF_DOCUMENTS = tuple(name for name in _STREAMED if name is not Event.SOURCES)
_OF_NODES = (Event.ANSWER_DELTA, Event.ANSWER_REPLACED, Event.SOURCES)


@dataclass(frozen=True, slots=True)
class Operation:
    """A route: what FastAPI is told of it, and which errors it may answer besides those of all."""

    path: str
    id: str
    summary: str
    told: str
    shape: type[BaseModel] | None = None
    errors: tuple[int, ...] = ()
    method: str = "GET"
    query: type[Parameters] | None = None
    body: type[BaseModel] | None = None
    status: int = 200
    longest_id: int = MAX_ID_CHARACTERS
    error: type[BaseModel] = Problem

    def add_to(self, api: FastAPI) -> None:
        """Tell FastAPI of it, as of an endpoint with these parameters."""
        parameters = {
            "id": Annotated[str, _id(self.longest_id)] if "id}" in self.path else None,
            "query": Annotated[self.query, Query()] if self.query else None,
            "body": Annotated[self.body, Body()] if self.body else None,
        }

        def endpoint() -> None: ...

        endpoint.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation)
                for name, annotation in parameters.items()
                if annotation is not None
            ]
        )
        api.add_api_route(
            self.path.replace("{*", "{"),
            endpoint,
            methods=[self.method],
            operation_id=self.id,
            summary=self.summary,
            description="",
            status_code=self.status,
            response_model=self.shape,
            response_description=self.told,
            responses={
                code: {"model": self.error, "description": _ERRORS[code]} for code in self.errors
            },
            dependencies=[] if self.id == "healthLive" else [Security(_KEY)],
        )


def _id(longest: int) -> Any:  # noqa: ANN401 - what FastAPI makes of it
    return Path(
        min_length=1,
        max_length=longest,
        pattern=r"^[^\u0000]*$",
        description="Percent-encoded once, a slash as `%2F`.",
    )


def _stream_text(*names: Event) -> str:
    events = ", ".join(f"`event: {name}` {_STREAMED[name]}" for name in names)
    return (
        f"With `Accept: {EVENT_STREAM}` the answer is a stream: {events}, and exactly one last "
        f"event, `event: {Event.RESULT}` with this document or `event: {Event.ERROR}` with a "
        "Problem."
    )


_KEY = APIKeyHeader(name="x-functions-key", scheme_name="functionKey")
_ASKING = (400, 401, 403, 429, 500, 503)
_WITH_BODY = (*_ASKING, 413, 415)
OPERATIONS = (
    Operation(
        "/retrieve",
        "retrieve",
        "Answer a question from a project's knowledge graph, with checked citations",
        f"The answer, or `no_data_found`. {_stream_text(*_OF_DOCUMENTS)}",
        RetrieveResponse,
        (*_WITH_BODY, 409),
        "POST",
        body=RetrieveRequest,
    ),
    Operation(
        "/api/rag/query",
        "ragQuery",
        "Answer a question from the nodes nearest to it, cited by their numbers",
        "The answer, with the nodes that it was written from: `[Node n]` is the n-th of them. "
        'Where none is near enough, it is "I don\'t have enough information", without sources. '
        f"{_stream_text(*_OF_NODES)}",
        RagResponse,
        (*_WITH_BODY, 404),
        "POST",
        body=RagRequest,
    ),
    Operation(
        "/v1/chat/completions",
        "chatCompletions",
        "Answer the last question of a conversation, as OpenAI's API does",
        f"The answer as a chat completion, with `stream` as its chunks ({EVENT_STREAM}). Errors "
        "have OpenAI's shape.",
        CompletionOut,
        (*_WITH_BODY, 404),
        "POST",
        body=CompletionRequest,
        error=ChatError,
    ),
    Operation(
        "/v1/models",
        "chatModels",
        "The caller's projects as models of OpenAI's API",
        "The projects, each also as the model that takes one look (`:quick`).",
        ChatModelList,
        _ASKING,
        error=ChatError,
    ),
    Operation(
        "/dify/retrieval",
        "difyRetrieval",
        "Find passages, as an external knowledge base of Dify",
        "The passages. Errors have Dify's shape.",
        DifyResponse,
        (*_WITH_BODY, 404),
        "POST",
        body=DifyRequest,
        error=DifyError,
    ),
    Operation(
        f"/{nodes.NODES}",
        "createNode",
        "Make a node of a label of RAG_LABELS, with the vector of its title and text",
        "The node is there; Location is its path.",
        NodeOut,
        (*_WITH_BODY, 404, 409),
        "POST",
        body=NewNode,
        status=201,
    ),
    Operation(
        f"/{nodes.NODE}",
        "replaceNode",
        "Give a node other properties, and another vector where its text is another",
        "The node has these properties and no others.",
        NodeOut,
        (*_WITH_BODY, 404, 409),
        "PUT",
        ProjectParameters,
        NodeChange,
    ),
    Operation(
        f"/{nodes.NODE}",
        "removeNode",
        "Remove a node with its vector and its edges",
        "The node is gone.",
        errors=(*_ASKING, 404, 409),
        method="DELETE",
        query=ProjectParameters,
        status=204,
    ),
    Operation(
        f"/{documents.DOCUMENTS}",
        "addDocument",
        "Have a project hold a document, of which the next question knows",
        "What became of the document; the same again is `unchanged`, and nothing is written. As "
        "text/markdown or text/plain the body is the document itself, with `id` and `project_id` "
        "in the query; as application/octet-stream it is a file of the kind that the id ends with.",
        IndexedOut,
        (*_WITH_BODY, 404, 409),
        "POST",
        body=NewDocument,
    ),
    Operation(
        f"/{documents.DOCUMENT}",
        "removeDocument",
        "Take a document out of a project, with its chunks",
        "The document is gone.",
        errors=(*_ASKING, 404, 409),
        method="DELETE",
        query=ProjectParameters,
        status=204,
    ),
    *(
        Operation(
            f"/{route.path}",
            route.name.title().replace("_", "").replace("Read", "read", 1),
            route.summary,
            "What was asked for.",
            route.shape,
            _ASKING if route.is_of_project or route is reading.read_projects else (*_ASKING, 404),
            query=route.parameters,
            longest_id=128 if route.is_of_project else MAX_ID_CHARACTERS,
        )
        for route in reading.ROUTES
    ),
    Operation(
        "/usage",
        "usage",
        "What the caller has used of its quota; asking counts for none",
        "The limits of the key, and what is used of them; null where it has none.",
        QuotaRead,
        (401, 503),
    ),
    Operation("/health/live", "healthLive", "Whether the process serves; touches nothing.", "Yes."),
    Operation(
        "/health/ready",
        "healthReady",
        "Whether requests can be served, one entry a dependency.",
        "Yes.",
    ),
    Operation("/health/neo4j", "healthGraph", "Whether the graph answers.", "Yes."),
    Operation("/openapi.yaml", "openapi", "This document.", "Yes."),
    Operation("/openapi-3.0.json", "openapiOlder", "This document in OpenAPI 3.0.3.", "Yes."),
)
