"""A graph in memory and an embedder by hashing, with the promises of the ports."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.graph.writing.lease import MAX_WAIT_S
from drift.graph.writing.records import (
    ChunkDefinitions,
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    Member,
    ModelReply,
    ProjectState,
)
from drift.graph.writing.rows import read_skipped
from drift.local.ingest.by_model.writing import embedded_text
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.stamps import Comparison, Stamps, stamps_of
from drift.local.ingest.topics import Points
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.originals.store import DocumentStore

DIMENSIONS = 8
NOTHING = KnowledgeBatch((), (), (), "")


@dataclass
class Project:
    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    chunks: dict[str, tuple[ChunkRecord, ...]] = field(default_factory=dict)
    knowledge: KnowledgeBatch = NOTHING
    skipped: tuple[str, ...] = ()
    stale: set[int] = field(default_factory=set)
    new: set[str] = field(default_factory=set)

    def seen(self) -> dict[str, ChunkRecord]:
        held = (own for name, own in self.chunks.items() if not self.documents[name].is_off)
        return {c.id: c for own in held for c in own}

    def outdate(self, name: str) -> None:
        """Have the topics of a document's chunks be read again."""
        own = {c.id for c in self.chunks.get(name, ())}
        self.stale |= {c.community for c in self.knowledge.communities if own & {*c.chunk_ids}}


@dataclass
class Held:
    """ProjectWriter over the writes of a GraphWriter in memory, which are always whole."""

    graph: Any
    project_id: str

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a write of the graph, of this project."""
        return partial(getattr(self.graph, name), self.project_id)


class KeptReplies:
    """What a graph in memory keeps of a model's replies."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, str], ModelReply] = {}

    async def read_replies(self, project_id: str) -> tuple[ModelReply, ...]:
        return tuple(reply for (owner, _), reply in self.replies.items() if owner == project_id)

    async def keep_replies(self, project_id: str, replies: Sequence[ModelReply]) -> None:
        self.replies |= {(project_id, reply.key): reply for reply in replies}

    async def drop_replies(self, project_id: str, keys: Sequence[str]) -> None:
        for key in keys:
            self.replies.pop((project_id, key), None)


