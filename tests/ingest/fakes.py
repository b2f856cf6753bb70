"""A graph in memory and an embedder by hashing, with the promises of the ports."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    ProjectState,
)
from drift.local.ingest.topics import Points
from drift.local.ingest.writers import MAX_WAIT_S, ProjectWriter
from drift.model.calls import Embeddings
from tests.fakes_graph import Held, KeptReplies

DIMENSIONS = 8
NOTHING = KnowledgeBatch((), (), (), "")


@dataclass
class Project:
    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    chunks: dict[str, tuple[ChunkRecord, ...]] = field(default_factory=dict)
    knowledge: KnowledgeBatch = NOTHING


class MemoryWriter(KeptReplies):
    """GraphWriter in memory; the write numbered `breaks_at` (from 0) breaks when half is done."""

    def __init__(self, breaks_at: int | None = None) -> None:
        super().__init__()
        self.projects: dict[str, Project] = {}
        self.calls: list[str] = []
        self.breaks_at = breaks_at

    def _call(self, name: str) -> bool:
        self.calls.append(name)
        return len(self.calls) - 1 == self.breaks_at

    def project(self, project_id: str) -> Project:
        return self.projects.setdefault(project_id, Project())

    @property
    def writes(self) -> list[str]:
        return [c for c in self.calls if c.startswith(("write", "remove", "take"))]

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        return tuple(
            HeldProject(name, Counter(d.source for d in p.documents.values()))
            for name, p in self.projects.items()
            if project_id in {None, name}
        )

    async def prepare(self, dimensions: int) -> tuple[str, ...]:
        del dimensions
        if self._call("prepare"):
            raise GraphUnavailableError("down")
        return ()

    async def project_state(self, project_id: str) -> ProjectState:
        if self._call("project_state"):
            raise GraphUnavailableError("down")
        project = self.project(project_id)
        return ProjectState(
            {name: d.content_hash for name, d in project.documents.items()},
            project.knowledge.fingerprint,
            {name: d.source for name, d in project.documents.items()},
            sum(len(own) for own in project.chunks.values()),
            len(project.knowledge.entities),
            len(project.knowledge.relations),
            dict(sorted(Counter(c.level for c in project.knowledge.communities).items())),
        )

    @asynccontextmanager
    async def writing(
        self,
        project_id: str,
        *,
        wait_s: float = MAX_WAIT_S,
        say: Callable[[str], None] = lambda _: None,
    ) -> AsyncIterator[ProjectWriter]:
        del wait_s, say
        yield Held(self, project_id)

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        breaks = self._call("write_documents")
        project = self.project(project_id)
        project.knowledge = replace(project.knowledge, fingerprint="")
        for place, document in enumerate(batch.documents):
            own = tuple(c for c in batch.chunks if c.document_id == document.id)
            if breaks and place >= len(batch.documents) // 2:
                project.documents[document.id] = replace(document, content_hash="")
                project.chunks[document.id] = own[: len(own) // 2]
                raise GraphUnavailableError("down")
            project.documents[document.id] = document
            project.chunks[document.id] = own
            self._drop(project, batch.replaced.get(document.id, ()))

    def _drop(self, project: Project, names: Sequence[str]) -> None:
        for name in names:
            del project.documents[name]
            del project.chunks[name]

    async def take_over(self, project_id: str, document_ids: Sequence[str], source: str) -> None:
        if self._call("take_over"):
            raise GraphUnavailableError("down")
        documents = self.project(project_id).documents
        for name in document_ids:
            documents[name] = replace(documents[name], source=source)

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        breaks = self._call("remove_documents")
        project = self.project(project_id)
        project.knowledge = replace(project.knowledge, fingerprint="")
        self._drop(project, document_ids[: len(document_ids) // 2 if breaks else None])
        if breaks:
            raise GraphUnavailableError("down")

    async def read_chunks(self, project_id: str) -> tuple[ChunkRecord, ...]:
        if self._call("read_chunks"):
            raise GraphUnavailableError("down")
        project = self.project(project_id)
        topics = {id_: c.community for c in project.knowledge.communities for id_ in c.chunk_ids}
        chunks = (
            replace(
                c,
                embedding=(),
                title=project.documents[name].title,
                topic=topics.get(c.id),
            )
            for name, own in project.chunks.items()
            for c in own
        )
        return tuple(sorted(chunks, key=lambda c: (c.document_id, c.ordinal)))

    async def read_vectors(
        self, project_id: str, chunk_ids: Sequence[str], dimensions: int
    ) -> Points:
        held = {c.id: c.embedding for own in self.project(project_id).chunks.values() for c in own}
        rows = [held.get(id_) or (0.0,) * dimensions for id_ in chunk_ids]
        return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        knowledge = self.project(project_id).knowledge
        if knowledge.clustered is None or knowledge.embedding_model != embedding_model:
            return None
        parents = {c.community: c.parent for c in knowledge.communities if c.parent is not None}
        return KeptTopics(parents, knowledge.clustered)

    async def write_knowledge(
        self, project_id: str, batch: KnowledgeBatch, removed: Sequence[str] = ()
    ) -> None:
        breaks = self._call("write_knowledge")
        project = self.project(project_id)
        if breaks:
            project.knowledge = replace(project.knowledge, fingerprint="")
            raise GraphUnavailableError("down")
        self._drop(project, removed)
        project.knowledge = batch


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
