"""What a caller reads of a project besides answers: what it may ask, and the shapes it gets.

The graph's rows become these shapes at once, and nothing between copies them.
"""

from __future__ import annotations

import operator
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    Field,
)

from drift.contracts.attributes import FilterKey
from drift.contracts.body import is_unknown
from drift.model.attributes import Value
from drift.model.reading import AboutProject

# ----------------------------------------------------------------------------------------- answers


Next = str | None
"""The cursor of the page behind this one; null where the list ends here."""


class ProjectItem(BaseModel):
    """A project that the caller may read, with its size where that is quickly counted."""

    id: str
    documents: int | None = Field(default=None, exclude_if=is_unknown)
    chunks: int | None = Field(default=None, exclude_if=is_unknown)


class ProjectsPage(BaseModel):
    """Projects by id; a page may be short, or empty, while `next` leads to more."""

    projects: tuple[ProjectItem, ...]
    next: Next


class ProjectOut(BaseModel):
    """What a project holds, counted; all zero where it is not there.

    `embedding_models` made its vectors and `written_at` is when it was last written, ISO 8601 in
    UTC; both are known of what this project's own ingestion wrote. `questions` are up to 12 to
    begin with, each answered by a passage that the caller may read.
    """

    id: str
    documents: int
    chunks: int
    entities: int
    communities: int
    embedding_models: tuple[str, ...]
    written_at: str | None
    questions: tuple[str, ...] = ()


class ProjectRead(ProjectOut):
    """What a project holds, with the rights of the caller on it.

    `filter_keys` are up to 20 keys, of the first 10,000 documents.
    """

    rights: tuple[Literal["read", "write"], ...]
    filter_keys: tuple[FilterKey, ...]


class DocumentName(BaseModel):
    """The document that a chunk stands in."""

    id: str
    name: str


class DocumentOut(DocumentName):
    """A document; `name` is how citations call it. What is not known of it is left out.

    `source` is what brought it: this API, a graph that GraphRAG made, or an ingest.
    """

    source_uri: str | None
    chunk_count: int
    tags: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    metadata: dict[str, Value] = Field(default_factory=dict, exclude_if=operator.not_)
    created_at: datetime | None = Field(default=None, exclude_if=operator.not_)
    updated_at: datetime | None = Field(default=None, exclude_if=operator.not_)
    media_type: str | None = Field(default=None, exclude_if=operator.not_)
    source: Literal["api", "graphrag", "ingest"] | None = Field(
        default=None, exclude_if=operator.not_
    )
    off: bool = Field(default=False, exclude_if=operator.not_)


class DocumentsPage(BaseModel):
    """Documents by id."""

    documents: tuple[DocumentOut, ...]
    next: Next


class CommunityTold(BaseModel):
    """A community beside what is in it."""

    id: int | str
    level: int | None
    title: str
    summary: str


class CommunityOut(CommunityTold):
    """A community; `members` counts entities, chunks and communities directly in it."""

    members: int
    parents: tuple[int | str, ...]


class CommunitiesPage(BaseModel):
    """Communities by id."""

    communities: tuple[CommunityOut, ...]
    next: Next


class ChunkItem(BaseModel):
    """A chunk in a list; `place` is where it stands in its document, like `12 of 42`."""

    id: str
    heading: str | None
    place: str | None


class HeldDocument(DocumentOut):
    """A document with what its original file is kept under: its key, and the hash of the file."""

    key: str = ""
    content_hash: str = ""


class ContentOut(BaseModel):
    """The original file of a document: its media type, and how many bytes it has."""

    type: str
    size: int


class DocumentRead(DocumentOut):
    """A document with its chunks, in their order.

    `content` is its original file; null where that is not kept, or cannot be reached now.
    """

    content: ContentOut | None
    chunks: tuple[ChunkItem, ...]
    next: Next


class ChunkText(ChunkItem):
    """A chunk with its whole text."""

    text: str


class EntityMentioned(BaseModel):
    """An entity that a chunk mentions; `communities` are the ids of those it is directly in."""

    id: str
    title: str
    communities: tuple[int | str, ...]


class ChunkRead(ChunkText):
    """A chunk with its document, what stands before and after it there, and what it mentions.

    `entities` are up to 50, by title. `communities` are those that these, or the chunk itself, are
    directly in.
    """

    document: DocumentName | None
    before: ChunkText | None
    after: ChunkText | None
    entities: tuple[EntityMentioned, ...]
    communities: tuple[CommunityTold, ...]
    more_entities: bool = Field(description="Whether it mentions entities beyond these.")

    @classmethod
    def of_project(cls, about: AboutProject) -> ChunkRead | None:
        """Return what a project knows of itself; None of one that holds nothing."""
        chunk = about.chunk()
        if chunk is None:
            return None
        lists = {"entities": (), "communities": (), "more_entities": False}
        own = {"id": chunk.id, "text": chunk.text}
        return cls.model_validate({**dict.fromkeys(cls.model_fields), **own, **lists})


class RelationOut(BaseModel):
    """A relation to another entity: `out` begins at the one that was asked for, `in` ends there."""

    direction: Literal["out", "in"]
    entity_id: str
    title: str
    description: str
    weight: float


class MentionOut(ChunkItem):
    """A chunk that mentions the entity, with up to 200 of its first characters."""

    document_name: str
    beginning: str


class EntityRead(BaseModel):
    """An entity with its weightiest relations, and chunks that mention it.

    `more_relations` and `more_chunks` say that there are more than `limit`.
    """

    id: str
    title: str
    description: str
    relations: tuple[RelationOut, ...]
    chunks: tuple[MentionOut, ...]
    more_relations: bool = Field(description="Whether there are relations beyond these.")
    more_chunks: bool = Field(description="Whether chunks beyond these mention it.")


Count = Annotated[int, Field(ge=0)]


class LimitRead(BaseModel):
    """A limit: how much of it is used and left, and when all of it is free again at the latest."""

    limit: Count
    used: Count
    left: Count
    free_at: datetime


class QuotaRead(BaseModel):
    """What a caller may use and has used; null where it has no limit.

    `counted` is `together` when all processes count as one, and `alone` when this one tells only
    what it has counted itself.
    """

    caller: str
    counted: Literal["together", "alone"]
    requests_per_minute: LimitRead | None = None
    tokens_per_day: LimitRead | None = None
