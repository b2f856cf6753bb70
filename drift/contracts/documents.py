"""What the routes that index documents are sent, and what they answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, TypeAdapter

from drift.contracts.attributes import DocumentAttributes
from drift.contracts.body import Body, plain_text
from drift.contracts.parameters import Parameters
from drift.contracts.request import ProjectId, problem_with
from drift.core import source_uri

MOST_DOCUMENT_MB = 50
"""No setting allows more: as much as an ingest reads of one file."""
MEGABYTE = 1024 * 1024


def _address(value: str) -> str:
    if value and not source_uri.is_shown(value):
        raise ValueError(f"must be {source_uri.WANTED}")
    return value


DocumentId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=1000),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*$"}),
]
_DOCUMENT_ID = TypeAdapter(DocumentId)


def document_id_problem(value: str) -> str | None:
    """Return what is wrong with a document's id, None when nothing is."""
    return problem_with(_DOCUMENT_ID, value)


class NewDocument(DocumentAttributes):
    """A document to be indexed under its `id`; unknown fields are refused.

    Without a `title` it is called by its first heading, or its id. The project may be left out by a
    caller who may read exactly one.
    """

    id: DocumentId
    text: Annotated[str, StringConstraints(min_length=1), AfterValidator(plain_text)]
    title: Annotated[str, StringConstraints(max_length=200), AfterValidator(plain_text)] = ""
    source_uri: Annotated[str, AfterValidator(_address)] = ""
    project_id: ProjectId | None = None


class RawDocument(Parameters):
    """What stands in the query beside a document that is the body itself."""

    id: DocumentId
    project_id: ProjectId | None = None


class DocumentChange(Body):
    """What becomes of a document as it stands: one that is `off` is seen by no question."""

    off: bool


class IndexedOut(BaseModel):
    """What became of a document: its title, how many chunks it has, and whether it was written."""

    id: str
    project_id: str
    title: str
    outcome: Literal["added", "changed", "unchanged"]
    chunks: int
