"""What a caller reads of a project besides answers: lists in pages, and single things."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Next = str | None
"""The cursor of the page behind this one; null where the list ends here."""


class ProjectItem(BaseModel):
    """A project that the caller may read."""

    id: str


class ProjectsPage(BaseModel):
    """Projects by id; a page may be short, or empty, while `next` leads to more."""

    projects: list[ProjectItem]
    next: Next


class ProjectOut(BaseModel):
    """What a project holds, counted; all zero where it is not there.

    `embedding_models` made its vectors and `written_at` is when it was last written, ISO 8601 in
    UTC; both are known of what this project's own ingestion wrote.
    """

    id: str
    documents: int
    chunks: int
    entities: int
    communities: int
    embedding_models: list[str]
    written_at: str | None


class DocumentOut(BaseModel):
    """A document; `name` is how citations call it."""

    id: str
    name: str
    source_uri: str | None
    chunk_count: int


class DocumentsPage(BaseModel):
    """Documents by id."""

    documents: list[DocumentOut]
    next: Next


class CommunityOut(BaseModel):
    """A community; `members` counts entities, chunks and communities directly in it."""

    id: int | str
    level: int | None
    title: str
    summary: str
    members: int
    parents: list[int | str]


class CommunitiesPage(BaseModel):
    """Communities by id."""

    communities: list[CommunityOut]
    next: Next


class ChunkItem(BaseModel):
    """A chunk in a list; `place` is where it stands in its document, like `12 of 42`."""

    id: str
    heading: str | None
    place: str | None


class DocumentRead(DocumentOut):
    """A document with its chunks, in their order."""

    chunks: list[ChunkItem]
    next: Next


class DocumentName(BaseModel):
    """The document that a chunk stands in."""

    id: str
    name: str


class ChunkText(ChunkItem):
    """A chunk with its whole text."""

    text: str


class CommunityTold(BaseModel):
    """A community beside what is in it."""

    id: int | str
    level: int | None
    title: str
    summary: str


class EntityMentioned(BaseModel):
    """An entity that a chunk mentions; `communities` are the ids of those it is directly in."""

    id: str
    title: str
    communities: list[int | str]


class ChunkRead(ChunkText):
    """A chunk with its document, what stands before and after it there, and what it mentions.

    `entities` are up to 50, by title. `communities` are those that these, or the chunk itself, are
    directly in.
    """

    document: DocumentName | None
    before: ChunkText | None
    after: ChunkText | None
    entities: list[EntityMentioned]
    communities: list[CommunityTold]
    more_entities: bool = Field(description="Whether it mentions entities beyond these.")


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
    relations: list[RelationOut]
    chunks: list[MentionOut]
    more_relations: bool = Field(description="Whether there are relations beyond these.")
    more_chunks: bool = Field(description="Whether chunks beyond these mention it.")
