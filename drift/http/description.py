"""The OpenAPI description of the routes, made from the models that serve them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from drift import __version__
from drift.contracts.answer import RetrieveResponse
from drift.contracts.problem import Problem
from drift.contracts.progress import ProgressMessage
from drift.contracts.quota import QuotaRead
from drift.contracts.request import RetrieveRequest
from drift.http import openapi_nodes, openapi_rag, openapi_reading
from drift.http.http import EVENT_STREAM, JSON
from drift.http.openapi_parts import headers, problem, ref
from drift.http.openapi_references import ANSWER, QUESTION

_REQUESTS: tuple[type[BaseModel], ...] = (
    RetrieveRequest,
    *openapi_rag.REQUESTS,
    *openapi_nodes.REQUESTS,
)
_MODELS: tuple[type[BaseModel], ...] = (
    RetrieveResponse,
    Problem,
    ProgressMessage,
    QuotaRead,
    *openapi_rag.MODELS,
    *openapi_nodes.MODELS,
    *openapi_reading.MODELS,
)
_ERRORS = {
    "400": "The body is not JSON or breaks the contract (`invalid_request`); every broken field is "
    "named.",
    "401": "There is no credential, or none that is known (`unauthenticated`). In mode `function` "
    "the platform answers instead.",
    "403": "The project is not among those of the caller (`forbidden`), whether it exists or not.",
    "413": "The body is over 64 KiB (`too_large`).",
    "415": "The content type is not application/json (`unsupported_media_type`).",
    "429": "Too many requests are in flight (`busy`), or the key has used what it may "
    "(`quota_exceeded`, with the `limit`); see Retry-After.",
    "500": "A server behind this one failed (`graph_unavailable`, `graph_misconfigured`, "
    "`model_unavailable`, `model_misconfigured`, `deadline`), or this one has a bug (`internal`).",
    "503": "Settings are missing or wrong (`not_configured`), or the process is being stopped "
    "(`stopping`); see Retry-After.",
}
_IN_USE = {"409": "Another caller uses this `retrieval_id` (`conflict`)."}
_STREAM_TEXT = (
    "With `Accept: text/event-stream` the answer is a stream: `event: progress` for each progress "
    "message, `event: answer_delta` with the `text` that comes next of the final answer, `event: "
    "answer_replaced` with a `text` in place of all before, `event: citations` with the "
    '`key_facts`, with `include: ["trace"]` an `event: followup` for each follow-up that begins or '
    "has ended, as the trace has it, and exactly one last event, `event: result` with this "
    "document or `event: error` with a Problem."
)


def document() -> dict[str, Any]:
    """Return the description, OpenAPI 3.1."""
    _, schemas = models_json_schema(
        [
            (model, "validation" if model in _REQUESTS else "serialization")
            for model in (*_REQUESTS, *_MODELS)
        ],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "DRIFT for Neo4j",
            "version": __version__,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": {
            "/retrieve": {"post": _retrieve()},
            openapi_rag.PATH: {"post": openapi_rag.query(_ERRORS)},
            **openapi_nodes.paths(_ERRORS),
            **openapi_reading.paths(),
            "/usage": {"get": _usage()},
            "/health/live": {
                "get": _plain(
                    "Whether the process serves; touches nothing.", "healthLive", secured=False
                )
            },
            "/health/ready": {
                "get": _plain(
                    "Whether requests can be served, one entry a dependency.", "healthReady"
                )
            },
            "/health/neo4j": {"get": _plain("Whether the graph answers.", "healthNeo4j")},
            "/openapi.yaml": {"get": _plain("This document.", "openapi")},
        },
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "functionKey": {"type": "apiKey", "in": "header", "name": "x-functions-key"}
            },
        },
        "security": [{"functionKey": []}],
    }


def _retrieve() -> dict[str, Any]:
    answer = {
        "description": f"The answer, or `no_data_found`. {_STREAM_TEXT}",
        "headers": headers(),
        "content": {
            JSON: {"schema": ref(RetrieveResponse), "example": ANSWER},
            EVENT_STREAM: {"schema": {"type": "string"}},
        },
    }
    errors = {status: problem(text) for status, text in sorted({**_ERRORS, **_IN_USE}.items())}
    return {
        "operationId": "retrieve",
        "summary": "Answer a question from a project's knowledge graph, with checked citations",
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": ref(RetrieveRequest), "example": QUESTION}},
        },
        "responses": {"200": answer, **errors},
    }


def _usage() -> dict[str, Any]:
    answer = {
        "description": "The limits of the key, and what is used of them; null where it has none.",
        "headers": headers(),
        "content": {JSON: {"schema": ref(QuotaRead)}},
    }
    errors = {status: problem(_ERRORS[status]) for status in ("401", "503")}
    return {
        "operationId": "usage",
        "summary": "What the caller has used of its quota; asking counts for none",
        "responses": {"200": answer, **errors},
    }


def _plain(summary: str, name: str, *, secured: bool = True) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "Yes."}, "503": {"description": "No."}},
    }
    return operation if secured else {**operation, "security": []}
