"""What a caller, or a file beside a document, may say of it beside its text; what filters ask."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, WithJsonSchema

from drift.contracts.body import Body, plain_text
from drift.core import moments
from drift.model.attributes import METADATA_NAME, MOST_METADATA, MOST_TAGS, Attributes, Value

MOST_CHARACTERS = 512
"""Of a value of metadata."""


def metadata_value(name: str, value: object) -> Value:
    """Return a value of metadata under this name; ValueError for what no document holds."""
    if re.fullmatch(METADATA_NAME, name):
        if isinstance(value, str) and len(plain_text(value)) <= MOST_CHARACTERS:
            return value
        # Up to here a number is the same wherever it is read.
        if isinstance(value, int | float) and abs(value) <= 2**53:
            return value
    raise ValueError(
        f"must hold text of up to {MOST_CHARACTERS} characters, numbers up to 2^53, true or false, "
        f"under names of 1 to 64 of the letters A to Z, a to z, digits, . _ -: not {name[:64]}"
    )


def _held(value: dict[str, Any]) -> dict[str, Any]:
    return {name: metadata_value(name, held) for name, held in value.items()}


def _moment(value: object) -> int:
    return moments.milliseconds(value if isinstance(value, str) else "")


_SHORT = StringConstraints(strip_whitespace=True, min_length=1, max_length=64)
Tag = Annotated[str, _SHORT, AfterValidator(plain_text)]
_TOLD = {"anyOf": [{"type": "string", "format": one} for one in ("date-time", "date")]}
Moment = Annotated[Any, AfterValidator(_moment), WithJsonSchema(_TOLD)]


class DocumentAttributes(Body):
    """What is said of a document beside its text; all of it may be asked for by a filter.

    `metadata` holds text of up to 512 characters, numbers, true and false, by names of the
    caller's. Both times are a date, or a time of RFC 3339, in UTC where they name no zone.
    """

    tags: Annotated[tuple[Tag, ...], Field(strict=False, max_length=MOST_TAGS)] = ()
    metadata: Annotated[dict[str, Any], AfterValidator(_held)] = Field({}, max_length=MOST_METADATA)
    created_at: Moment | None = None
    updated_at: Moment | None = None

    def said(self) -> Attributes:
        """Return what is said."""
        return Attributes(self.tags, self.metadata, self.created_at, self.updated_at)


class FilterValue(BaseModel):
    """A value, and how many documents have it."""

    value: Value
    documents: int


class FilterKey(BaseModel):
    """A key that a filter may ask for, with its ten commonest values."""

    key: str
    values: tuple[FilterValue, ...]
