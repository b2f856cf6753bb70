"""What the query of a request may say: pages of lists, levels, filters, projects."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from drift.contracts.body import plain_text
from drift.contracts.filter import Filter
from drift.contracts.request import ProjectId


def _digits(least: int, most: int) -> BeforeValidator:
    """Read a number that is written in digits alone, in one sentence for all that is wrong."""

    def read(text: object) -> int:
        is_number = isinstance(text, str) and re.fullmatch("[0-9]{1,6}", text)
        number = int(str(text)) if is_number else -1
        if not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return BeforeValidator(read)


_HOW_MANY = "How many at most."
Limit = Annotated[int, Field(ge=1, le=200, description=_HOW_MANY), _digits(1, 200)]
LimitOfTexts = Annotated[int, Field(ge=1, le=100, description=_HOW_MANY), _digits(1, 100)]
Cursor = Annotated[
    str,
    AfterValidator(plain_text),
    Field(
        description="`next` of the page before, as it is. It is of this list alone.",
        json_schema_extra={"pattern": "^[A-Za-z0-9_-]+$"},
    ),
]


class Parameters(BaseModel):
    """The query of a request; unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageParameters(Parameters):
    """Which page of a list."""

    limit: Limit = 50
    cursor: Cursor | None = None


def read_filter(text: object) -> object:
    """Return the JSON of a text; ValueError where it is none, or names a field twice."""
    try:
        return json.loads(text, object_pairs_hook=_once) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        raise ValueError("must be a filter as JSON, such as one of a question has") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(named := dict(pairs)) < len(pairs):
        raise ValueError("a field stands there twice")
    return named


FilterText = Annotated[
    Filter | None,
    BeforeValidator(read_filter),
    Field(description="What a question's `filter` may be, as JSON."),
    WithJsonSchema(
        {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": "#/components/schemas/Filter"},
        }
    ),
]


class DocumentsParameters(PageParameters):
    """Which page of documents, of those that fit a filter and are called so."""

    q: Annotated[
        str,
        Field(max_length=200, description="What the name or the id holds, large or small."),
        AfterValidator(plain_text),
    ] = ""
    filter: FilterText = None


Level = Annotated[
    int,
    Field(ge=0, le=999_999, description="Communities of this level only."),
    _digits(0, 999_999),
]


class CommunityParameters(Parameters):
    """Which page of communities, of one level or of all."""

    level: Level | None = None
    limit: LimitOfTexts = 20
    cursor: Cursor | None = None
    filter: FilterText = None


class ProjectParameters(Parameters):
    """Which project a thing is of."""

    project_id: Annotated[
        ProjectId | None,
        Field(description="The project; a caller who may read exactly one may leave it out."),
    ] = None


class DocumentParameters(ProjectParameters, PageParameters):
    """Which project a document is of, and which page of its chunks."""


class ContentParameters(ProjectParameters):
    """Which project a file is of, and whether a browser is to save it."""

    download: Annotated[bool, Field(description="Whether it is to be saved, not shown.")] = False


class EntityParameters(ProjectParameters):
    """Which project an entity is of, and how much around it."""

    limit: LimitOfTexts = 20
