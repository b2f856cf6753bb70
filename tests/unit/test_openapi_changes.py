"""A client that was written for the last release needs no change: what is promised only grows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from drift.routes import document
from tests.openapi_changes import RELEASED, Comparison, promised

Document = dict[str, Any]
OLD: Document = json.loads(RELEASED.read_text(encoding="utf-8"))


def test_nothing_that_the_last_release_promised_is_gone() -> None:
    broken = Comparison(OLD, promised(document())).breaks()
    assert not broken, "\n".join(broken)


def schema(whole: Document, name: str) -> Document:
    found: Document = whole["components"]["schemas"][name]
    return found


def retrieve(whole: Document) -> Document:
    found: Document = whole["paths"]["/retrieve"]["post"]
    return found


def limit(whole: Document) -> Document:
    listed = whole["paths"]["/projects"]["get"]["parameters"]
    found: Document = next(one for one in listed if one["name"] == "limit")
    return found


BREAKS: dict[str, tuple[Callable[[Document], object], str]] = {
    "a path": (lambda d: d["paths"].pop("/usage"), "GET /usage is gone"),
    "a method": (
        lambda d: d["paths"]["/documents/{id}"].pop("delete"),
        "DELETE /documents/{id} is gone",
    ),
    "a field of an answer": (
        lambda d: schema(d, "CitationOut")["properties"].pop("page"),
        "citations[].page is gone",
    ),
    "a field of an answer, far down": (
        lambda d: schema(d, "Problem")["properties"].pop("code"),
        ".code is gone",
    ),
    "a field that was always answered": (
        lambda d: schema(d, "RetrieveResponse")["required"].remove("key_facts"),
        "POST /retrieve 200.key_facts is now optional",
    ),
    "a type of an answer": (
        lambda d: schema(d, "ProjectRead")["properties"].update(documents={"type": "string"}),
        "GET /projects/{id} 200.documents: integer became string",
    ),
    "a null in an answer": (
        lambda d: schema(d, "ProjectRead")["properties"].update(
            documents={"anyOf": [{"type": "integer"}, {"type": "null"}]}
        ),
        "GET /projects/{id} 200.documents: integer became integer|null",
    ),
    "an answer": (lambda d: retrieve(d)["responses"].pop("200"), "POST /retrieve: 200 is gone"),
    "a stream": (
        lambda d: retrieve(d)["responses"]["200"]["content"].pop("text/event-stream"),
        "POST /retrieve 200: text/event-stream is gone",
    ),
    "a header": (
        lambda d: retrieve(d)["responses"]["200"]["headers"].pop("x-retrieval-id"),
        "the header x-retrieval-id is no longer there for sure",
    ),
    "a field of a request": (
        lambda d: schema(d, "RetrieveRequest")["properties"].pop("top_k"),
        "POST /retrieve.top_k is gone",
    ),
    "a new required field": (
        lambda d: schema(d, "RetrieveRequest")["required"].append("depth"),
        "POST /retrieve.depth is now required",
    ),
    "a type of a request": (
        lambda d: schema(d, "RetrieveRequest")["properties"].update(top_k={"type": "string"}),
        "POST /retrieve.top_k: integer became string",
    ),
    "a null that may be sent": (
        lambda d: schema(d, "RetrieveRequest")["properties"].update(project_id={"type": "string"}),
        "POST /retrieve.project_id: null|string became string",
    ),
    "a value that may be sent": (
        lambda d: schema(d, "RetrieveRequest")["properties"]["depth"]["enum"].remove("quick"),
        "POST /retrieve.depth: ['drift', 'quick', 'auto'] became ['drift', 'auto']",
    ),
    "a bound": (
        lambda d: schema(d, "RetrieveRequest")["properties"]["top_k"].update(maximum=49),
        "POST /retrieve.top_k: maximum is now 49",
    ),
    "a parameter": (
        lambda d: d["paths"]["/projects"]["get"]["parameters"].remove(limit(d)),
        "GET /projects: the parameter limit is gone",
    ),
    "a required parameter": (
        lambda d: limit(d).update(required=True),
        "GET /projects: the parameter limit is now required",
    ),
    "a parameter's bound": (
        lambda d: limit(d)["schema"].update(minimum=2),
        "GET /projects limit: minimum is now 2",
    ),
}


@pytest.mark.parametrize(("change", "said"), BREAKS.values(), ids=BREAKS)
def test_what_breaks_a_client_is_found_and_named(
    change: Callable[[Document], object], said: str
) -> None:
    new = copy.deepcopy(OLD)
    change(new)
    broken = Comparison(OLD, new).breaks()
    assert any(said in line for line in broken), broken


def grown(whole: Document) -> None:
    whole["paths"]["/new"] = {"get": {"responses": {}}}
    schema(whole, "RetrieveRequest")["properties"]["new"] = {"type": "string"}
    schema(whole, "RetrieveRequest")["properties"]["depth"]["enum"].append("new")
    schema(whole, "RetrieveRequest")["properties"]["top_k"]["maximum"] = 99
    schema(whole, "RetrieveResponse")["properties"]["new"] = {"type": "string"}
    schema(whole, "RetrieveResponse")["required"].append("new")
    retrieve(whole)["responses"].pop("415")
    whole["paths"]["/projects"]["get"]["parameters"].append(
        {"name": "new", "in": "query", "schema": {"type": "string"}}
    )


def test_what_only_grows_breaks_nobody() -> None:
    new = copy.deepcopy(OLD)
    grown(new)
    assert Comparison(OLD, new).breaks() == []
    assert len(Comparison(new, OLD).breaks()) >= 6
