"""What the steps of a request and of an ingestion hand to each other.

Frozen values, no behaviour beyond simple views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CommunityId = int | str
"""A community's own key: an integer in GraphRAG data, a string elsewhere. Kept in its native type."""

Vector = tuple[float, ...]


# ---------------------------------------------------------------------------------------- retrieval
@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document as retrieved.

    `text` verbatim, `score` the ranking it came with (higher is better).
    """

    id: str
    text: str
    document_name: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Community:
    """A community of the hierarchy with its summary and up to three sample chunks from anywhere below it."""

    id: CommunityId
    level: int | None
    summary: str
    score: float = 0.0
    samples: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity mentioned in retrieved chunks; `mentions` counts those chunks."""

    id: str
    title: str
    description: str = ""
    mentions: int = 1


@dataclass(frozen=True, slots=True)
class Relationship:
    """A RELATED edge between two entities, by their titles, in its stored direction."""

    source: str
    target: str
    description: str = ""
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class PrimerQuery:
    """What the primer asks the graph.

    The `top_k` best communities for `vector`, highest level first.
    """

    project_id: str
    question: str
    vector: Vector
    top_k: int


@dataclass(frozen=True, slots=True)
class PrimerEvidence:
    """What the primer found: communities with samples.

    `chunks` are the project's best when it has no communities.
    """

    communities: tuple[Community, ...] = ()
    chunks: tuple[Chunk, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when the project holds nothing to answer from."""
        return not self.communities and not self.chunks

    def all_chunks(self) -> tuple[Chunk, ...]:
        """Every chunk in it once, samples first."""
        found = {c.id: c for community in self.communities for c in community.samples}
        return tuple({**found, **{c.id: c for c in self.chunks if c.id not in found}}.values())


@dataclass(frozen=True, slots=True)
class FollowupQuery:
    """What one follow-up asks the graph; `communities` empty means the whole project."""

    project_id: str
    question: str
    vector: Vector
    communities: tuple[CommunityId, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that several candidates mention.

    `entity` numbers it among the candidates, `rarity` is its inverse document frequency, and
    `about` (0..1) the share of what this candidate mentions that the entity has a relation to.
    """

    entity: int
    rarity: float
    about: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that some leg of the search found, with each leg's own score.

    `similarity` is the cosine mapped to 0..1 (None: the chunk has no vector), `text` a BM25 score,
    `graph` the mass that the walk brought; 0 where a leg did not find the chunk.
    """

    chunk: Chunk
    similarity: float | None
    text: float = 0.0
    graph: float = 0.0
    in_scope: bool = False
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the graph returns for a follow-up, before the ranking.

    The chunks are in no order; the neighbourhood is that of the likeliest of them.
    """

    chunks: tuple[Candidate, ...] = ()
    neighbors: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one follow-up found: `chunks` best first, and their bounded neighbourhood (neighbour chunks with text)."""

    chunks: tuple[Chunk, ...] = ()
    neighbors: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()

    def all_chunks(self) -> tuple[Chunk, ...]:
        """Chunks, then neighbours not among them."""
        own = {c.id for c in self.chunks}
        return self.chunks + tuple(n for n in self.neighbors if n.id not in own)


@dataclass(frozen=True, slots=True)
class IndexState:
    """One index as the server reports it; `dimensions` only for vector indexes."""

    name: str
    kind: Literal["vector", "fulltext"]
    online: bool
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """What a health check found out about the graph.

    `missing` names configured indexes that do not exist.
    """

    server: str
    indexes: tuple[IndexState, ...]
    missing: tuple[str, ...] = ()


# -------------------------------------------------------------------------------------- model calls
@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat call: `name` is the reply's name in contracts.md, `schema` its strict JSON schema (None: plain text)."""

    name: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as the provider reported them; zero where it did not."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model wrote, with what it cost; `retries` counts requests beyond the first."""

    text: str
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector a text, in order, with what it cost."""

    vectors: tuple[Vector, ...]
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0


# --------------------------------------------------------------------------------------- follow-ups
@dataclass(frozen=True, slots=True)
class Question:
    """A follow-up question, where to look for it, and which node of the tree asked it (None.

    The primer).
    """

    id: int
    text: str
    communities: tuple[CommunityId, ...] = ()
    parent: int | None = None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Citation:
    """Evidence for a statement: `span` is verbatim text of the chunk."""

    chunk_id: str
    span: str
    document_name: str


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """What checking did: `repaired` spans were mapped to verbatim text, `dropped` holds counts by reason."""

    total: int = 0
    kept: int = 0
    repaired: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: CitationCounts) -> CitationCounts:
        """Sum of both."""
        reasons = {**self.dropped}
        for reason, count in other.dropped.items():
            reasons[reason] = reasons.get(reason, 0) + count
        return CitationCounts(
            self.total + other.total,
            self.kept + other.kept,
            self.repaired + other.repaired,
            reasons,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One follow-up answered: its checked citations, and what the model thinks of going on (`confidence` 0..1)."""

    text: str
    citations: tuple[Citation, ...]
    confidence: float
    should_continue: bool
    followups: tuple[tuple[str, tuple[CommunityId, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class FollowupState:
    """How a follow-up ended: `reason` says why one was skipped, and is the error's code of one that failed."""

    kind: Literal["answered", "no_evidence", "merged", "skipped", "failed"]
    reason: str = ""

    def __str__(self) -> str:
        """Return it as callers read it, `skipped: deadline`."""
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


ANSWERED = FollowupState("answered")
NO_EVIDENCE = FollowupState("no_evidence")
MERGED = FollowupState("merged")
SKIPPED_ENOUGH = FollowupState("skipped", "enough")
SKIPPED_BUDGET = FollowupState("skipped", "budget")
SKIPPED_DEADLINE = FollowupState("skipped", "deadline")


@dataclass(frozen=True, slots=True)
class Node:
    """One follow-up of the tree as it ended.

    `seconds` from when it could be asked until it was answered.
    """

    question: Question
    state: FollowupState
    answer: Answer | None = None
    chunk_ids: tuple[str, ...] = ()
    seconds: float = 0.0


# ---------------------------------------------------------------------------------------- ingestion
@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A source document; `content_hash` (SHA-256 hex of its text and of how it was cut) tells whether it changed."""

    id: str
    title: str
    source: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk to store: `text` an exact slice of the document, `heading` its heading path, `ordinal` its place."""

    id: str
    document_id: str
    ordinal: int
    heading: str
    text: str
    embedding: Vector = ()


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity to store, with the chunks that mention it."""

    id: str
    title: str
    description: str
    chunk_ids: tuple[str, ...]
    embedding: Vector = ()


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A RELATED edge to store, by entity ids."""

    source_id: str
    target_id: str
    description: str
    weight: float


@dataclass(frozen=True, slots=True)
class CommunityRecord:
    """A community to store: `level` is its height (0 = leaf), members hang at their leaf only, `parent` is a community."""

    community: int
    level: int
    parent: int | None
    title: str
    summary: str
    entity_ids: tuple[str, ...] = ()
    chunk_ids: tuple[str, ...] = ()
    embedding: Vector = ()


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Documents with their chunks, written together.

    What the project held of these documents is replaced.
    """

    documents: tuple[DocumentRecord, ...]
    chunks: tuple[ChunkRecord, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeBatch:
    """All entities, relations and communities of a project.

    What is not in it is removed from the project.
    """

    entities: tuple[EntityRecord, ...]
    relations: tuple[RelationRecord, ...]
    communities: tuple[CommunityRecord, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ProjectState:
    """What a project holds, as the graph counts it.

    `documents` are content hashes by id, '' for one that is not whole; `fingerprint` is '' when the
    knowledge is unfinished or not whole; `communities` are counted by level.
    """

    documents: Mapping[str, str]
    fingerprint: str
    sources: Mapping[str, str] = field(default_factory=dict)
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    communities: Mapping[int, int] = field(default_factory=dict)
