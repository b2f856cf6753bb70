"""What the descriptions of all routes are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from drift.contracts.problem import Problem
from drift.http.http import PROBLEM_JSON


def ref(model: type[BaseModel]) -> dict[str, str]:
    """Return a schema by its name."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def headers(*, retry: bool = False) -> dict[str, Any]:
    """Return the headers of every answer, with `retry` also when to come back."""
    named = {"x-retrieval-id": {"required": True, "schema": {"type": "string", "format": "uuid"}}}
    if retry:
        named["retry-after"] = {"required": True, "schema": {"type": "integer"}}
    return named


def problem(text: str) -> dict[str, Any]:
    """Return an error answer; its text says whether it has Retry-After."""
    return {
        "description": text,
        "headers": headers(retry="Retry-After" in text),
        "content": {PROBLEM_JSON: {"schema": ref(Problem)}},
    }
