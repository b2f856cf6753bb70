"""The cache in front of an embedder: who is asked for what, and what is never taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import CacheEntries
from tests.fakes import HashingEmbedder, vector_of
from tests.unit.test_cache_entries import DictEntries

SPACE = Space("https://model.example", "model", "deployment", 4)


class Given:
    """Embedder of one vector; `calls` counts how often it is asked."""

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        self.calls = 0

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        self.calls += 1
        return Embeddings((self.vector,) * len(texts))


def soon() -> Deadline:
    return Deadline.after(5)


async def test_the_model_is_asked_once_for_each_text_and_for_nothing_twice() -> None:
    model, shared = HashingEmbedder(), DictEntries()
    embedder = CachedEmbedder(model, SPACE, CacheEntries(shared))
    first = await embedder.embed(["a", "b", "a"], soon())
    assert first.vectors == tuple(map(vector_of, "aba"))
    assert first.tokens.prompt == 2

    second = await embedder.embed(["b", "c", "a", "c"], soon())
    assert second.vectors == tuple(map(vector_of, "bcac"))
    assert second.tokens.prompt == 1
    assert (await embedder.embed([], soon())).vectors == ()
    assert model.calls == [("a", "b"), ("c",)]

    other = CachedEmbedder(model, SPACE, CacheEntries(shared))
    assert (await other.embed(["b", "a"], soon())).vectors == tuple(map(vector_of, "ba"))
    assert len(model.calls) == 2


def test_another_space_or_text_has_another_key() -> None:
    spaces = [
        ("s", "m", "da", 4, "b"),
        ("s", "md", "a", 4, "b"),
        ("s", "m", "d", 4, "ab"),
        ("s", "m", None, 4, "b"),
        ("s", "m", "", 4, "b"),
        ("other", "m", "da", 4, "b"),
        ("s", "m", "da", 5, "b"),
        ("s", "m", "da", 4, "b "),
        ("s", "m", "da", 4, ""),
        ("s", "m", "da", 4, "\ud800"),
    ]
    keys = {Space(*space).key(text) for *space, text in spaces}
    assert len(keys) == len(spaces)
    assert {len(key) for key in keys} == {len("embed:") + 64}


async def test_a_failure_of_the_model_is_the_callers_and_is_not_kept() -> None:
    failures = [ModelUnavailableError("gone"), None]
    shared = DictEntries()
    embedder = CachedEmbedder(
        HashingEmbedder(lambda _texts: failures.pop(0)), SPACE, CacheEntries(shared)
    )
    with pytest.raises(ModelUnavailableError):
        await embedder.embed(["a"], soon())
    assert not shared.entries
    assert (await embedder.embed(["a"], soon())).vectors == (vector_of("a"),)


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70), min_size=1
    )
    | st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1)
)
async def test_a_vector_that_is_kept_is_exactly_the_one_that_was_given(given: list[float]) -> None:
    model, entries = Given(tuple(given)), CacheEntries()
    for _ in range(2):
        embedded = await CachedEmbedder(model, SPACE, entries).embed(["a"], soon())
        assert list(map(repr, map(float, embedded.vectors[0]))) == list(
            map(repr, map(float, given))
        )
    assert 1 <= model.calls <= 2


@pytest.mark.parametrize(
    ("vector", "size"),
    [
        ((0.5, -0.0), 8 + 1 + 8),
        ((0.1, 1 / 3), 8 + 1 + 16),
        # What cannot be searched with, or not read back, is not kept.
        ((0.0, 0.0), 0),
        ((math.nan, 1.0), 0),
        ((2**60 + 1, 1.0), 0),
        ((10**400, 1.0), 0),
        (("a", 1.0), 0),
    ],
    ids=lambda value: str(value)[:20],
)
async def test_floats_are_kept_in_as_many_bits_as_they_need(vector: Any, size: int) -> None:
    shared = DictEntries()
    await CachedEmbedder(Given(vector), SPACE, CacheEntries(shared)).embed(["a"], soon())
    assert [len(entry) for entry in shared.entries.values()] == [size] * bool(size)
