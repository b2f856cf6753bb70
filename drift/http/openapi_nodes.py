"""The description of the routes that write people's own nodes, with an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from drift.contracts.nodes import NewNode, NodeChange, NodeOut
from drift.http.http import JSON
from drift.http.openapi_parts import headers, problem, ref

NODES, NODE = "/api/nodes", "/api/nodes/{id}"
REQUESTS: tuple[type[BaseModel], ...] = (NewNode, NodeChange)
MODELS: tuple[type[BaseModel], ...] = (NodeOut,)

PROPERTIES = {"name": "Mira Olsen", "description": "Harbour master since 1998.", "since": 1998}
NEW = {"project_id": "handbook", "label": "Person", "id": "mira", "properties": PROPERTIES}
WRITTEN = {
    "id": "mira",
    "project_id": "handbook",
    "label": "Person",
    "title": "Mira Olsen",
    "embedded": True,
}
_CLOSED = "The routes are closed (`ENABLE_INDEXING=false`)"
_CONFLICT = (
    "{known}the id is one of ingestion's own (`conflict`), or an ingest holds the project "
    "(`project_held`); see Retry-After then."
)
_WITH_A_BODY = ("400", "401", "403", "413", "415", "429", "500", "503")
_WITHOUT = ("400", "401", "403", "429", "500", "503")
_QUERY = {
    "name": "project_id",
    "in": "query",
    "required": False,
    "description": "The project; may be left out by a caller who has exactly one.",
    "schema": {"type": "string"},
    "example": "handbook",
}
_PATH = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The node's id, percent-encoded once.",
    "schema": {"type": "string"},
    "example": "mira",
}


def paths(errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the paths; `errors` are those of every question, by status."""
    return {
        NODES: {"post": _create(errors)},
        NODE: {"put": _replace(errors), "delete": _remove(errors)},
    }


def _create(errors: Mapping[str, str]) -> dict[str, Any]:
    where = {"description": "The path of the node.", "schema": {"type": "string"}}
    return {
        "operationId": "createNode",
        "summary": "Make a node of a label of RAG_LABELS, with the vector of its title and text",
        "requestBody": _body(NewNode, NEW),
        "responses": {
            "201": {**_written("The node is there."), "headers": {**headers(), "Location": where}},
            **_problems(errors, _WITH_A_BODY, f"{_CLOSED}.", "The id is known, "),
        },
    }


def _replace(errors: Mapping[str, str]) -> dict[str, Any]:
    gone = f"{_CLOSED}, or the project has no such node (`not_found`)."
    return {
        "operationId": "replaceNode",
        "summary": "Give a node other properties, and another vector where its text is another",
        "parameters": [_PATH, _QUERY],
        "requestBody": _body(NodeChange, {"properties": PROPERTIES}),
        "responses": {
            "200": _written("The node has these properties and no others."),
            **_problems(errors, _WITH_A_BODY, gone, "The node is being changed by others, "),
        },
    }


def _remove(errors: Mapping[str, str]) -> dict[str, Any]:
    gone = f"{_CLOSED}, or the project has no such node (`not_found`)."
    return {
        "operationId": "removeNode",
        "summary": "Remove a node with its vector and its edges",
        "parameters": [_PATH, _QUERY],
        "responses": {
            "204": {"description": "The node is gone.", "headers": headers()},
            **_problems(errors, _WITHOUT, gone, ""),
        },
    }


def _body(shape: type[BaseModel], example: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {JSON: {"schema": ref(shape), "example": example}}}


def _written(text: str) -> dict[str, Any]:
    content = {JSON: {"schema": ref(NodeOut), "example": WRITTEN}}
    return {"description": text, "headers": headers(), "content": content}


def _problems(
    errors: Mapping[str, str], statuses: tuple[str, ...], gone: str, known: str
) -> dict[str, Any]:
    described = {status: errors[status] for status in statuses}
    described |= {"404": gone, "409": _CONFLICT.format(known=known)}
    return {status: problem(text) for status, text in sorted(described.items())}
