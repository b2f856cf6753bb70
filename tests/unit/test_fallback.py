"""Questions are embedded by a local model while the provider fails, and by one of them alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    DriftError,
    ModelMisconfiguredError,
    ModelUnavailableError,
)
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.model.calls import Embeddings
from drift.model.graph import LocalVector
from drift.ports import Embedder
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import CacheEntries
from drift.search import fallback
from drift.search.fallback import FallbackEmbedder
from tests.clock import Clock


class Provider:
    """Gives two floats a text, or fails; held while not `open`."""

    def __init__(self) -> None:
        self.error: DriftError | None = None
        self.calls = 0
        self.open = asyncio.Event()
        self.open.set()

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        self.calls += 1
        await self.open.wait()
        if self.error:
            raise self.error
        return Embeddings(tuple((1.0, 0.0) for _ in texts))


def soon() -> Deadline:
    return Deadline.after(20)


def embedder_of(
    provider: Embedder, clock: Clock, model: Embedder | None = None
) -> FallbackEmbedder:
    return FallbackEmbedder(
        provider, model or provider, LocalEmbedder(), CircuitBreaker("p", clock)
    )


async def asked(
    embedder: FallbackEmbedder, text: str = "a", deadline: Deadline | None = None
) -> type:
    """Return of which model a question's vector is, when what was begun beside it has ended."""
    (vector,) = (await embedder.embed([text], deadline or soon())).vectors
    if probe := embedder.probe.here():
        await probe
    return type(vector)


async def test_a_provider_that_answers_is_asked_alone() -> None:
    provider = Provider()
    assert await asked(embedder_of(provider, Clock())) is tuple
    assert provider.calls == 1


@pytest.mark.parametrize("error", [ModelUnavailableError("down"), ModelMisconfiguredError("key")])
async def test_while_it_fails_nobody_waits_for_it_and_it_is_asked_now_and_then(
    error: DriftError,
) -> None:
    provider, clock = Provider(), Clock()
    embedder = embedder_of(provider, clock)
    provider.error = error
    assert [await asked(embedder) for _ in range(3)] == [LocalVector] * 3
    assert provider.calls == 2, "the question, and what asks how the provider stands"

    clock.now += 60
    provider.open.clear()
    for _ in range(3):
        clock.now += 60
        (vector,) = (await embedder.embed(["a"], soon())).vectors
        assert (type(vector), len(vector)) == (LocalVector, DIMENSIONS)
    assert provider.calls == 3, "one at a time asks how it stands"

    provider.error = None
    provider.open.set()
    assert await asked(embedder) is LocalVector
    assert await asked(embedder) is tuple


class Refusing(Provider):
    """Answers everything but one text, and takes a while."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        if "refused" in texts:
            raise ModelMisconfiguredError("The model server refused to embed a text (HTTP 400).")
        if deadline.remaining() < 0.2:
            await asyncio.sleep(deadline.remaining())
            raise ModelUnavailableError("The model server did not answer in time.")
        return await super().embed(texts, deadline)


async def test_what_one_request_lacks_is_no_failure_of_the_provider() -> None:
    embedder = embedder_of(Refusing(), Clock())
    assert await asked(embedder, "refused") is LocalVector
    assert await asked(embedder) is tuple

    assert await asked(embedder, deadline=Deadline.after(0.3)) is LocalVector
    assert await asked(embedder) is tuple

    with pytest.raises(DeadlineError):
        await embedder.embed(["a"], Deadline.after(0))
    assert embedder.breaker.problem == ""


async def test_a_question_that_is_in_the_cache_says_nothing_of_the_provider() -> None:
    model, clock = Provider(), Clock()
    space = Space(None, "model", None, 2, "")
    embedder = embedder_of(CachedEmbedder(model, space, CacheEntries()), clock, model)
    assert await asked(embedder, "known") is tuple

    model.error = ModelUnavailableError("down")
    assert await asked(embedder, "new") is LocalVector
    clock.now += 60
    assert await asked(embedder, "known") is LocalVector
    assert embedder.breaker.problem == "down"


async def test_a_provider_that_is_silent_for_all_its_time_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fallback, "PROVIDER_S", 0.05)

    class Silent(Provider):
        async def embed(self, _texts: Sequence[str], deadline: Deadline) -> Embeddings:
            await asyncio.sleep(deadline.remaining())
            raise ModelUnavailableError("The model server did not answer in time.")

    embedder = embedder_of(Silent(), Clock())
    await embedder.embed(["a"], soon())
    assert embedder.breaker.problem


async def test_without_the_local_model_the_providers_error_stays() -> None:
    provider, local = Provider(), Provider()
    provider.error, local.error = ModelUnavailableError("down"), ModelMisconfiguredError("none")
    embedder = FallbackEmbedder(provider, provider, local, CircuitBreaker("p", Clock()))
    with pytest.raises(ModelUnavailableError, match="down"):
        await embedder.embed(["a"], soon())
