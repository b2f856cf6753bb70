"""Reranker over Cohere's API, which servers of many makes speak.

It is asked for a few seconds at most, and seldom while it fails: a search has an order without it.
How a server calls the texts, and how many it takes at once, is found out by what it refuses.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
from openai import APIStatusError, AsyncOpenAI

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.llm.answers import ServerAnswer, told_error
from drift.llm.caller import ModelCaller
from drift.llm.connection import EntraTokens, http_client
from drift.llm.errors import ServerSettings, failure, not_this_api, status_of, words_of
from drift.llm.event_stream import from_json
from drift.llm.openai.client import ENTRA_SCOPE, is_azure
from drift.llm.openai.replies import API
from drift.llm.readiness import ModelWatch
from drift.llm.reply_limits import Limit, limited
from drift.llm.retry import Failure, RetryPolicy
from drift.model.calls import Relevances
from drift.model.health import Readiness
from drift.telemetry import parts

MOST_REPLY_BYTES = 2 * 1024 * 1024
"""Some servers send the texts back."""

_SERVER = ServerSettings("rerank", "RERANK_URL", "RERANK_KEY", "RERANK_URL")
_TOO_LONG = f"The reranker's answer is longer than {MOST_REPLY_BYTES:,} bytes: check RERANK_URL."
_REFUSED = {400, 413, 422}


def rerank_url(url: str) -> str:
    """Return where texts are ranked, by an address that need not end in `/rerank`."""
    parts_of_url = urlsplit(url)
    path = parts_of_url.path.rstrip("/")
    if not path.endswith("/rerank"):
        if is_azure(parts_of_url) and not path:
            path = "/providers/cohere"
        version = "" if re.search(r"/v\d+\Z", path) else "/v2"
        path = f"{path}{version}/rerank"
    return parts_of_url._replace(path=path, fragment="").geturl()


def build_client(url: str, key: str | None, azure_client_id: str | None = None) -> AsyncOpenAI:
    """Return a client that never retries by itself; on Azure it has a token where no key is."""
    tokens = None
    if not key and is_azure(urlsplit(url)):
        tokens = EntraTokens(azure_client_id, scope=ENTRA_SCOPE, key="RERANK_KEY")
    http = http_client(url, 4.0, MOST_REPLY_BYTES)
    shown = key or tokens or "none"
    return AsyncOpenAI(base_url=url, api_key=shown, max_retries=0, http_client=http)


@dataclass(slots=True)
class _Ranking(ServerAnswer):
    """What is looked at of an answer: a score a text, and the searches that are billed."""

    scores: tuple[float, ...] = ()
    units: int = 0


@dataclass(slots=True)
class CohereReranker:
    """Reranker: `url` is where texts are ranked by the `model`."""

    client: AsyncOpenAI
    url: str
    model: str
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    patience_s: float = 4.0
    """What one search waits for it: a hundred texts take a tenth of that."""
    clock: Callable[[], float] = time.monotonic
    breaker: CircuitBreaker = field(init=False)
    _is_tei: bool = False
    """Whether the server is Text Embeddings Inference, whose own route has other names."""
    _most: int = 100
    """Texts of a request that are taken."""
    _watch: ModelWatch = field(init=False)
    _caller: ModelCaller = field(init=False)

    def __post_init__(self) -> None:
        """Ask nothing yet."""
        self.breaker = CircuitBreaker("reranker", self.clock)
        self._watch = ModelWatch(self.model, self._ask)
        provider = "azure.ai.inference" if is_azure(urlsplit(self.url)) else "cohere"
        self._caller = ModelCaller(self.patience_s, self.retry, provider)

    async def rerank(self, question: str, texts: Sequence[str], deadline: Deadline) -> Relevances:
        """Return a score a text, in order; see ports.Reranker for the errors."""
        if not self.breaker.allow():
            raise ModelUnavailableError(self.breaker.problem)

        patience = Deadline.after(min(self.patience_s, deadline.remaining()), deadline.clock)
        try:
            with parts.waiting() as cost:
                cost.rerank_calls += 1
                found = await self._rerank(question, texts, patience)
                cost.replied(found)
                cost.search_units += found.units
        except DriftError as error:
            # A request that has no time left says nothing of the server.
            if patience.total_s == self.patience_s:
                self.breaker.fail(error.detail)
            raise
        self.breaker.succeed()
        self._watch.answered()
        return found

    async def health(self) -> Readiness:
        """Return whether the model answers, by an earlier answer most of the time."""
        if self.breaker.problem:
            with suppress(DriftError):
                await self._ask()
        if self.breaker.problem:
            return Readiness.failing(self.breaker.problem)
        return await self._watch.readiness(str)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _ask(self) -> None:
        await self.rerank("ready?", ["ready"], Deadline.after(self.patience_s))

    async def _rerank(self, question: str, texts: Sequence[str], deadline: Deadline) -> Relevances:
        """Rank the texts in one request, or in as many as the server wants."""
        is_tei, most = self._is_tei, self._most
        several = [texts[at : at + most] for at in range(0, len(texts), most)]
        try:
            return Relevances.of_calls([await self._send(question, t, deadline) for t in several])
        except DriftError as error:
            if not self._learn(error.__cause__, is_tei, min(most, len(texts))):
                raise
        return await self._rerank(question, texts, deadline)

    def _learn(self, refusal: BaseException | None, was_tei: bool, texts: int) -> bool:
        """Tell whether a request in another form, or with fewer texts, may be taken.

        Requests at the same time are refused together: what one has learned holds for all.
        """
        if not isinstance(refusal, APIStatusError) or status_of(refusal) not in _REFUSED:
            return False

        words = words_of(refusal)
        if "missing field `texts`" in words and not was_tei:
            self._is_tei = True
            return True
        if "batch" in words and texts > 1:
            self._most = min(self._most, -(-texts // 2))
            return True
        return False

    async def _send(self, question: str, texts: Sequence[str], deadline: Deadline) -> Relevances:
        request: dict[str, Any] = {"query": question, "texts": texts, "truncate": True}
        if not self._is_tei:
            request = {"model": self.model, "query": question, "documents": texts}
            request["top_n"] = len(texts)

        with limited(Limit(MOST_REPLY_BYTES, _TOO_LONG)):
            answer, retries = await self.retry.run(
                lambda: self._caller.send(
                    lambda: self._post(request, len(texts)),
                    "rerank",
                    self.model,
                    lambda answer: (answer.tokens, answer.model),
                ),
                deadline,
                _read_failure,
            )
        return Relevances(answer.scores, answer.tokens, retries, answer.units)

    async def _post(self, request: dict[str, Any], texts: int) -> _Ranking:
        response = await self.client.post(self.url, cast_to=httpx2.Response, body=request)
        return _read(response, texts)


def _read(response: httpx2.Response, texts: int) -> _Ranking:
    """Return the answer of a response with status 200; errors as for embeddings."""
    try:
        value = from_json(response.content)
    except (ValueError, RecursionError) as error:
        raise not_this_api(_SERVER) from error

    value = value if isinstance(value, dict) else {"results": value}
    if told := told_error(value):
        raise API.told(told, response)
    answer = _Ranking(scores=_scores(value.get("results"), texts))
    answer.count(value)
    with suppress(TypeError, KeyError, ValueError, OverflowError):
        answer.units = max(0, int(value["meta"]["billed_units"]["search_units"]))
    return answer


def _scores(results: object, texts: int) -> tuple[float, ...]:
    rows = [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []
    told = {one.get("index"): one.get("relevance_score", one.get("score")) for one in rows}
    scores = [told.get(place) for place in range(texts)]
    # An order of some of the texts, or of others, is none; NaN is greater than nothing.
    known = [float(s) for s in scores if isinstance(s, int | float) and abs(s) < 1e9]  # noqa: PLR2004
    if not len(rows) == len(told) == len(known) == texts:
        raise ModelMisconfiguredError(
            "The reranker did not return one finite score a text: check RERANK_URL and "
            "RERANK_MODEL."
        )
    return tuple(known)


def _read_failure(error: BaseException) -> Failure | None:
    return failure(error, "RERANK_MODEL", "rerank", _SERVER)
