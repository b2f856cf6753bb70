"""What ingestion needs of a graph: one writer at a time for each project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    ModelReply,
    ProjectState,
)
from drift.local.ingest.topics import Points

MAX_WAIT_S = 600.0
"""How long a writer waits for another one of the same project, unless it is told otherwise."""


class ProjectWriter(Protocol):
    """Writes into the project that it holds.

    Every write is idempotent, so that the next run repairs a broken one. When the project is no
    longer held, every method raises LeaseLostError and changes nothing.
    """

    async def write_documents(self, batch: DocumentBatch) -> None:
        """Replace what the project holds of these documents, and mark its knowledge as unfinished.

        A reader sees a document whole, with its chunks and their vectors, or not at all. What it
        replaces goes in the same moment.
        """
        ...

    async def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Remove these documents with their chunks, and mark the knowledge as unfinished."""
        ...

    async def take_over(self, document_ids: Sequence[str], source: str) -> None:
        """Have these documents belong to a source; nothing else of them changes."""
        ...

    async def keep_replies(self, replies: Sequence[ModelReply]) -> None:
        """Keep what a model replied, at once: it stays when the run breaks."""
        ...

    async def drop_replies(self, keys: Sequence[str]) -> None:
        """Remove replies by their keys."""
        ...

    async def write_knowledge(self, batch: KnowledgeBatch, removed: Sequence[str] = ()) -> None:
        """Make the project's entities, relations and communities exactly these.

        A reader sees the knowledge before or the knowledge after, and the documents that are
        `removed` with the knowledge before alone. The fingerprint is set last.
        """
        ...


class GraphWriter(Protocol):
    """Writes into projects, one writer at a time for each; the three writes hold it themselves."""

    async def prepare(self, dimensions: int) -> tuple[str, ...]:
        """Create missing constraints and indexes, wait until they are online, and name them.

        Raises:
            GraphMisconfiguredError: when a vector index exists with other dimensions.
        """
        ...

    async def project_state(self, project_id: str) -> ProjectState:
        """Return what the project holds, counted."""
        ...

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        """Return what the graph's projects hold, by id; of one alone, if it is there."""
        ...

    async def read_chunks(self, project_id: str) -> tuple[ChunkRecord, ...]:
        """Return all chunks of the project by document id and ordinal, with their topics.

        Their vectors are left out.
        """
        ...

    async def read_vectors(
        self, project_id: str, chunk_ids: Sequence[str], dimensions: int
    ) -> Points:
        """Return a row a chunk; zeros for one without a vector of this length."""
        ...

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        """Return the project's topics; None where they are of other vectors, or it has none."""
        ...

    async def read_replies(self, project_id: str) -> tuple[ModelReply, ...]:
        """Return what models replied about the project's documents."""
        ...

    def writing(
        self, project_id: str, *, wait_s: float = MAX_WAIT_S, say: Callable[[str], None] = ...
    ) -> AbstractAsyncContextManager[ProjectWriter]:
        """Hold the lease on the project while the block runs, so that nobody else writes it.

        The lease ends with the block, however that ends, and by itself some seconds after the last
        sign of life of its process. A project that holds nothing then is not there any more. `say`
        is given a sentence about another writer that is waited for.

        Raises:
            ProjectBusyError: when another writer still holds the project after `wait_s` seconds.
            LeaseLostError: when this process stood still for too long; the block is cancelled.
        """
        ...

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        """Hold the project and do what ProjectWriter does."""
        ...

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        """Hold the project and do what ProjectWriter does."""
        ...

    async def write_knowledge(self, project_id: str, batch: KnowledgeBatch) -> None:
        """Hold the project and do what ProjectWriter does."""
        ...
