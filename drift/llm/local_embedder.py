"""Embedder of a packaged model in this process, which needs no network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError, ModelMisconfiguredError
from drift.model.calls import Embeddings
from drift.model.graph import LocalVector

DIMENSIONS = 256


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """Embedder: LocalVectors of 256 floats, loaded with the first text."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order.

        Raises:
            ModelMisconfiguredError: the package or its weights are missing.
        """
        async with deadline.enforced():
            return Embeddings(await asyncio.to_thread(_embed, list(texts)))


def _embed(texts: Sequence[str]) -> tuple[LocalVector, ...]:
    try:
        from drift.llm import local_embedding  # noqa: PLC0415 - an extra, and slow to load

        rows = local_embedding.embed(texts).tolist()
    except (ImportError, LocalStackError) as error:
        raise ModelMisconfiguredError(
            "EMBED_FALLBACK=local needs wordllama: pip install 'drift-neo4j[fallback]'."
        ) from error
    return tuple(map(LocalVector, rows))
