"""ChatModel and Embedder over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API.

The client is built by `client.build_client` and shared by both. Its own retries are off:
`adapters/retry.py` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
from openai import AsyncOpenAI, OpenAIError

from drift.adapters.openai.bounded import Limit, limited
from drift.adapters.openai.errors import UNREADABLE, asked_wait, is_transient, translated
from drift.adapters.openai.replies import ChatCompletion
from drift.adapters.openai.vectors import ENCODING, most_bytes, vectors
from drift.adapters.retry import RetryPolicy
from drift.errors import ModelUnavailableError, UnusableReplyError
from drift.tasks import Deadline, task_group
from drift.telemetry import parts
from drift.values.calls import ChatReply, Embeddings, Prompt, Tokens

T = TypeVar("T")

TEXTS_PER_REQUEST = 256
"""Under the 2,048 texts and 300,000 tokens that one request may have."""
EMBEDDING_REQUESTS_AT_ONCE = 4

DEFAULT_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Floats that these models give unless fewer are asked for, which no other model can be."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls the server: an attempt takes at most `timeout_s`, and `retry` repeats failed ones."""

    timeout_s: float = 60.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    provider: str = "openai"
    """What traces and metrics call the server, `gen_ai.provider.name`."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)
    """Held for one round of the event loop by whoever begins a request. The SDK takes a while to
    build one; what becomes ready together (160 follow-ups of 32 retrievals) would otherwise stop
    everything else until all of them are built."""

    async def call(
        self,
        request: Callable[[], Awaitable[T]],
        deadline: Deadline,
        operation: parts.Operation,
        model: str,
    ) -> tuple[T, int]:
        """Return the SDK's answer and the number of retries.

        Errors name the setting that `model` comes from.
        """

        async def attempt() -> T:
            async with self.turn:
                await asyncio.sleep(0)
            with parts.model_call(operation, model, self.provider) as call:
                # The SDK's own limit starts again with every byte.
                async with asyncio.timeout(self.timeout_s):
                    answer = await request()
                call.tokens, call.model = _tokens(answer), str(getattr(answer, "model", None) or "")
                return answer

        try:
            return await self.retry.run(
                attempt, retry_if=is_transient, deadline=deadline, asked_wait=asked_wait
            )
        except (OpenAIError, TimeoutError, *UNREADABLE) as error:
            raise translated(error, operation) from error


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """ChatModel: one chat completion a call.

    `model` is a model name, on Azure a deployment name.
    """

    client: AsyncOpenAI
    model: str
    temperature: float | None = None
    caller: Caller = field(default_factory=Caller)

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        """Return the model's reply; see ports.ChatModel for the errors.

        The detail of an UnusableReplyError is one of refused, content_filter, length, empty.
        """
        request = self._request(prompt)
        completion, retries = await self.caller.call(
            lambda: self._post(request), deadline, "chat", self.model
        )
        return ChatReply(completion.text(), _tokens(completion), retries)

    async def _post(self, request: dict[str, Any]) -> ChatCompletion:
        """Send a request as it is.

        The SDK's typed call would go through all of it and of the answer, in a third of the call's
        time.
        """
        return ChatCompletion.read(
            await self.client.post("/chat/completions", cast_to=httpx2.Response, body=request)
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """Build the request.

        `temperature` is left out unless it is set, because reasoning models refuse it.
        """
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
        }
        if self.temperature is not None:
            request["temperature"] = self.temperature
        if prompt.schema is not None:
            schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        return request


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """Embedder: vectors of exactly `dimensions` floats.

    `deployment` is what the server calls `model`.
    """

    client: AsyncOpenAI
    model: str
    dimensions: int
    deployment: str | None = None
    caller: Caller = field(default_factory=Caller)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; see ports.Embedder for the errors."""
        batches = [
            list(texts[at : at + TEXTS_PER_REQUEST])
            for at in range(0, len(texts), TEXTS_PER_REQUEST)
        ]
        limit = asyncio.Semaphore(EMBEDDING_REQUESTS_AT_ONCE)

        async def embedded(batch: list[str]) -> Embeddings:
            async with limit:
                return await self._embed_batch(batch, deadline)

        async with task_group() as group:
            tasks = [group.create_task(embedded(batch)) for batch in batches]
        done = [task.result() for task in tasks]
        return Embeddings(
            vectors=tuple(vector for one in done for vector in one.vectors),
            tokens=Tokens(prompt=sum(one.tokens.prompt for one in done)),
            retries=sum(one.retries for one in done),
        )

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
                response, retries = await self.caller.call(
                    lambda: self.client.embeddings.create(**request),
                    deadline,
                    "embeddings",
                    request["model"],
                )
        except UnusableReplyError as error:
            raise ModelUnavailableError(
                "The embedding model's content filter refuses a text."
            ) from error
        return Embeddings(
            vectors(response, len(batch), self.dimensions), _tokens(response), retries
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


def _tokens(answer: Any) -> Tokens:  # noqa: ANN401 - a chat completion or embeddings
    """Read the usage; compatible servers leave out parts of it, or all."""
    usage = getattr(answer, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Tokens(
        prompt=getattr(usage, "prompt_tokens", None) or 0,
        completion=getattr(usage, "completion_tokens", None) or 0,
        cached=getattr(details, "cached_tokens", None) or 0,
    )
