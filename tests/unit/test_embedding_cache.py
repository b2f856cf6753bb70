"""The cache in front of an embedder: who is asked for what, and what is never taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import KEPT_S, CacheEntries
from tests.fakes import HashingEmbedder, vector_of

SPACE = Space("https://model.example", "model", "deployment", 4)


class DictEntries:
    """Entries in a dictionary; `asked` holds the keys of each look-up."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.asked: list[list[str]] = []

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        self.asked.append(list(keys))
        return {key: self.entries[key] for key in keys if key in self.entries}

    def put(self, entries: Mapping[str, bytes]) -> None:
        self.entries.update(entries)


class Given:
    """Embedder of one vector; `calls` counts how often it is asked."""

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        self.calls = 0

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        self.calls += 1
        return Embeddings((self.vector,) * len(texts))


@pytest.fixture
def model() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def shared() -> DictEntries:
    return DictEntries()


def cached(model: HashingEmbedder, shared: DictEntries | None = None) -> CachedEmbedder:
    return CachedEmbedder(model, SPACE, CacheEntries(shared))


def soon() -> Deadline:
    return Deadline.after(5)


async def test_the_model_is_asked_once_for_each_text_and_for_nothing_twice(
    model: HashingEmbedder,
) -> None:
    embedder = cached(model)
    first = await embedder.embed(["a", "b", "a"], soon())
    assert first.vectors == tuple(map(vector_of, "aba"))
    assert first.tokens.prompt == 2

    second = await embedder.embed(["b", "c", "a", "c"], soon())
    assert second.vectors == tuple(map(vector_of, "bcac"))
    assert second.tokens.prompt == 1
    assert model.calls == [("a", "b"), ("c",)]


async def test_no_texts_ask_nobody(model: HashingEmbedder, shared: DictEntries) -> None:
    assert (await cached(model, shared).embed([], soon())).vectors == ()
    assert (model.calls, shared.asked) == ([], [])


async def test_another_process_asks_the_model_for_nothing_that_is_shared(
    model: HashingEmbedder, shared: DictEntries
) -> None:
    await cached(model, shared).embed(["a", "b"], soon())
    other = cached(model, shared)
    for _ in range(2):
        assert (await other.embed(["b", "a"], soon())).vectors == tuple(map(vector_of, "ba"))
    assert len(model.calls) == 1
    assert list(map(len, shared.asked)) == [2, 2]


@pytest.mark.parametrize(
    "space",
    [
        replace(SPACE, server="https://other.example"),
        replace(SPACE, model="other"),
        replace(SPACE, deployment="other"),
        replace(SPACE, dimensions=5),
    ],
    ids=str,
)
def test_another_space_has_other_keys(space: Space) -> None:
    assert space.key("a") != SPACE.key("a")


def test_texts_and_names_that_run_into_each_other_have_keys_of_their_own() -> None:
    spaces = [
        ("m", "da", "b"),
        ("md", "a", "b"),
        ("m", "d", "ab"),
        ("m", None, "b"),
        ("m", "", "b"),
    ]
    keys = {Space("s", model, deployment, 4).key(text) for model, deployment, text in spaces}
    assert len(keys) == len(spaces)


@pytest.mark.parametrize("text", ["\ud800", ""], ids=ascii)
def test_any_text_has_a_key(text: str) -> None:
    key = SPACE.key(text)
    assert len(key) == len("embed:") + 64
    assert key != SPACE.key(text + " ")


async def test_an_entry_counts_for_a_day_wherever_it_is(
    model: HashingEmbedder, shared: DictEntries
) -> None:
    now = [0.0]
    first, second = (
        CachedEmbedder(model, SPACE, CacheEntries(shared, now=lambda: now[0])) for _ in range(2)
    )
    await first.embed(["a"], soon())
    now[0] = KEPT_S - 1
    await first.embed(["a"], soon())
    await second.embed(["a"], soon())
    assert len(model.calls) == 1
    now[0] = KEPT_S + 1
    await first.embed(["a"], soon())
    assert len(model.calls) == 2
    shared.entries.clear()
    await second.embed(["a"], soon())
    assert len(model.calls) == 3


async def test_a_failure_of_the_model_is_the_callers_and_is_not_kept(shared: DictEntries) -> None:
    failures = [ModelUnavailableError("gone"), None]
    model = HashingEmbedder(lambda _texts: failures.pop(0))
    embedder = cached(model, shared)
    with pytest.raises(ModelUnavailableError):
        await embedder.embed(["a"], soon())
    assert not shared.entries
    assert (await embedder.embed(["a"], soon())).vectors == (vector_of("a"),)


# ---------------------------------------------------------------------------------------- vectors
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


@pytest.mark.parametrize(("vector", "most"), [((0.5, -0.0), 20), ((0.1, 1 / 3), 28)])
async def test_floats_are_kept_in_as_many_bits_as_they_need(
    vector: Vector, most: int, shared: DictEntries
) -> None:
    await CachedEmbedder(Given(vector), SPACE, CacheEntries(shared)).embed(["a"], soon())
    assert len(shared.entries[SPACE.key("a")]) < most


@pytest.mark.parametrize(
    "vector",
    [(0.0, 0.0), (math.nan, 1.0), (2**60 + 1, 1.0), (10**400, 1.0), ("a", 1.0)],
    ids=lambda vector: str(vector)[:20],
)
async def test_what_cannot_be_searched_with_or_not_read_back_is_not_kept(
    vector: Any, shared: DictEntries
) -> None:
    await CachedEmbedder(Given(vector), SPACE, CacheEntries(shared)).embed(["a"], soon())
    assert not shared.entries


# --------------------------------------------------------------------------------- the local layer
async def test_the_entry_that_was_not_used_for_longest_goes_first() -> None:
    entries = CacheEntries(most_bytes=3 * 1010)
    for key in "abc":
        entries.put({key: bytes(700)})
    assert await entries.get("a")
    entries.put({"d": bytes(700), "large": bytes(3000)})
    assert list(await entries.get(["a", "b", "c", "d", "large"])) == ["a", "c", "d"]
