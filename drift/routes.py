"""Every route of the function, as one table: the platform, the local host and OpenAPI read it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.responses import Response

from drift.contracts.answer import RetrieveResponse
from drift.contracts.chat_completions import (
    ChatError,
    ChatModelList,
    CompletionOut,
    CompletionRequest,
)
from drift.contracts.dify import DifyError, DifyRequest, DifyResponse
from drift.contracts.documents import DocumentChange, IndexedOut, NewDocument
from drift.contracts.evidence import EvidenceAnswer
from drift.contracts.feedback import Feedback, FeedbackPage
from drift.contracts.nodes import NewNode, NodeChange, NodeOut
from drift.contracts.parameters import PageParameters, Parameters, ProjectParameters
from drift.contracts.progress import Event
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.reading import QuotaRead
from drift.contracts.request import MAX_QUESTION_BYTES, RetrieveRequest
from drift.contracts.vector_stores import VectorStorePage, VectorStoreSearch
from drift.http import documents, http, nodes, page, probes, protected_resource, questions, reading
from drift.http.content import read_content
from drift.http.feedback import OF_PROJECT, give_feedback, read_feedback
from drift.http.route import Call, Route
from drift.integrations import chat_completions as chat
from drift.integrations import chat_errors, dify, endpoints, vector_stores


async def openapi(_call: Call) -> Response:
    """This document."""
    return Response(await asyncio.to_thread(_described), media_type="application/yaml")


async def openapi_3_0(_call: Call) -> Response:
    """This document in OpenAPI 3.0.3."""
    return Response(await asyncio.to_thread(_described, is_3_0=True), media_type=http.JSON)


def _described(*, is_3_0: bool = False) -> str:
    from drift.http.description import as_3_0  # noqa: PLC0415 - only these routes need it

    return json.dumps(as_3_0(document()) if is_3_0 else document(), indent=2)


def document() -> dict[str, Any]:
    """Return the OpenAPI description of the routes."""
    from drift.http.description import describe  # noqa: PLC0415 - as above

    return describe(ROUTES)


_ASKING = (400, 401, 403, 429, 500, 503)
_WITH_BODY = (*_ASKING, 413, 415)
ROUTES = (
    Route(
        "POST",
        "retrieve",
        questions.retrieve,
        RetrieveResponse | EvidenceAnswer,
        (*_WITH_BODY, 409),
        body=RetrieveRequest,
        most=MAX_QUESTION_BYTES,
        events=(
            Event.PROGRESS,
            Event.ANSWER_DELTA,
            Event.ANSWER_REPLACED,
            Event.CITATIONS,
            Event.FOLLOWUP,
        ),
    ),
    Route(
        "POST",
        "api/rag/query",
        questions.rag_query,
        RagResponse,
        (*_WITH_BODY, 404),
        body=RagRequest,
        opens=lambda service: service.rag(),
        events=(Event.ANSWER_DELTA, Event.ANSWER_REPLACED, Event.SOURCES),
    ),
    Route(
        "POST",
        "v1/chat/completions",
        endpoints.chat_completions,
        CompletionOut,
        (*_WITH_BODY, 404),
        body=CompletionRequest,
        most=chat.MAX_BODY_BYTES,
        problem=chat_errors.problem,
        error=ChatError,
    ),
    Route(
        "GET",
        "v1/models",
        endpoints.chat_models,
        ChatModelList,
        _ASKING,
        problem=chat_errors.problem,
        error=ChatError,
    ),
    *(
        Route("POST", path, handler, problem=chat_errors.no_such_route, is_described=False)
        for path, handler in (
            ("v1/embeddings", endpoints.chat_embeddings),
            ("v1/responses", endpoints.chat_responses),
        )
    ),
    Route(
        "POST",
        "v1/vector_stores/{id}/search",
        endpoints.vector_store_search,
        VectorStorePage,
        (*_WITH_BODY, 404),
        query=Parameters,
        body=VectorStoreSearch,
        problem=vector_stores.problem,
        error=ChatError,
    ),
    Route(
        "POST",
        "dify/retrieval",
        endpoints.dify_retrieval,
        DifyResponse,
        (*_WITH_BODY, 404),
        body=DifyRequest,
        problem=dify.problem,
        error=DifyError,
    ),
    Route(
        "POST",
        nodes.NODES,
        nodes.create_node,
        NodeOut,
        (*_WITH_BODY, 404, 409),
        body=NewNode,
        opens=lambda service: service.nodes(),
        status=201,
    ),
    Route(
        "PUT",
        nodes.NODE,
        nodes.replace_node,
        NodeOut,
        (*_WITH_BODY, 404, 409),
        query=ProjectParameters,
        body=NodeChange,
        opens=lambda service: service.nodes(),
    ),
    Route(
        "DELETE",
        nodes.NODE,
        nodes.remove_node,
        errors=(*_ASKING, 404, 409),
        query=ProjectParameters,
        opens=lambda service: service.nodes(),
        status=204,
    ),
    Route(
        "POST",
        documents.DOCUMENTS,
        documents.add_document,
        IndexedOut,
        (*_WITH_BODY, 404, 409),
        body=NewDocument,
        reads_body=True,
        opens=lambda service: service.require_indexing(),
    ),
    Route(
        "PATCH",
        documents.DOCUMENT,
        documents.change_document,
        errors=(*_WITH_BODY, 404, 409),
        query=ProjectParameters,
        body=DocumentChange,
        opens=lambda service: service.require_indexing(),
        status=204,
    ),
    Route(
        "DELETE",
        documents.DOCUMENT,
        documents.remove_document,
        errors=(*_ASKING, 404, 409),
        query=ProjectParameters,
        opens=lambda service: service.require_indexing(),
        status=204,
    ),
    *(
        Route(
            "GET",
            one.path,
            one.handler(),
            one.shape,
            (*_ASKING, 404) if one.finds_by_id else _ASKING,
            query=one.parameters,
        )
        for one in (read_content, *reading.ROUTES)
    ),
    Route("POST", "feedback", give_feedback, errors=(*_WITH_BODY, 404), body=Feedback, status=204),
    Route("GET", OF_PROJECT, read_feedback, FeedbackPage, (*_ASKING, 404), query=PageParameters),
    Route("GET", "usage", reading.read_usage, QuotaRead, (401, 503), id="usage"),
    Route("POST GET DELETE", protected_resource.RESOURCE, endpoints.mcp, is_described=False),
    Route(
        "GET", protected_resource.METADATA, endpoints.mcp_metadata, is_open=True, is_described=False
    ),
    Route("GET", page.PAGE, page.show_page, is_open=True, is_described=False),
    Route("GET", page.FILE, page.show_page_file, is_open=True, is_described=False),
    Route("GET", "health/live", probes.health_live, is_open=True),
    Route("GET", "health/ready", probes.health_ready),
    Route("GET", "health/neo4j", probes.health_neo4j, id="healthGraph"),
    Route("GET", "metrics", probes.metrics, is_described=False),
    Route("GET", "openapi.yaml", openapi),
    Route("GET", "openapi-3.0.json", openapi_3_0, id="openapiOlder"),
)
