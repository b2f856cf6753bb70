"""What a caller, a file beside a document, or its front matter may say of it beside its text."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, StringConstraints, TypeAdapter

from drift.contracts.request import Body, plain_text
from drift.core import moments
from drift.model.attributes import MOST_METADATA, MOST_TAGS, Attributes, Value

MOST_CHARACTERS = 512
"""Of a value of metadata."""
MOST_NUMBER = 2**53
"""Of a number: up to here it is the same wherever it is read."""


def _unique(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))


def metadata_value(name: str, value: object) -> Value:
    """Return a value of metadata under this name; ValueError for what no document holds."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
        raise ValueError("must have names of 1 to 64 of the letters A to Z, a to z, digits, . _ -")
    match value:
        case str() if len(plain_text(value)) <= MOST_CHARACTERS:
            return value
        case bool():
            return value
        case int() | float() if math.isfinite(value) and abs(value) <= MOST_NUMBER:
            return value
    raise ValueError(
        f"must hold text of up to {MOST_CHARACTERS} characters, numbers up to 2^53, true or "
        f"false: not {name}"
    )


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) > MOST_METADATA:
        raise ValueError(f"may hold at most {MOST_METADATA} names")
    return {name: metadata_value(name, held) for name, held in value.items()}


def _moment(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError(f"must be {moments.WANTED}")  # noqa: TRY004 - pydantic reads this type
    return moments.milliseconds(value)


Tag = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=64),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\u0000\s][^\u0000]*$"}),
]
TAG = TypeAdapter(Tag)
Moment = Annotated[int, PlainValidator(_moment, json_schema_input_type=datetime | date)]


class DocumentAttributes(Body):
    """What is said of a document beside its text; all of it may be asked for by a filter.

    Both times are a date, or a time of RFC 3339, in UTC where they name no zone.
    """

    tags: Annotated[
        tuple[Tag, ...], Field(strict=False, max_length=MOST_TAGS), AfterValidator(_unique)
    ] = ()
    metadata: Annotated[
        dict[str, Any],
        AfterValidator(_metadata),
        Field(description="Text, numbers, true or false, by names of your own."),
    ] = Field(default_factory=dict)
    created_at: Moment | None = None
    updated_at: Moment | None = None

    def said(self) -> Attributes:
        """Return what is said."""
        return Attributes(self.tags, self.metadata, self.created_at, self.updated_at)
