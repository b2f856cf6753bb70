"""The OpenAPI description of the routes: FastAPI's generator over the models that serve them.

FastAPI serves nothing here. It is told of each operation, and what it cannot know is added to what
it writes: the type of errors, the headers of all answers, and examples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from drift import __version__
from drift.contracts.progress import ProgressMessage
from drift.http.http import EVENT_STREAM, JSON, PROBLEM_JSON
from drift.http.operations import OPERATIONS

EXAMPLES: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("examples.json").read_text()
)
"""Parameters, body and answer of each route, by its name; tests send them and compare."""

_OF_FEW_WORDS = ("healthLive", "healthReady", "healthGraph", "openapi", "openapiOlder")
_HEADERS = {
    "x-retrieval-id": {"required": True, "schema": {"type": "string", "format": "uuid"}},
    "retry-after": {"required": True, "schema": {"type": "integer"}},
    "location": {"required": True, "schema": {"type": "string"}},
}
_MORE = {"201": ("location",), "429": ("retry-after",), "503": ("retry-after",)}


@cache
def document() -> dict[str, Any]:
    """Return the description, OpenAPI 3.1."""
    api = FastAPI(
        title="DRIFT for Neo4j",
        description="Answers from a Neo4j knowledge graph, with the passage of every fact.",
        version=__version__,
        license_info={"name": "MIT", "identifier": "MIT"},
    )
    for operation in OPERATIONS:
        operation.add_to(api)

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


def _complete(operation: dict[str, Any]) -> None:
    """Add what FastAPI cannot know: headers, the type of errors, streams and examples."""
    responses, shown = operation["responses"], EXAMPLES.get(operation["operationId"], {})
    responses.pop("422", None)  # FastAPI's own
    if operation["operationId"] in _OF_FEW_WORDS:
        operation["responses"] = {"200": {"description": "Yes."}, "503": {"description": "No."}}
        return

    for status, answer in responses.items():
        answer["headers"] = {
            name: _HEADERS[name] for name in ("x-retrieval-id", *_MORE.get(status, ()))
        }
        content = answer.get("content", {})
        if status >= "400" and content[JSON]["schema"]["$ref"].endswith("/Problem"):
            content[PROBLEM_JSON] = content.pop(JSON)
        if EVENT_STREAM in answer["description"]:
            content[EVENT_STREAM] = {"schema": {"type": "string"}}
        if status < "400" and "answer" in shown:
            content[JSON]["example"] = shown["answer"]

    for parameter in operation.get("parameters", ()):
        _complete_parameter(parameter, shown)

    if "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["example"] = shown["body"]


def _complete_parameter(parameter: dict[str, Any], shown: Mapping[str, Any]) -> None:
    schema = parameter["schema"]
    if "anyOf" in schema:  # of text and nothing, but a query cannot say null
        schema |= schema.pop("anyOf")[0]
    if "description" in schema:
        parameter.setdefault("description", schema["description"])
    if parameter["name"] in shown["parameters"]:
        parameter["example"] = shown["parameters"][parameter["name"]]


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

    told = {name: _rewritten(one) for name, one in value.items()}
    if told.get("default", "") is None:
        del told["default"]
    if isinstance(told.get("pattern"), str):
        told["pattern"] = told["pattern"].replace(r"\u0000", r"\x00")  # not every reader knows \u
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
