"""Vectors for many texts: a few calls in flight, each with its own time, and checked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from drift.core.deadline import Deadline, task_group
from drift.core.errors import ModelMisconfiguredError
from drift.model.calls import Embeddings
from drift.ports import Embedder

TEXTS_A_CALL = 64
CALLS_IN_FLIGHT = 4
CALL_TIMEOUT_S = 120.0


class EmbeddingCalls:
    """Embeds texts as they are, in calls of a few dozen."""

    def __init__(
        self,
        embedder: Embedder,
        dimensions: int,
        calls_at_once: int = CALLS_IN_FLIGHT,
        texts_a_call: int = TEXTS_A_CALL,
    ) -> None:
        """Keep the embedder; each of its vectors is to have so many floats."""
        self._embedder = embedder
        self.dimensions = dimensions
        self._texts_a_call = texts_a_call
        self._in_flight = asyncio.Semaphore(calls_at_once)

    async def embed(self, texts: Sequence[str], deadline: Deadline | None = None) -> Embeddings:
        """Return one vector a text, in order; ModelMisconfiguredError for others than asked."""
        size = self._texts_a_call
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        async with task_group() as group:
            calls = [group.create_task(self._call(part, deadline)) for part in parts]

        return Embeddings.of_calls([call.result() for call in calls])

    async def _call(self, texts: Sequence[str], deadline: Deadline | None) -> Embeddings:
        async with self._in_flight:
            left = deadline.require() if deadline else CALL_TIMEOUT_S
            own = Deadline.after(min(left, CALL_TIMEOUT_S))
            reply = await self._embedder.embed(list(texts), own)

        lengths = {len(vector) for vector in reply.vectors}
        if len(reply.vectors) != len(texts) or lengths - {self.dimensions}:
            raise ModelMisconfiguredError(
                f"The embedding model gave {len(reply.vectors)} vectors of {sorted(lengths)} "
                f"floats for {len(texts)} texts; {self.dimensions} floats each were expected. "
                f"Check VECTOR_INDEX_DIMENSIONS against the model."
            )

        return reply
