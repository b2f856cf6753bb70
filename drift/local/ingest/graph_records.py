"""What is written into a graph: documents with their chunks, and the knowledge of a project."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from drift.model.graph import Vector


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A source document; a new `content_hash` means that it must be written again.

    The hash is the SHA-256, in hex, of its text and of how it was cut, with what tells its
    `source_uri` behind it. That is the address at which a reader finds it, or empty. `updated_at`
    is when its text last changed, in milliseconds since 1970; None where that is not known.
    """

    id: str
    title: str
    source: str
    content_hash: str
    source_uri: str = ""
    updated_at: int | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk to store.

    `text` is an exact slice of the document, `heading` the path of headings above it, and
    `ordinal` its place among the document's chunks. It is the characters `start` to `end` of the
    document's text; both are None where that is not known. `first_line` is the line of the file
    that it begins in, from 1; None where the text is not that of a file. `title` is its document's,
    and `topic` the community that it is in, where it was read from a graph.
    """

    id: str
    document_id: str
    ordinal: int
    heading: str
    text: str
    embedding: Vector = ()
    start: int | None = None
    end: int | None = None
    first_line: int | None = None
    title: str = ""
    topic: int | None = None


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity to store, with the chunks that mention it, and `also` its other spellings."""

    id: str
    title: str
    description: str
    chunk_ids: tuple[str, ...]
    embedding: Vector = ()
    type: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A RELATED edge to store, by entity ids; its evidence is a sentence of a chunk."""

    source_id: str
    target_id: str
    description: str
    weight: float
    sentence: str = ""
    chunk_id: str = ""


@dataclass(frozen=True, slots=True)
class CommunityRecord:
    """A community to store.

    `level` is its height (0: a leaf), `parent` the community above it. Entities and chunks belong
    to leaves only. `centroid` is the direction of the mean of its chunks' vectors, which its own
    vector is made of, together with that of the summary; without one it has no vector.
    """

    community: int
    level: int
    parent: int | None
    title: str
    summary: str
    entity_ids: tuple[str, ...] = ()
    chunk_ids: tuple[str, ...] = ()
    embedding: Vector = ()
    centroid: Vector = ()


@dataclass(frozen=True, slots=True)
class KeptTopics:
    """The topics that a project has: the community above each, where there is one.

    They were found among so many `clustered` chunks.
    """

    parents: Mapping[int, int]
    clustered: int


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model replied when it was asked for knowledge, and the tokens that it took.

    `kind` says what was asked for, `parts` are hashes of the texts that it was asked about. `text`
    is JSON, or empty where the reply was of no use.
    """

    kind: str
    model: str
    parts: tuple[str, ...]
    text: str
    tokens: int = 0

    @property
    def key(self) -> str:
        """What names it within a project."""
        told = "\x1f".join((self.kind, self.model, *self.parts))
        return hashlib.sha256(told.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Documents with their chunks, written together.

    They replace what the project held of these documents. `replaced` are others in whose place a
    document stands, by its id: what the same file was stored as before.
    """

    documents: tuple[DocumentRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnowledgeBatch:
    """All entities, relations and communities of a project.

    Those that are not in it are removed from the project. `embedding_model` made its vectors, and
    those of the chunks; empty where that is not known. Its communities are topics, found among so
    many `clustered` chunks; None for communities of another kind.
    """

    entities: tuple[EntityRecord, ...]
    relations: tuple[RelationRecord, ...]
    communities: tuple[CommunityRecord, ...]
    fingerprint: str
    embedding_model: str = ""
    clustered: int | None = None


@dataclass(frozen=True, slots=True)
class HeldProject:
    """What is told of a project that the graph holds: how much, from which sources, by their names.

    `nodes` are people's own.
    """

    project_id: str
    sources: Mapping[str, int]
    chunks: int = 0
    nodes: int = 0

    @property
    def documents(self) -> int:
        """How many documents it holds."""
        return sum(self.sources.values())


@dataclass(frozen=True, slots=True)
class ProjectState:
    """What a project holds, as the graph counts it.

    `documents` are content hashes by id, '' for a document that is not whole. `fingerprint` is ''
    while the knowledge is unfinished or not whole. `communities` are counted by level.
    """

    documents: Mapping[str, str]
    fingerprint: str
    sources: Mapping[str, str] = field(default_factory=dict)
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    communities: Mapping[int, int] = field(default_factory=dict)
