"""A reply's shape as OpenAI's strict mode wants it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

_SUPPORTED_IN_STRICT = {"type", "items", "enum", "const", "anyOf", "description"}


@cache
def strict_schema(reply: type[BaseModel]) -> Mapping[str, Any]:
    """Return a reply's JSON schema without bounds and extra fields, with every field required.

    It is made once and shared, so nobody may change it.

    Source: the "Structured outputs" guide of the OpenAI API, section "Supported schemas".
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def strict(node: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return strict(definitions[node["$ref"].rsplit("/", 1)[-1]])

        kept = {key: value for key, value in node.items() if key in _SUPPORTED_IN_STRICT}
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

    made: Mapping[str, Any] = strict(schema)
    return made
