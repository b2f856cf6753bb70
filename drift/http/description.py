"""The OpenAPI description of the routes: FastAPI's generator over the models that serve them.

FastAPI serves nothing here. It is told of each operation, and what it cannot know is added to what
it writes: the type of errors, the headers of all answers, and examples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Security
from fastapi import Path as InPath
from fastapi.security import APIKeyHeader

from drift import __version__
from drift.contracts.progress import Event, ProgressMessage
from drift.http.http import EVENT_STREAM, JSON, PROBLEM_JSON
from drift.http.query import MAX_ID_CHARACTERS
from drift.http.route import Route

EXAMPLES: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("examples.json").read_text()
)
"""Parameters, body and answer of each route, by its name; tests send them and compare.

What more is described of a route stands there as it is.
"""

_ERRORS = {
    400: "The request breaks the contract (`invalid_request`): its body is not JSON, or a field or "
    "parameter is unknown, given twice or wrong. Every broken one is named.",
    401: "There is no credential, or none that is known (`unauthenticated`). In mode `function` "
    "the platform answers instead.",
    403: "The project is not among those of the caller (`forbidden`), whether it exists or not.",
    404: "The project holds nothing under this id, whoever else does, or a setting hides the route "
    "(`not_found`); the file of the document is not kept (`content_not_kept`).",
    409: "This `retrieval_id` stands for another request or is another caller's, or the node's id "
    "is known, is one of ingestion's own, or is being changed by others, or the document is of "
    "another source (`conflict`); or an ingest holds the project (`project_held`, with "
    "Retry-After).",
    413: "The body is over 64 KiB, 128 KiB of a question to `/retrieve`, 1 MiB of a document "
    "(`MAX_DOCUMENT_MB`) or 8 MiB of a chat (`too_large`).",
    415: "The content type is not one that the route reads (`unsupported_media_type`).",
    429: "Too many requests are in flight (`busy`), or the key has used what it may "
    "(`quota_exceeded`, with the `limit`); see Retry-After.",
    500: "A server behind this one failed (`graph_unavailable`, `graph_misconfigured`, "
    "`model_unavailable`, `model_misconfigured`, `feedback_unavailable`, `deadline`), or "
    "this one has a bug (`internal`).",
    503: "Settings are missing or wrong (`not_configured`), the process is being stopped "
    "(`stopping`), or the store of original files does not answer (`document_store_unavailable`); "
    "see Retry-After.",
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
_HEADERS = {
    "x-retrieval-id": {"required": True, "schema": {"type": "string", "format": "uuid"}},
    "retry-after": {"required": True, "schema": {"type": "integer"}},
    "location": {"required": True, "schema": {"type": "string"}},
    "x-request-id": {
        "description": "The caller's own, as it was sent, else the `x-retrieval-id`.",
        "required": True,
        "schema": {"type": "string"},
    },
    "ratelimit": {
        "description": "What is left of a quota (IETF draft RateLimit header fields), where the "
        "request was counted for one; beside it stands `ratelimit-policy`.",
        "schema": {"type": "string"},
    },
}
_MORE = {
    "200": ("ratelimit",),
    "201": ("location", "ratelimit"),
    "204": ("ratelimit",),
    "429": ("retry-after", "ratelimit"),
    "503": ("retry-after",),
}


@cache
def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the description of routes, OpenAPI 3.1."""
    api = FastAPI(
        title="DRIFT for Neo4j",
        description="Answers from a Neo4j knowledge graph, with the passage of every fact.",
        version=__version__,
        license_info={"name": "MIT", "identifier": "MIT"},
    )
    for route in routes:
        if route.is_described:
            _add(route, api)

    described = api.openapi()
    for methods in described["paths"].values():
        for operation in methods.values():
            _complete(operation)

    schemas = described["components"]["schemas"]
    progress = ProgressMessage.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= {**progress.pop("$defs"), "ProgressMessage": progress}
    for of_fastapi in ("HTTPValidationError", "ValidationError"):
        del schemas[of_fastapi]

    return described


def _add(route: Route, api: FastAPI) -> None:
    """Tell FastAPI of a route, as of an endpoint with these parameters."""
    key_header = APIKeyHeader(name="x-functions-key", scheme_name="functionKey")
    of_projects = ("projects/", "v1/vector_stores/")
    longest_id = 128 if route.path.startswith(of_projects) else MAX_ID_CHARACTERS
    parameters = {
        "id": Annotated[str, _id(longest_id)] if "id}" in route.path else None,
        "query": Annotated[route.query, Query()] if route.query else None,
        "body": Annotated[route.body, Body()] if route.body else None,
    }

    def endpoint() -> None: ...

    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation)
            for name, annotation in parameters.items()
            if annotation is not None
        ]
    )
    summary, _, told = cleandoc(str(route.handler.__doc__)).partition("\n\n")
    first, *words = route.name.split("_")
    api.add_api_route(
        f"/{route.path.replace('{*', '{')}",
        endpoint,
        methods=[route.methods],
        operation_id=route.id or first + "".join(word.title() for word in words),
        summary=summary.rstrip("."),
        description="",
        status_code=route.status,
        response_model=route.shape,
        response_description=(" ".join(told.split()) or "What was asked for.")
        + _told_of_events(route.events),
        responses={
            code: {"model": route.error, "description": _ERRORS[code]} for code in route.errors
        },
        dependencies=[] if route.is_open else [Security(key_header)],
        deprecated=route.deprecated is not None or None,
    )


