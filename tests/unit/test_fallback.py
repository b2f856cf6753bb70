"""Questions are embedded by a local model while the provider fails, and by one of them alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.model.calls import Embeddings
from drift.model.graph import FollowupQuery, LocalVector, PrimerEvidence
from drift.search.fallback import FallbackEmbedder, FallbackGraph, breaker
from tests.fakes import StubGraph


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


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def soon() -> Deadline:
    return Deadline.after(20)


async def test_a_provider_that_answers_is_asked_alone() -> None:
    provider = Provider()
    embedder = FallbackEmbedder(provider, LocalEmbedder(), breaker(Clock()))
    assert (await embedder.embed(["a"], soon())).vectors == ((1.0, 0.0),)


@pytest.mark.parametrize("error", [ModelUnavailableError("down"), ModelMisconfiguredError("key")])
async def test_while_it_fails_nobody_waits_for_it_and_it_is_asked_now_and_then(
    error: DriftError,
) -> None:
    provider, clock = Provider(), Clock()
    embedder = FallbackEmbedder(provider, LocalEmbedder(), breaker(clock))
    provider.error = error
    for _ in range(3):
        (vector,) = (await embedder.embed(["a"], soon())).vectors
        assert (type(vector), len(vector)) == (LocalVector, DIMENSIONS)
    assert provider.calls == 1

    clock.now += 60
    provider.open.clear()
    assert type((await embedder.embed(["a"], soon())).vectors[0]) is LocalVector
    provider.error = None
    provider.open.set()
    assert embedder.asking
    await embedder.asking
    assert provider.calls == 2
    assert (await embedder.embed(["a"], soon())).vectors == ((1.0, 0.0),)


async def test_without_the_local_model_the_providers_error_stays() -> None:
    provider, local = Provider(), Provider()
    provider.error, local.error = ModelUnavailableError("down"), ModelMisconfiguredError("none")
    embedder = FallbackEmbedder(provider, local, breaker(Clock()))
    with pytest.raises(ModelUnavailableError, match="down"):
        await embedder.embed(["a"], soon())


async def test_a_vector_is_searched_in_the_indexes_of_its_model_alone() -> None:
    first, second = StubGraph(PrimerEvidence()), StubGraph(PrimerEvidence())
    graph = FallbackGraph(first, second)
    await graph.followup(FollowupQuery("p", "q", (1.0,), ()), soon())
    await graph.followup(FollowupQuery("p", "q", LocalVector((1.0,)), ()), soon())
    assert [len(first.followups), len(second.followups)] == [1, 1]
