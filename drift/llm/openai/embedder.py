"""Embedder over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API.

The client is built by `client.build_client` and shared with the chat model. Its own retries are
off: `retry.py` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from openai import AsyncOpenAI

from drift.core.deadline import Deadline, task_group
from drift.core.errors import DriftError, ModelUnavailableError, UnusableReplyError
from drift.core.logs import log
from drift.llm.caller import ModelCaller
from drift.llm.openai.errors import failure
from drift.llm.openai.replies import tokens_of
from drift.llm.openai.vectors import ENCODING, most_bytes, vectors
from drift.llm.reply_limits import Limit, limited
from drift.model.calls import Embeddings, Tokens
from drift.telemetry import parts

TEXTS_PER_REQUEST = 256
"""Under the 2,048 texts and 300,000 tokens that one request may have."""
EMBEDDING_REQUESTS_AT_ONCE = 4
MAX_TEXTS_LOGGED = 3
"""Of a request that failed: which of its texts the model refused is not known."""

DEFAULT_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Floats that these models give unless fewer are asked for, which no other model can be."""


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """Embedder: vectors of exactly `dimensions` floats.

    `deployment` is what the server calls `model`.
    """

    client: AsyncOpenAI
    model: str
    dimensions: int
    deployment: str | None = None
    caller: ModelCaller = field(default_factory=ModelCaller)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; see ports.Embedder for the errors."""
        batches = [
            list(texts[at : at + TEXTS_PER_REQUEST])
            for at in range(0, len(texts), TEXTS_PER_REQUEST)
        ]
        limit = asyncio.Semaphore(EMBEDDING_REQUESTS_AT_ONCE)

        async def embedded(batch: list[str]) -> Embeddings:
            async with limit:
                try:
                    return await self._embed_batch(batch, deadline)
                except DriftError as error:
                    _log_failed(batch, error)
                    raise

        with parts.waiting() as cost:
            async with task_group() as group:
                tasks = [group.create_task(embedded(batch)) for batch in batches]

            done = [task.result() for task in tasks]
            embeddings = Embeddings(
                vectors=tuple(vector for one in done for vector in one.vectors),
                tokens=Tokens(prompt=sum(one.tokens.prompt for one in done)),
                retries=sum(one.retries for one in done),
            )
            cost.embedding_calls += 1
            cost.replied(embeddings)

        return embeddings

    async def _embed_batch(self, batch: list[str], deadline: Deadline) -> Embeddings:
        request: dict[str, Any] = {
            "model": self.deployment or self.model,
            "input": batch,
            "encoding_format": ENCODING,
        }
        if self.dimensions < DEFAULT_DIMENSIONS.get(self.model, 0):
            request["dimensions"] = self.dimensions

        try:
            with self._limited(len(batch)):
                response, retries = await self.caller.repeat(
                    lambda: self.caller.send(
                        lambda: self.client.embeddings.create(**request),
                        "embeddings",
                        request["model"],
                        lambda answer: (tokens_of(answer.usage), str(answer.model or "")),
                    ),
                    deadline,
                    lambda error: failure(error, "OAI_EMBED_DEPLOYMENT_NAME"),
                )
        except UnusableReplyError as error:
            raise ModelUnavailableError(
                "The embedding model's content filter refuses a text."
            ) from error

        return Embeddings(
            vectors(response, len(batch), self.dimensions), tokens_of(response.usage), retries
        )

    def _limited(self, texts: int) -> AbstractContextManager[None]:
        """Limit the answer to what the vectors of so many texts can take."""
        size = most_bytes(texts, self.dimensions)
        return limited(
            Limit(
                size,
                f"The embedding model's answer is longer than the vectors asked for can be "
                f"({size:,} bytes): check OAI_BASE_URL and OAI_EMBED_DEPLOYMENT_NAME.",
            )
        )


def _log_failed(batch: Sequence[str], error: DriftError) -> None:
    """Log which texts have no vector; their words stand there only where words are allowed."""
    about = {"texts": len(batch), "code": error.code, "detail": error.detail}
    for text in batch[:MAX_TEXTS_LOGGED]:
        log.warning("embedding_failed", extra={**about, "text": text})
