"""A project as an external knowledge base: the bodies of Dify's contract."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, Strict, WithJsonSchema

from drift.contracts.request import ProjectId, Query

COMPARISONS: Mapping[str, str] = {
    "is": "eq",
    "is not": "ne",
    "in": "in",
    "not in": "nin",
    "start with": "prefix",
    "before": "lt",
    "after": "gt",
    "=": "eq",
    "≠": "ne",
    "<": "lt",
    ">": "gt",
    "≤": "lte",
    "≥": "gte",
}
"""The operators of Dify that a filter can say. Source: Dify, "External Knowledge API"."""


def number(value: object) -> object:
    """Read a number that is written as text, and 5.0 as 5."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = read if math.isfinite(read := float(value)) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _or_text(pattern: str, kind: str, **bounds: float) -> WithJsonSchema:
    numeral = {"type": "string", "pattern": pattern}
    return WithJsonSchema({"anyOf": [{"type": kind, **bounds}, numeral]})


_Count = Annotated[
    int,
    Strict(),
    BeforeValidator(number),
    Field(ge=1),
    _or_text("^[1-9][0-9]{0,3}$", "integer", minimum=1),
]
_Share = Annotated[
    float,
    Strict(),
    BeforeValidator(number),
    Field(ge=0, le=1),
    _or_text(r"^(0(\.[0-9]{1,9})?|1)$", "number", minimum=0, maximum=1),
]


class RetrievalSetting(BaseModel):
    """How many records are wanted, and how near they must be; numbers may be text."""

    top_k: _Count | None = None
    score_threshold: _Share | None = None


class Condition(BaseModel):
    """A comparison of what a document says of itself; of several names any may fit."""

    name: str | list[str]
    comparison_operator: Annotated[str, Field(json_schema_extra={"enum": [*COMPARISONS]})]
    value: Any = None


class MetadataCondition(BaseModel):
    """Conditions on documents, of which all must hold, or any."""

    logical_operator: Literal["and", "or"] | None = None
    conditions: list[Condition] | None = None


class DifyRequest(BaseModel):
    """A question to the project `knowledge_id`; empty where that needs no name."""

    knowledge_id: Annotated[ProjectId | None, BeforeValidator(lambda name: name or None)] = None
    query: Query
    retrieval_setting: RetrievalSetting | None = None
    metadata_condition: MetadataCondition | None = None


class DifyError(BaseModel):
    """An error: 1001, 1002 and 2001 are Dify's own codes, the others those of a Problem."""

    error_code: int | str
    error_msg: str


class DifyRecord(BaseModel):
    """A passage; `metadata` says where it stands."""

    content: str
    score: float
    title: str
    metadata: dict[str, Any]


class DifyResponse(BaseModel):
    """The passages, the best first."""

    records: list[DifyRecord]
