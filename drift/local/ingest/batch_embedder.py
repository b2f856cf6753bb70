"""Vectors for all that an ingestion writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from drift.local.ingest.graph_records import DocumentBatch, KnowledgeBatch
from drift.model.graph import Vector
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.ports import Embedder

MAX_EMBEDDED_CHARS = 4000
"""A text is cut to this length before it is embedded; what is stored stays whole."""


class BatchEmbedder:
    """Embeds chunks, communities and other texts, each by its beginning."""

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        """Keep the embedder; each of its vectors is to have so many floats."""
        self._calls = EmbeddingCalls(embedder, dimensions)

    async def embed_chunks(self, batch: DocumentBatch) -> DocumentBatch:
        """Return the documents with the vectors of their chunks."""
        vectors = await self.embed([f"{chunk.heading}\n{chunk.text}" for chunk in batch.chunks])
        chunks = zip(batch.chunks, vectors, strict=True)
        return replace(batch, chunks=tuple(replace(c, embedding=vector) for c, vector in chunks))

    async def embed_knowledge(self, knowledge: KnowledgeBatch) -> KnowledgeBatch:
        """Return the knowledge with the vectors of its communities."""
        communities = [one for one in knowledge.communities if one.centroid]
        vectors = await self.embed([community.summary for community in communities])
        summaries = dict(zip((c.community for c in communities), vectors, strict=True))

        return replace(
            knowledge,
            communities=tuple(
                replace(c, embedding=_between(summaries[c.community], c.centroid))
                if c.centroid
                else c
                for c in knowledge.communities
            ),
        )

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector a text, in order."""
        made = await self._calls.embed([text[:MAX_EMBEDDED_CHARS] for text in texts])
        return list(made.vectors)


def _between(summary: Vector, centroid: Vector) -> Vector:
    """Return the direction in the middle of a summary and of what it is about."""
    length = math.hypot(*summary) or 1.0
    return tuple(a / length + b for a, b in zip(summary, centroid, strict=True))
