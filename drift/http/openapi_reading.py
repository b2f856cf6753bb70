"""The description of the read routes: their parameters, answers and examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from drift.contracts import reading as out
from drift.http import reading
from drift.http.http import JSON
from drift.http.openapi_examples import ANSWERS
from drift.http.openapi_parts import headers, problem, ref
from drift.http.query import LISTS, MAX_ID_CHARACTERS, TEXTS, Bounds

MODELS: tuple[type[BaseModel], ...] = (
    out.ProjectsPage,
    out.ProjectOut,
    out.DocumentsPage,
    out.CommunitiesPage,
    out.DocumentRead,
    out.ChunkRead,
    out.EntityRead,
)

ERRORS = {
    "400": "A parameter is unknown, given twice or wrong, or the cursor is damaged or of another "
    "list (`invalid_request`); every broken one is named.",
    "401": "There is no credential, or none that is known (`unauthenticated`). In mode `function` "
    "the platform answers instead.",
    "403": "The project is not among those of the caller (`forbidden`), whether it exists or not.",
    "429": "The key has used what it may (`quota_exceeded`, with the `limit`); see Retry-After.",
    "500": "The graph failed (`graph_unavailable`, `graph_misconfigured`, `deadline`), or this "
    "service has a bug (`internal`).",
    "503": "Settings are missing or wrong (`not_configured`), or the process is being stopped "
    "(`stopping`); see Retry-After.",
}
_NOT_FOUND = "The project holds nothing under this id, whoever else does (`not_found`)."

EXAMPLE = {
    "project": "handbook",
    "document": "harbour-office.md",
    "chunk": "0f5a2f0e-3c56-5d0b-9f1e-2b7d8a4c6e10",
    "entity": "7d1c3b2a-8e4f-5a6b-8c9d-0e1f2a3b4c5d",
}
"""What the examples name; a test sends them."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One read route; `example` stands for its id."""

    route: str
    name: str
    summary: str
    model: type[BaseModel]
    parameters: tuple[Mapping[str, Any], ...] = ()
    example: str = ""
    is_found: bool = False


def _parameter(name: str, text: str, schema: Mapping[str, Any], **more: object) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": schema, **more}


def _page(bounds: Bounds) -> tuple[dict[str, Any], dict[str, Any]]:
    return _limit(bounds), _parameter(
        "cursor",
        "`next` of the page before, as it is. It is of this list alone.",
        {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
    )


def _limit(bounds: Bounds) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1, "maximum": bounds.most, "default": bounds.default}
    return _parameter("limit", "How many at most.", schema, example=5)


_PROJECT_ID = _parameter(
    "project_id",
    "The project; a caller who has exactly one may leave it out.",
    {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^[^\u0000]*$"},
    example=EXAMPLE["project"],
)
_LEVEL = _parameter(
    "level",
    "Communities of this level only.",
    {"type": "integer", "minimum": 0, "maximum": 999_999},
    example=0,
)

OPERATIONS = (
    Operation(
        reading.PROJECTS,
        "readProjects",
        "The projects that the caller may read",
        out.ProjectsPage,
        _page(LISTS),
    ),
    Operation(
        reading.PROJECT,
        "readProject",
        "What a project holds, counted",
        out.ProjectOut,
        example=EXAMPLE["project"],
    ),
    Operation(
        reading.DOCUMENTS,
        "readDocuments",
        "A project's documents",
        out.DocumentsPage,
        _page(LISTS),
        EXAMPLE["project"],
    ),
    Operation(
        reading.COMMUNITIES,
        "readCommunities",
        "A project's communities, with levels, sizes and summaries",
        out.CommunitiesPage,
        (*_page(TEXTS), _LEVEL),
        EXAMPLE["project"],
    ),
    Operation(
        reading.DOCUMENT,
        "readDocument",
        "A document, with its chunks in their order",
        out.DocumentRead,
        (_PROJECT_ID, *_page(LISTS)),
        EXAMPLE["document"],
        is_found=True,
    ),
    Operation(
        reading.CHUNK,
        "readChunk",
        "A chunk, with its text, its document and what stands before and after it",
        out.ChunkRead,
        (_PROJECT_ID,),
        EXAMPLE["chunk"],
        is_found=True,
    ),
    Operation(
        reading.ENTITY,
        "readEntity",
        "An entity, with its relations and the chunks that mention it",
        out.EntityRead,
        (_PROJECT_ID, _limit(TEXTS)),
        EXAMPLE["entity"],
        is_found=True,
    ),
)


def paths() -> dict[str, Any]:
    """Return the read routes by their paths."""
    return {f"/{path(one.route)}": {"get": _described(one)} for one in OPERATIONS}


def path(route: str) -> str:
    """Return a route as a path of OpenAPI, which knows one kind of parameter."""
    return route.replace("{*", "{")


def _described(one: Operation) -> dict[str, Any]:
    errors = {**ERRORS, **({"404": _NOT_FOUND} if one.is_found else {})}
    parameters = [*([_path_parameter(one)] if one.example else []), *one.parameters]
    return {
        "operationId": one.name,
        "summary": one.summary,
        **({"parameters": parameters} if parameters else {}),
        "responses": {
            "200": _answer(one),
            **{status: problem(text) for status, text in sorted(errors.items())},
        },
    }


def _answer(one: Operation) -> dict[str, Any]:
    return {
        "description": "What was asked for.",
        "headers": headers(),
        "content": {JSON: {"schema": ref(one.model), "example": ANSWERS[one.name]}},
    }


def _path_parameter(one: Operation) -> dict[str, Any]:
    of_project = one.route.startswith(f"{reading.PROJECTS}/")
    return {
        "name": "id",
        "in": "path",
        "required": True,
        "description": "Percent-encoded once, a slash as `%2F`.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": 128 if of_project else MAX_ID_CHARACTERS,
            "pattern": r"^[^\u0000]*$",
        },
        "example": one.example,
    }
