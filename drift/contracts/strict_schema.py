"""JSON schemas without references, and a reply's shape as OpenAI's strict mode wants it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel


@cache
def strict_schema(reply: type[BaseModel]) -> Mapping[str, Any]:
    """Return a reply's JSON schema without bounds and extra fields, with every field required.

    It is made once and shared, so nobody may change it.

    Source: the "Structured outputs" guide of the OpenAI API, section "Supported schemas".
    """

    def strict(node: Any) -> Any:  # noqa: ANN401 - any JSON value
        supported_in_strict = {"type", "items", "enum", "const", "anyOf", "description"}
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node

        kept = {key: value for key, value in node.items() if key in supported_in_strict}
        if "properties" in node:
            properties = {name: strict(value) for name, value in node["properties"].items()}
            kept.pop("description", None)  # it is the class's own, for readers of the code
            return {
                **kept,
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }

        return {key: strict(value) for key, value in kept.items()}

    made: Mapping[str, Any] = strict(inlined(reply.model_json_schema()))
    return made


def inlined(part: Any, defined: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema with its definitions in place of references, which catalogues refuse."""
    if isinstance(part, list):
        return [inlined(one, defined) for one in part]
    if not isinstance(part, dict):
        return part
    defined = part.get("$defs", defined) or {}
    if "$ref" in part:
        return inlined(defined[part["$ref"].rpartition("/")[2]], defined)
    return {name: inlined(one, defined) for name, one in part.items() if name != "$defs"}
