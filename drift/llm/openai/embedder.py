"""Embedder over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API. How many texts a request may have,
how long one may be, and whether `dimensions` is taken are found out by what a server refuses.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import httpx2
from openai import APIStatusError, AsyncOpenAI

from drift.core.deadline import Deadline, task_group
from drift.core.errors import DriftError, ModelUnavailableError, UnusableReplyError
from drift.core.logs import log
from drift.llm.caller import ModelCaller
from drift.llm.errors import failure, is_known, is_too_long, status_of, words_of
from drift.llm.openai.vectors import (
    VectorsAnswer,
    most_bytes,
    read,
    require_size,
    vectors,
)
from drift.llm.reply_limits import Limit, limited
from drift.llm.retry import Failure
from drift.model.calls import Embeddings
from drift.prompting.tokens import cut_to, most_tokens
from drift.telemetry import parts


@dataclass(slots=True)
class _ServerLimits:
    """The known limits of a server: texts a request, tokens a text, `dimensions`.

    `cuts` counts the texts that were refused as too long.
    """

    texts: int = 256
    """Under the 2,048 texts and 300,000 tokens that a request may have; some servers take fewer."""
    tokens: int | None = None
    dimensions: bool | None = None
    cuts: int = 0


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """Embedder: vectors of exactly `dimensions` floats.

    `deployment` is what the server calls `model`. Before each text comes `prefix`: by itself that
    of questions, of `of_passages` the other one.
    """

    client: AsyncOpenAI
    model: str
    dimensions: int
    deployment: str | None = None
    caller: ModelCaller = field(default_factory=ModelCaller)
    prefix: str = ""
    passage_prefix: str = ""
    _limits: _ServerLimits = field(default_factory=_ServerLimits)

    @property
    def of_passages(self) -> OpenAIEmbedder:
        """The same model for texts that are stored and searched in."""
        return replace(self, prefix=self.passage_prefix)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; see ports.Embedder for the errors."""
        prefixed = [self.prefix + text for text in texts]
        size = self._limits.texts
        batches = [prefixed[at : at + size] for at in range(0, len(prefixed), size)]
        limit = asyncio.Semaphore(4)

        async def embedded(batch: list[str]) -> Embeddings:
            async with limit:
                try:
                    return await self._embed(batch, deadline)
                except DriftError as error:
                    _log_failed(batch, error)
                    raise

        with parts.waiting() as cost:
            async with task_group() as group:
                tasks = [group.create_task(embedded(batch)) for batch in batches]
            embeddings = Embeddings.of_calls([task.result() for task in tasks])
            cost.embedding_calls += 1
            cost.replied(embeddings)

        return embeddings

    async def _embed(self, batch: list[str], deadline: Deadline) -> Embeddings:
        """Embed a batch; halves of one that is refused, down to a text, and that cut shorter."""
        if most := self._limits.tokens:
            batch = [cut_to(text, most) for text in batch]
        if len(batch) > self._limits.texts:  # learned meanwhile
            return await self._embed_in_parts(batch, self._limits.texts, deadline)

        cuts = self._limits.cuts
        try:
            return await self._request(batch, deadline)
        except _BatchRefusedError as refused:
            if len(batch) == 1:
                return await self._embed_shorter(batch[0], refused, deadline)

        half = -(-len(batch) // 2)
        embeddings = await self._embed_in_parts(batch, half, deadline)
        if self._limits.cuts == cuts:  # it was not one text that was too long
            self._limits.texts = min(self._limits.texts, half)
        return embeddings

    async def _embed_in_parts(self, batch: list[str], size: int, deadline: Deadline) -> Embeddings:
        starts = range(0, len(batch), size)
        return Embeddings.of_calls(
            [await self._embed(batch[at : at + size], deadline) for at in starts]
        )

    async def _embed_shorter(
        self, text: str, refused: _BatchRefusedError, deadline: Deadline
    ) -> Embeddings:
        """Embed the beginning of a text that is too long for the model, and remember how long."""
        shorter = text
        for _ in range(8):  # each time it is cut to what the server says it takes
            if not is_too_long(refused.error):
                break
            longer, shorter = (
                shorter,
                cut_to(text, int(most_tokens(shorter) * _share(refused.error))),
            )
            try:
                embeddings = await self._request([shorter], deadline)
            except _BatchRefusedError as again:
                refused = again
            else:
                self._limits.cuts += 1
                if self._limits.tokens is None:
                    between = most_tokens(shorter), most_tokens(longer)
                    self._limits.tokens = await self._learn_length(text, between, deadline)
                    log.warning("embedding_input_cut", extra={"characters": len(shorter)})
                self._limits.tokens = max(self._limits.tokens, most_tokens(shorter))
                return embeddings

        raise refused.ours from refused.error

    async def _learn_length(self, text: str, between: tuple[int, int], deadline: Deadline) -> int:
        """Return the most tokens of a text that are taken, of so many that are and are not.

        All later texts are cut to that, so a half of what the model reads would stay a half.
        """
        taken, refused = between
        for _ in range(3):  # an eighth of the range is then not known
            tried = cut_to(text, (taken + refused) // 2)
            try:
                await self._request([tried], deadline)
            except DriftError:
                refused = most_tokens(tried)
            else:
                taken = most_tokens(tried)
        return taken

    async def _request(self, batch: list[str], deadline: Deadline) -> Embeddings:
        """Send one request; another one with `dimensions` where that may bring the right size.

        Raises:
            _BatchRefusedError: a smaller one might be taken.
        """
        sends = self._limits.dimensions
        usual = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
        if sends is None and self.model in usual:
            sends = self.dimensions != usual[self.model]

        response, retries = await self._send(batch, deadline, with_dimensions=bool(sends))
        found = vectors(response.data, len(batch))
        sizes = {len(vector) for vector in found}
        if sends is None and sizes != {self.dimensions}:
            sized = await self._with_dimensions(batch, deadline)
            self._limits.dimensions = sized is not None
            if sized is not None:
                return sized

        require_size(found, self.dimensions)
        return Embeddings(found, response.tokens, retries)

    async def _with_dimensions(self, batch: list[str], deadline: Deadline) -> Embeddings | None:
        """Return vectors of the size that is asked for; None from a server that has no others."""
        try:
            response, retries = await self._send(batch, deadline, with_dimensions=True)
        except _BatchRefusedError:
            return None

        found = vectors(response.data, len(batch))
        if {len(vector) for vector in found} != {self.dimensions}:
            return None
        return Embeddings(found, response.tokens, retries + 1)

    async def _send(
        self, batch: list[str], deadline: Deadline, *, with_dimensions: bool
    ) -> tuple[VectorsAnswer, int]:
        request: dict[str, Any] = {
            "model": self.deployment or self.model,
            "input": batch,
            # A quarter of the bytes; servers that know only lists of numbers send those.
            "encoding_format": "base64",
        }
        if with_dimensions:
            request["dimensions"] = self.dimensions

        try:
            with self._limited(len(batch)):
                return await self.caller.retry.run(
                    lambda: self.caller.send(
                        lambda: self._post(request),
                        "embeddings",
                        request["model"],
                        lambda answer: (answer.tokens, answer.model),
                    ),
                    deadline,
                    _read_failure,
                )
        except UnusableReplyError as error:
            raise ModelUnavailableError(
                "The embedding model's content filter refuses a text."
            ) from error
        except DriftError as error:
            cause = error.__cause__
            if not isinstance(cause, APIStatusError) or status_of(cause) not in {
                HTTPStatus.BAD_REQUEST,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                HTTPStatus.UNPROCESSABLE_ENTITY,
            }:
                raise
            if is_known(cause) and not is_too_long(cause):
                raise
            raise _BatchRefusedError(cause, error) from cause

    async def _post(self, request: dict[str, Any]) -> VectorsAnswer:
        return read(await self.client.post("/embeddings", cast_to=httpx2.Response, body=request))

    def _limited(self, texts: int) -> AbstractContextManager[None]:
        """Limit the answer to what the vectors of so many texts can take."""
        size = most_bytes(texts, self.dimensions)
        detail = (
            f"The embedding model's answer is longer than the vectors asked for can be "
            f"({size:,} bytes): check OAI_BASE_URL and OAI_EMBED_DEPLOYMENT_NAME."
        )
        return limited(Limit(size, detail))


class _BatchRefusedError(DriftError):
    """A request was refused that might be taken in parts; `ours` is what it means otherwise."""

    def __init__(self, error: APIStatusError, ours: DriftError) -> None:
        super().__init__(ours.detail)
        self.error = error
        self.ours = ours


def _read_failure(error: BaseException) -> Failure | None:
    return failure(error, "OAI_EMBED_DEPLOYMENT_NAME", "embedding")


def _share(error: APIStatusError) -> float:
    """Return the share of a text to keep: by the two numbers of an error that names them.

    That is never less than a half, so that other numbers do no more than none would.
    """
    numbers = sorted({int(n) for n in re.findall(r"\d{2,7}", words_of(error))} - {status_of(error)})
    if len(numbers) == 2:  # noqa: PLR2004 - how many are taken, and how many came
        return min(max(numbers[0] / numbers[1] * 0.95, 0.5), 0.9)
    return 0.5


def _log_failed(batch: Sequence[str], error: DriftError) -> None:
    """Log which texts have no vector; their words stand there only where words are allowed."""
    about = {"texts": len(batch), "code": error.code, "detail": error.detail}
    for text in batch[:3]:  # one of all these was refused, and it is not known which
        log.warning("embedding_failed", extra={**about, "text": text})