class MemoryWriter(KeptReplies):
    """GraphWriter in memory, which remembers its `writes`."""

    originals: DocumentStore | None = None

    def __init__(self) -> None:
        super().__init__()
        self.projects: dict[str, Project] = {}
        self.writes: list[str] = []

    def project(self, project_id: str) -> Project:
        return self.projects.setdefault(project_id, Project())

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        return tuple(
            HeldProject(name, Counter(d.source for d in p.documents.values()))
            for name, p in self.projects.items()
            if project_id in {None, name}
        )

    async def prepare(self, dimensions: int) -> tuple[str, ...]:
        del dimensions
        return ()

    async def project_state(self, project_id: str) -> ProjectState:
        project = self.project(project_id)
        return ProjectState(
            dict(project.documents),
            project.knowledge.fingerprint,
            sum(len(own) for own in project.chunks.values()),
            len(project.knowledge.entities),
            len(project.knowledge.relations),
            dict(sorted(Counter(c.level for c in project.knowledge.communities).items())),
            {
                place: (version, reason)
                for place, version, reason in map(read_skipped, project.skipped)
            },
        )

    @asynccontextmanager
    async def writing(
        self,
        project_id: str,
        *,
        wait_s: float = MAX_WAIT_S,
        say: Callable[[str], None] = lambda _: None,
    ) -> AsyncIterator[Neo4jProject]:
        del wait_s, say
        yield Held(self, project_id)

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        self.writes.append("write_documents")
        project = self.project(project_id)
        vectors = {c.id: c.embedding for own in project.chunks.values() for c in own}
        project.knowledge = replace(project.knowledge, fingerprint="")
        for document in batch.documents:
            own = tuple(
                replace(c, embedding=vectors[c.id], keeps_vector=False) if c.keeps_vector else c
                for c in batch.chunks
                if c.document_id == document.id
            )
            project.outdate(document.id)
            project.documents[document.id] = document
            project.new.add(document.id)
            project.chunks[document.id] = own
            self._drop(project, batch.replaced.get(document.id, ()))

    def _drop(self, project: Project, names: Sequence[str]) -> None:
        for name in project.documents.keys() & {*names}:  # others were replaced before
            project.outdate(name)
            project.documents.pop(name, None)
            project.chunks.pop(name, None)

    async def relocate(self, project_id: str, places: Mapping[str, tuple[str, str]]) -> None:
        self.writes.append("relocate")
        project = self.project(project_id)
        for name, (to, source) in places.items():
            project.documents[to] = replace(project.documents.pop(name), id=to, source=source)
            own = project.chunks.pop(name)
            project.chunks[to] = tuple(replace(c, document_id=to) for c in own)

    async def switch(self, project_id: str, document_ids: Sequence[str], *, on: bool) -> None:
        project = self.project(project_id)
        for name in document_ids:
            project.outdate(name)
            project.documents[name] = replace(project.documents[name], is_off=not on)
        project.knowledge = replace(project.knowledge, fingerprint="")

    async def keep_skipped(self, project_id: str, skipped: Sequence[str]) -> None:
        self.project(project_id).skipped = tuple(skipped)

    async def compare(self, project_id: str, batch: KnowledgeBatch) -> Comparison:
        held = self.project(project_id).knowledge
        is_own = held.embedding_model == batch.embedding_model
        return Comparison(stamps_of(batch), stamps_of(held) if is_own else Stamps())

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        self.writes.append("remove_documents")
        project = self.project(project_id)
        project.knowledge = replace(project.knowledge, fingerprint="")
        self._drop(project, document_ids)

    async def held_chunks(
        self, project_id: str, document_ids: Sequence[str], embedding: str
    ) -> dict[str, str]:
        project = self.project(project_id)
        return {
            c.id: c.heading
            for name in document_ids
            if project.documents[name].version.embedding == embedding
            for c in project.chunks[name]
        }

    async def read_members(self, project_id: str) -> tuple[list[Member], list[ChunkDefinitions]]:
        project = self.project(project_id)
        ordered = sorted(project.seen().values(), key=lambda c: (c.document_id, c.ordinal))
        members = [
            Member(
                c.id,
                c.document_id,
                project.documents[c.document_id].title,
                c.document_id in project.new,
            )
            for c in ordered
        ]
        facts = [
            ChunkDefinitions(c.id, c.defines, c.names) for c in ordered if c.defines or c.names
        ]
        return members, facts

    async def read_chunks(
        self, project_id: str, members: Sequence[Member], dimensions: int
    ) -> dict[str, tuple[ChunkRecord, Points]]:
        seen = self.project(project_id).seen()
        return {
            one.chunk_id: (
                replace(seen[one.chunk_id], embedding=(), title=one.title),
                np.array(seen[one.chunk_id].embedding or [0.0] * dimensions, dtype=np.float32),
            )
            for one in members
        }

    async def first_found(
        self, project_id: str, asked: Sequence[str], vectors: Sequence[Vector]
    ) -> list[list[str]]:
        assert len(vectors) == len(asked)
        return [[*self.project(project_id).seen()]] * len(asked)

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        project = self.project(project_id)
        knowledge = project.knowledge
        if knowledge.clustered is None or knowledge.embedding_model != embedding_model:
            return None
        return replace(kept_topics(knowledge), stale=frozenset(project.stale))

    async def read_entity_vectors(
        self, project_id: str, embedding_model: str, titles: Sequence[str] | None = None
    ) -> dict[str, Vector]:
        del embedding_model
        entities = self.project(project_id).knowledge.entities
        wanted = [one for one in entities if titles is None or one.title in titles]
        return {embedded_text(e.title, e.description): e.embedding for e in wanted}

    async def read_texts_off(self, project_id: str) -> list[str]:
        project = self.project(project_id)
        seen = project.seen()
        return [c.text for own in project.chunks.values() for c in own if c.id not in seen]

    async def write_knowledge(
        self,
        project_id: str,
        batch: KnowledgeBatch,
        removed: Sequence[str] = (),
        compared: Comparison | None = None,
    ) -> None:
        self.writes.append("write_knowledge")
        project = self.project(project_id)
        self._drop(project, removed)
        # What is as it was keeps its vectors.
        held = project.knowledge
        kept = (compared or Comparison(stamps_of(batch), stamps_of(held))).kept
        communities = {c.community: c.embedding for c in held.communities}
        entities = {e.id: e.embedding for e in held.entities}
        project.knowledge = replace(
            batch,
            communities=tuple(
                replace(c, embedding=communities[c.community])
                if c.community in kept.communities
                else c
                for c in batch.communities
            ),
            entities=tuple(
                replace(e, embedding=entities[e.id]) if e.id in kept.entities else e
                for e in batch.entities
            ),
        )
        project.stale.clear()
        project.new.clear()


class HashEmbedder:
    """One vector a text, from its hash; counts texts, and remembers how many calls ran at once."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.texts = 0

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        assert deadline.remaining() > 0
        self.texts += len(texts)
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        return Embeddings(
            tuple(tuple(b / 255 for b in digest[: self.dimensions]) for digest in digests)
        )


def context(writer: MemoryWriter, **more: Any) -> IngestContext:
    """Return what a run over a graph in memory works with."""
    return IngestContext(writer, HashEmbedder(), DIMENSIONS, **more)  # type: ignore[arg-type]


def comparable(project: Project, *, has_paths: bool = True) -> tuple[object, ...]:
    """Return what a project tells, without the names that say how it came about.

    Topics are called after folders, where a file has them in its id: `has_paths` compares these.
    """
    texts = {c.id: c.text for own in project.chunks.values() for c in own}
    return (
        {d.id: (d.title, d.source, d.version, d.updated_at) for d in project.documents.values()},
        {name: [replace(c, id="") for c in own] for name, own in project.chunks.items()},
        sorted(
            (
                c.level,
                (c.title, c.summary) if has_paths else (),
                sorted(texts[id_] for id_ in c.chunk_ids),
                c.says,
            )
            for c in project.knowledge.communities
        ),
        project.skipped,
    )


def as_members(
    chunks: Sequence[ChunkRecord], vectors: Points
) -> tuple[list[Member], dict[str, tuple[ChunkRecord, Points]]]:
    """Return chunks as `derive` takes them: the members of a project, and each with its vector."""
    members = [Member(c.id, c.document_id, c.title) for c in chunks]
    return members, {c.id: (c, row) for c, row in zip(chunks, vectors, strict=True)}


def kept_topics(knowledge: KnowledgeBatch) -> KeptTopics:
    """Return the topics of a project that has this knowledge."""
    return KeptTopics(
        {c.community: c for c in knowledge.communities},
        {id_: c.community for c in knowledge.communities for id_ in c.chunk_ids},
        {c.community: len(c.chunk_ids) for c in knowledge.communities},
        frozenset(),
        knowledge.clustered or 0,
    )
