"""Vectors for what is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drift.core.folding import as_typed
from drift.graph.vector_models import has_direction
from drift.graph.writing.records import DocumentBatch
from drift.model.graph import Vector
from drift.nodes.embedding_calls import CALLS_IN_FLIGHT, TEXTS_A_CALL, EmbeddingCalls
from drift.ports import Embedder

MAX_EMBEDDED_CHARS = 4000
"""A text is cut to this length before it is embedded; what is stored stays whole."""


class BatchEmbedder:
    """Embeds chunks and other texts, each by its beginning.

    `tokens` are those that it has used, and `lost` counts texts whose vector has no direction, as
    one of zeros, so that no search by vector finds them.
    """

    def __init__(
        self,
        embedder: Embedder,
        dimensions: int,
        calls_at_once: int = CALLS_IN_FLIGHT,
        texts_a_call: int = TEXTS_A_CALL,
    ) -> None:
        """Make calls as `EmbeddingCalls` does; nothing is embedded yet."""
        self._calls = EmbeddingCalls(embedder, dimensions, calls_at_once, texts_a_call)
        self.tokens = self.lost = 0

    async def embed_chunks(self, batch: DocumentBatch) -> DocumentBatch:
        """Return the documents with the vectors of their chunks, but those that keep theirs."""
        bare = [chunk for chunk in batch.chunks if not chunk.keeps_vector]
        texts = [as_typed(f"{chunk.heading}\n{chunk.text}") for chunk in bare]
        vectors = iter(await self.embed(texts))
        return replace(
            batch,
            chunks=tuple(
                chunk if chunk.keeps_vector else replace(chunk, embedding=next(vectors))
                for chunk in batch.chunks
            ),
        )

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector a text, in order."""
        made = await self._calls.embed([text[:MAX_EMBEDDED_CHARS] for text in texts])
        self.tokens += made.tokens.prompt
        self.lost += sum(not has_direction(vector) for vector in made.vectors)
        return list(made.vectors)
