"""Pure: a description in OpenAPI 3.1 as 3.0.3, for tools that read no newer one.

API Management, Power Platform and Microsoft 365 refuse the type null of 3.1. Source: the migration
from 3.0 to 3.1, OpenAPI Initiative (2021), backwards.
"""

from __future__ import annotations

from typing import Any


def as_3_0(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in OpenAPI 3.0.3; what 3.0 cannot say of a schema is left out."""
    told: dict[str, Any] = _rewritten(document)
    licence = {"name": document["info"]["license"]["name"]}
    return told | {"openapi": "3.0.3", "info": document["info"] | {"license": licence}}


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
