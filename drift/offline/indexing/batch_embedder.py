"""Vectors for all that an ingestion writes: many texts at once, and checked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from drift.errors import IngestError
from drift.ports import Embedder
from drift.tasks import Deadline, task_group
from drift.values.graph import Vector
from drift.values.records import DocumentBatch, KnowledgeBatch

TEXTS_A_CALL = 64
CALLS_IN_FLIGHT = 4
EMBEDDING_TIMEOUT_S = 120.0
MAX_EMBEDDED_CHARS = 4000
"""A text is cut to this length before it is embedded; what is stored stays whole."""


class BatchEmbedder:
    """Embeds many texts with a few calls in flight, and checks what comes back."""

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        """Keep the embedder; each of its vectors is to have so many floats."""
        self._embedder = embedder
        self._dimensions = dimensions
        self._in_flight = asyncio.Semaphore(CALLS_IN_FLIGHT)

    async def embed_chunks(self, batch: DocumentBatch) -> DocumentBatch:
        """Return the documents with the vectors of their chunks."""
        vectors = await self.embed([f"{chunk.heading}\n{chunk.text}" for chunk in batch.chunks])
        chunks = zip(batch.chunks, vectors, strict=True)
        return replace(batch, chunks=tuple(replace(c, embedding=vector) for c, vector in chunks))

    async def embed_knowledge(self, knowledge: KnowledgeBatch) -> KnowledgeBatch:
        """Return the knowledge with the vectors of its entities and communities."""
        texts = [
            *(f"{entity.title}: {entity.description}" for entity in knowledge.entities),
            *(community.summary for community in knowledge.communities),
        ]
        vectors = await self.embed(texts)
        split = len(knowledge.entities)
        entities = zip(knowledge.entities, vectors[:split], strict=True)
        communities = zip(knowledge.communities, vectors[split:], strict=True)
        return replace(
            knowledge,
            entities=tuple(replace(entity, embedding=vector) for entity, vector in entities),
            communities=tuple(replace(c, embedding=vector) for c, vector in communities),
        )

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector a text, in order."""
        parts = [texts[at : at + TEXTS_A_CALL] for at in range(0, len(texts), TEXTS_A_CALL)]
        async with task_group() as group:
            calls = [group.create_task(self._call(part)) for part in parts]
        return [vector for call in calls for vector in call.result()]

    async def _call(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        async with self._in_flight:
            deadline = Deadline.after(EMBEDDING_TIMEOUT_S)
            reply = await self._embedder.embed(
                [text[:MAX_EMBEDDED_CHARS] for text in texts], deadline
            )
        lengths = {len(vector) for vector in reply.vectors}
        if len(reply.vectors) != len(texts) or lengths - {self._dimensions}:
            raise IngestError(
                f"The embedding model gave {len(reply.vectors)} vectors of {sorted(lengths)} "
                f"floats for {len(texts)} texts; {self._dimensions} floats each were expected. "
                f"Check VECTOR_INDEX_DIMENSIONS against the model."
            )
        return reply.vectors
