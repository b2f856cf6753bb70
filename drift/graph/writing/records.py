"""What is written into a graph: documents with their chunks, and the knowledge of a project."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from drift.model.attributes import NOTHING_SAID, Attributes
from drift.model.graph import Vector

IMPORTED = "graphrag:"  # of the name of a source whose graph was imported with its documents


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """What a document was made of; another version has to be written again.

    `content_hash` is the SHA-256, in hex, of the bytes that it was read from, `rules` how they are
    read and cut. `embedding` names the model and the length of its vectors, and `source_uri` is the
    address at which a reader finds it, or empty. `attributes_hash` changes with what others say of
    it.
    """

    content_hash: str = ""
    rules: str = ""
    embedding: str = ""
    source_uri: str = ""
    attributes_hash: str = ""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A source document as it is stored.

    `key` is what its chunks are named after: the id under which it was first stored. `updated_at`
    is when its text last changed, in milliseconds since 1970; None where that is not known. No
    question sees one that `is_off`. `note` says how it was read, where that is worth knowing.
    `attributes` are what is said of it beside its text.
    """

    id: str
    title: str
    source: str
    version: DocumentVersion = DocumentVersion()
    updated_at: int | None = None
    key: str = ""
    is_off: bool = False
    note: str = ""
    media_type: str = ""
    attributes: Attributes = NOTHING_SAID

    def __post_init__(self) -> None:
        """Name the chunks after the id where nothing else is known."""
        if not self.key:
            object.__setattr__(self, "key", self.id)

    def is_made_of(self, version: DocumentVersion, title: str | None = None) -> bool:
        """Tell whether it need not be written again; a `title` is told where it is known."""
        return self.version == version and title in {None, self.title}


@dataclass(frozen=True, slots=True)
class Definition:
    """What a chunk defines, or leads to: it becomes an entity with the `label` Symbol, URL or Tool.

    `type` is its kind in words. Both lines, from 1, are those of the file; None where it has none.
    """

    label: str
    title: str
    type: str
    description: str
    first_line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk to store.

    `text` is an exact slice of the document, `heading` the path of headings above it, and
    `ordinal` its place among the document's chunks. It is the characters `start` to `end` of the
    document's text; both are None where that is not known. `first_line` is the line of the file
    that it begins in, from 1; None where the text is not that of a file. `page` is the one on which
    it begins, from 1, of a document with pages. `title` is its document's, where it was read from a
    graph. One that `keeps_vector` is stored with the vector that it has. `names` are the
    identifiers that stand in it, `links` those of which the text has the words alone: what each
    leads to, and its words on the next line.
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
    page: int | None = None
    title: str = ""
    keeps_vector: bool = False
    defines: tuple[Definition, ...] = ()
    names: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity to store, with the chunks that mention it, and `also` its other spellings.

    One with a `label` is what a document defines: in which `path`, and in which lines.
    """

    id: str
    title: str
    description: str
    chunk_ids: tuple[str, ...]
    embedding: Vector = ()
    type: str = ""
    also: tuple[str, ...] = ()
    label: str = ""
    path: str = ""
    first_line: int | None = None
    last_line: int | None = None


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
    to leaves only. `mean` is that of its chunks' vectors. `says` tells whether its summary says
    what is in it; without that it has no vector. `digest` is what summaries above it are made of.
    `published_level` is that of the tool which found it, by its own count.
    """

    community: int
    level: int
    parent: int | None
    title: str
    summary: str
    entity_ids: tuple[str, ...] = ()
    chunk_ids: tuple[str, ...] = ()
    embedding: Vector = ()
    mean: Vector = ()
    says: bool = True
    digest: str = ""
    published_level: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A chunk of a project as a part of its knowledge, and its document.

    That `is_new` where it was written since the knowledge was derived.
    """

    chunk_id: str
    document_id: str
    title: str
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class ChunkDefinitions:
    """What a chunk defines, and the identifiers that stand in it."""

    chunk_id: str
    defines: tuple[Definition, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptTopics:
    """The communities that a project has, by their numbers, found among so many `clustered` chunks.

    `topic_of` names the topic that a chunk is in, and `sizes` are the chunks that each topic had
    when it was written. `stale` are those of which a chunk was changed or removed since.
    """

    communities: Mapping[int, CommunityRecord]
    topic_of: Mapping[str, int]
    sizes: Mapping[int, int]
    stale: frozenset[int]
    clustered: int
    questions: tuple[str, ...] = ()


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
    document stands, by its id: what the same file was stored as before. No document of a run has
    one of their ids: what is new is called after nothing that is stored.
    """

    documents: tuple[DocumentRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def keeping(self, held: Mapping[str, str]) -> DocumentBatch:
        """Return it with chunks that keep their vectors: those `held` under the same heading."""
        kept = (replace(one, keeps_vector=held.get(one.id) == one.heading) for one in self.chunks)
        return replace(self, chunks=tuple(kept))


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
    questions: tuple[str, ...] = ()


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

    `documents` stand by their ids; one that is not whole has an empty version. `fingerprint` is ''
    while the knowledge is unfinished or not whole. `communities` are counted by level. `namespace`
    is what its chunks are named after, where that is not its own id.
    """

    documents: Mapping[str, DocumentRecord]
    fingerprint: str
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    communities: Mapping[int, int] = field(default_factory=dict)
    skipped: Mapping[str, tuple[DocumentVersion, str]] = field(default_factory=dict)
    namespace: str = ""

    @property
    def sources(self) -> dict[str, str]:
        """The source of each document, by the document's id."""
        return {name: document.source for name, document in self.documents.items()}
