"""The description of the routes says what the routes do."""

import json
import re
from typing import Any

import pytest

from drift import __version__
from drift.contracts.progress import Phase
from drift.core import errors
from drift.http.description import EXAMPLES
from drift.routes import ROUTES, document

DOCUMENT = document()
SCHEMAS = DOCUMENT["components"]["schemas"]
OF_OTHERS = {"ingest", "local_stack", "foreign_host", "not_found", "project_held"}
OF_OTHERS |= {"vectors_unavailable", "feedback_unavailable", "content_not_kept"}
OF_OTHERS |= {"document_store_unavailable"}
"""Codes that no question gets."""
THE_PAGE = {"rag", "rag/{*file}"}
"""It is for people, and calls what is described."""
MCP = {"mcp", ".well-known/oauth-protected-resource/mcp"}
"""It describes itself, by a protocol of its own."""
NOT_THERE = {"v1/embeddings", "v1/responses"}
"""They say that this service has no such thing."""
FOR_PROMETHEUS = {"metrics"}
"""Its text has a format of its own."""


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def test_it_is_json_and_every_reference_leads_somewhere() -> None:
    json.dumps(DOCUMENT)
    assert {ref.removeprefix("#/components/schemas/") for ref in references(DOCUMENT)} <= set(
        SCHEMAS
    )
    assert DOCUMENT["info"]["version"] == __version__


def test_every_route_of_the_function_is_described_with_its_method_and_key() -> None:
    described = {
        (path.removeprefix("/"), method.upper(), "security" in operation)
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
    }
    served = {
        (route.path.replace("{*", "{"), route.methods, not route.is_open)
        for route in ROUTES
        if route.path not in THE_PAGE | MCP | NOT_THERE | FOR_PROMETHEUS
    }
    assert described == served


def test_every_operation_that_takes_something_has_an_example_of_it() -> None:
    operations = [one for methods in DOCUMENT["paths"].values() for one in methods.values()]
    taken = [one for one in operations if one.get("parameters") or "requestBody" in one]
    assert {one["operationId"] for one in taken} <= set(EXAMPLES)
    for one in operations:
        if "requestBody" in one:
            assert "example" in one["requestBody"]["content"]["application/json"], one


def test_every_status_of_an_error_is_described_with_its_code() -> None:
    responses = DOCUMENT["paths"]["/retrieve"]["post"]["responses"]
    leaves = [
        e
        for e in vars(errors).values()
        if isinstance(e, type)
        and issubclass(e, errors.DriftError)
        and e.code not in {"unusable_reply", *OF_OTHERS}
    ]
    assert {str(e.status) for e in leaves} | {"200"} == set(responses)
    for error in leaves:
        assert f"`{error.code}`" in responses[str(error.status)]["description"]


def test_the_request_schema_holds_the_rules() -> None:
    request = SCHEMAS["RetrieveRequest"]
    assert request["additionalProperties"] is False
    assert request["required"] == ["query"]
    assert request["properties"]["query"]["maxLength"] == 4000
    named, left_out = request["properties"]["project_id"]["anyOf"]
    assert (named["maxLength"], left_out) == (128, {"type": "null"})
    top_k = request["properties"]["top_k"]
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 50, 5)


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("RetrieveResponse", ["final_answer", "key_facts", "residual_uncertainty"]),
        ("CitationOut", ["chunk_id", "span", "document_name"]),
        ("KeyFact", ["fact", "citations"]),
    ],
)
def test_only_what_is_always_there_is_required(name: str, required: list[str]) -> None:
    assert SCHEMAS[name]["required"] == required


def test_a_trace_is_described_with_the_names_that_are_sent() -> None:
    assert "pass" in SCHEMAS["TraceNode"]["properties"]
    assert "pass_" not in SCHEMAS["TraceNode"]["properties"]


def test_every_phase_is_described() -> None:
    assert SCHEMAS["Phase"]["enum"] == [phase.value for phase in Phase]


def test_agents_of_foundry_may_import_it() -> None:
    """Its OpenAPI tool wants names of letters, - and _, one scheme of a key, and JSON bodies."""
    operations = [one for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert all(re.fullmatch("[A-Za-z]+", one["operationId"]) for one in operations)
    (scheme,) = DOCUMENT["components"]["securitySchemes"].values()
    assert scheme["type"] == "apiKey"
    for one in operations:
        assert set(one.get("requestBody", {"content": ["application/json"]})["content"]) == {
            "application/json"
        }
