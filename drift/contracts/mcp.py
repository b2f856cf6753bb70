"""What the MCP tools take and give: flat shapes without null, which every catalogue takes."""

from __future__ import annotations

from textwrap import shorten
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema

from drift.contracts.body import plain_text
from drift.contracts.filter import KEYS, Filter
from drift.contracts.parameters import read_filter
from drift.contracts.request import Depth, History, Query, TopK
from drift.model.tree import Verdict

Question = Annotated[Query, Field(description="The question, in full.")]
ProjectName = Annotated[
    str,
    AfterValidator(plain_text),
    Field(max_length=128, description="Its id by list_projects; empty if you have only one."),
]
HowFar = Annotated[
    Depth,
    Field(description="quick: one look; drift: with follow-ups; auto: quick, and more if needed."),
]
SaidBefore = Annotated[
    History,
    Field(
        description="Messages before the question, the oldest first, where it refers to them; "
        "better, write the question in full."
    ),
]
HowMany = Annotated[TopK, Field(description="How many passages at most.")]
Narrowed = Annotated[
    Filter | None,
    BeforeValidator(lambda text: read_filter(text or "null")),
    WithJsonSchema({"type": "string"}),
    Field(
        description="Which documents may be used, as JSON; leave it out to use all. For example "
        '{"type": "eq", "key": "tag", "value": "hr"}, or {"type": "and", "filters": [...]}. Types: '
        f"eq, ne, in, nin, gt, gte, lt, lte, prefix (of path), and, or. Keys: {KEYS}.",
        json_schema_extra=lambda schema: schema.pop("default", None),
    ),
]
ChunkId = Annotated[
    str,
    AfterValidator(plain_text),
    Field(min_length=1, max_length=2048, description="A chunk_id that another tool gave."),
]
_Text = Annotated[str, BeforeValidator(lambda value: value or "")]
"""What is not known is empty."""
_Line = Annotated[str, AfterValidator(lambda value: shorten(value, 120, placeholder=" …"))]


class ToolReference(BaseModel):
    """A passage that the answer stands on, by its number there; `span` is verbatim."""

    number: int
    label: str
    span: str
    confidence: float
    chunk_id: str
    document_name: str


class ToolAnswer(BaseModel):
    """An answer with the numbers of its references, and how sure it is (0 to 1)."""

    answer: str
    verdict: Verdict
    confidence: float
    residual_uncertainty: str
    references: list[ToolReference]


class ToolPassage(BaseModel):
    """A passage; `place` is where it stands in its document, like `12 of 42`."""

    id: str
    heading: _Text
    place: _Text
    text: str


class Source(BaseModel):
    """A passage between those before and after it in its document, as far as there are any."""

    document_id: str
    document_name: str
    passages: list[ToolPassage]


class ToolProject(BaseModel):
    """A project: how much it holds, some of its documents, and its largest topics."""

    id: str
    documents: int
    passages: int
    document_names: list[_Line]
    topics: list[_Line]


class Projects(BaseModel):
    """The projects that may be asked; `further` are ids alone, and `more` says that more follow."""

    projects: list[ToolProject]
    further: list[str]
    more: bool
