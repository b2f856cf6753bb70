"""What is read of a project outside of a search, and the pages that lists come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from drift.model.graph import CommunityId

Key = str | int | float
"""What a node is found by, in its stored type: ids of some graphs are numbers."""

Position = tuple[Key | None, ...]
"""Behind what a page begins: the keys of the last row before it."""

_Row_co = TypeVar("_Row_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page of a list: up to `limit` rows behind a position, from the beginning for None."""

    limit: int
    after: Position | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[_Row_co]):
    """Rows in the order of their keys, and the position of the last; None where the list ends."""

    rows: tuple[_Row_co, ...] = ()
    last: Position | None = None


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """What a project holds, counted.

    `embedding_models` made its vectors, and `written_at` is when it was last written, in ISO 8601;
    a graph from elsewhere says neither.
    """

    id: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    communities: int = 0
    embedding_models: tuple[str, ...] = ()
    written_at: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document in a list; `name` is how citations call it, `chunks` how many it has.

    `source_uri` is its address, where it has one to show.
    """

    id: str
    name: str
    source_uri: str
    chunks: int


@dataclass(frozen=True, slots=True)
class CommunityRow:
    """A community in a list.

    `members` counts the entities, chunks and communities directly in it, `parents` are the
    communities that it is directly in.
    """

    id: CommunityId
    level: int | None
    title: str
    summary: str
    members: int
    parents: tuple[CommunityId, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """Where a chunk stands: the `place`th of its document's `places`, from 1; None for unknown."""

    id: str
    heading: str = ""
    place: int | None = None
    places: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentRead:
    """A document with a page of its chunks, in their order."""

    document: DocumentRow
    chunks: Page[ChunkRow]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The chunk before or after another one in its document, with its text."""

    chunk: ChunkRow
    text: str


@dataclass(frozen=True, slots=True)
class CommunityTold:
    """A community that something is directly in, as it is told beside it."""

    id: CommunityId
    level: int | None
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class EntityMentioned:
    """An entity that a chunk mentions, and the communities that it is directly in."""

    id: str
    title: str
    communities: tuple[CommunityTold, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRead:
    """A chunk with its text, its document (None for none) and its neighbours.

    `entities` are those that it mentions, `communities` those that it is directly in itself.
    """

    chunk: ChunkRow
    text: str
    document_id: str | None = None
    document_name: str = "unknown"
    before: Neighbour | None = None
    after: Neighbour | None = None
    entities: tuple[EntityMentioned, ...] = ()
    communities: tuple[CommunityTold, ...] = ()
    has_more_entities: bool = False


@dataclass(frozen=True, slots=True)
class RelationRead:
    """A relation of an entity to another one; `is_outgoing` says that it begins here."""

    entity_id: str
    title: str
    description: str
    weight: float
    is_outgoing: bool


@dataclass(frozen=True, slots=True)
class MentionRead:
    """A chunk that mentions an entity, with its beginning."""

    chunk: ChunkRow
    document_name: str
    beginning: str


@dataclass(frozen=True, slots=True)
class EntityRead:
    """An entity with its weightiest relations, and chunks that mention it.

    `has_more_...` says that there is more than is told.
    """

    id: str
    title: str
    description: str
    relations: tuple[RelationRead, ...] = ()
    chunks: tuple[MentionRead, ...] = ()
    has_more_relations: bool = False
    has_more_chunks: bool = False