def _id(longest: int) -> Any:  # noqa: ANN401 - what FastAPI makes of it
    return InPath(
        min_length=1,
        max_length=longest,
        pattern=r"^[^\u0000]*$",
        description="Percent-encoded once, a slash as `%2F`.",
    )


def _told_of_events(events: Sequence[Event]) -> str:
    if not events:
        return ""
    told = ", ".join(f"`event: {name}` {_STREAMED[name]}" for name in events)
    return (
        f" With `Accept: {EVENT_STREAM}` the answer is a stream: {told}, and exactly one last "
        f"event, `event: {Event.RESULT}` with this document or `event: {Event.ERROR}` with a "
        "Problem."
    )


def _complete(operation: dict[str, Any]) -> None:
    """Add what FastAPI cannot know: headers, the type of errors, streams and examples."""
    of_few_words = ("healthLive", "healthReady", "healthGraph", "openapi", "openapiOlder")
    responses, shown = operation["responses"], EXAMPLES.get(operation["operationId"], {})
    responses.pop("422", None)  # FastAPI's own
    if operation["operationId"] in of_few_words:
        operation["responses"] = {"200": {"description": "Yes."}, "503": {"description": "No."}}
        return

    for status, answer in responses.items():
        answer["headers"] = {
            name: _HEADERS[name]
            for name in ("x-retrieval-id", "x-request-id", *_MORE.get(status, ()))
        }
        content = answer.get("content", {})
        if status >= "400" and content[JSON]["schema"]["$ref"].endswith("/Problem"):
            content[PROBLEM_JSON] = content.pop(JSON)
        if EVENT_STREAM in answer["description"]:
            content[EVENT_STREAM] = {"schema": {"type": "string"}}
        if content.get(JSON, {}).get("schema") == {}:  # of a file
            answer["content"] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
        if status < "400" and "answer" in shown:
            content[JSON]["example"] = shown["answer"]

    operation |= shown.get("more", {})
    for parameter in operation.get("parameters", ()):
        _complete_parameter(parameter, shown)

    if "requestBody" in operation and "body" in shown:
        operation["requestBody"]["content"][JSON]["example"] = shown["body"]


def _complete_parameter(parameter: dict[str, Any], shown: Mapping[str, Any]) -> None:
    schema = parameter["schema"]
    if "anyOf" in schema:  # of text and nothing, but a query cannot say null
        schema |= schema.pop("anyOf")[0]
    if "description" in schema:
        parameter.setdefault("description", schema["description"])
    if parameter["name"] in (examples := shown.get("parameters", {})):
        parameter["example"] = examples[parameter["name"]]


def as_3_0(described: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in OpenAPI 3.0.3; what 3.0 cannot say of a schema is left out.

    API Management, Power Platform and Microsoft 365 refuse the type null of 3.1. Source: the
    migration from 3.0 to 3.1, OpenAPI Initiative (2021), backwards.
    """
    told: dict[str, Any] = _rewritten(described)
    licence = {"name": described["info"]["license"]["name"]}
    return told | {"openapi": "3.0.3", "info": described["info"] | {"license": licence}}


def _rewritten(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_rewritten(one) for one in value]
    if not isinstance(value, dict):
        return value

    unknown = ("contentMediaType", "contentSchema")
    told = {name: _rewritten(one) for name, one in value.items() if name not in unknown}
    if told.get("default", "") is None:
        del told["default"]
    if isinstance(told.get("pattern"), str):
        told["pattern"] = told["pattern"].replace(r"\u0000", r"\x00")  # not every reader knows \u
    if isinstance(least := told.get("exclusiveMinimum"), int | float):
        told |= {"minimum": least, "exclusiveMinimum": True}
    if "const" in told and not isinstance(told["const"], dict):  # a property may be called so
        told["enum"] = [told.pop("const")]
    if isinstance(value.get("anyOf"), list):
        _allow_null(told)
    if isinstance(told.get("$ref"), str) and len(told) > 1:
        told["allOf"] = [{"$ref": told.pop("$ref")}]  # what stands beside a reference is not read
    return told


def _allow_null(schema: dict[str, Any]) -> None:
    """Say that a schema may be null as 3.0 does, where it is one of several."""
    kinds = [one for one in schema["anyOf"] if one != {"type": "null"}]
    if len(kinds) == len(schema["anyOf"]):
        return
    del schema["anyOf"]
    schema["nullable"] = True
    if len(kinds) > 1:
        schema["anyOf"] = kinds
    else:
        schema.update(kinds[0])
