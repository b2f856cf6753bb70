"""The cache in front of an embedder: who is asked for what, and what is never taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.redis.cache_entries import KEPT_S, LocalEntries
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.vector_entries import entry_of
from tests.fakes import HashingEmbedder, vector_of

SPACE = Space("https://model.example", "model", "deployment", 4)


class DictEntries:
    """SharedEntries in a dictionary; `asked` holds the keys of each look-up."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.asked: list[list[str]] = []

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        self.asked.append(list(keys))
        return {key: self.entries[key] for key in keys if key in self.entries}

    def put(self, entries: Mapping[str, bytes]) -> None:
        self.entries.update(entries)


@pytest.fixture
def model() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def shared() -> DictEntries:
    return DictEntries()


def cached(model: HashingEmbedder, shared: DictEntries | None = None) -> CachedEmbedder:
    return CachedEmbedder(model, SPACE, shared)


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


async def test_what_is_known_costs_nothing(model: HashingEmbedder) -> None:
    embedder = cached(model)
    await embedder.embed(["a"], soon())
    known = await embedder.embed(["a", "a"], soon())
    assert known.vectors == (vector_of("a"),) * 2
    assert (known.tokens.prompt, known.retries) == (0, 0)
    assert len(model.calls) == 1


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
        replace(SPACE, deployment=None),
        replace(SPACE, dimensions=5),
    ],
    ids=str,
)
async def test_another_space_has_other_entries(space: Space, shared: DictEntries) -> None:
    assert space.key("a") != SPACE.key("a")
    entry = entry_of(SPACE.key("a"), vector_of("b"), 1e12)
    assert entry
    shared.entries[space.key("a")] = entry
    model = HashingEmbedder()
    embedder = CachedEmbedder(model, space, shared)
    assert (await embedder.embed(["a"], soon())).vectors == (vector_of("a"),)
    assert model.calls == [("a",)]


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


@pytest.mark.parametrize("text", ["\ud800", "\x00", "", "é", "e\u0301"], ids=ascii)
def test_any_text_has_a_key(text: str) -> None:
    key = SPACE.key(text)
    assert len(key) == len("embed:") + 64
    assert key != SPACE.key(text + " ")


async def test_other_bytes_are_replaced(model: HashingEmbedder, shared: DictEntries) -> None:
    key = SPACE.key("a")
    other = entry_of(SPACE.key("b"), vector_of("b"), 1e12)
    for bad in (b"", b"garbage", other):
        assert bad is not None
        shared.entries[key] = bad
        assert (await cached(model, shared).embed(["a"], soon())).vectors == (vector_of("a"),)
        assert shared.entries[key] != bad
    assert model.calls == [("a",)] * 3
    await cached(model, shared).embed(["a"], soon())
    assert len(model.calls) == 3


async def test_an_entry_counts_for_a_day_wherever_it_is(
    model: HashingEmbedder, shared: DictEntries
) -> None:
    now = [0.0]
    first = CachedEmbedder(model, SPACE, shared, now=lambda: now[0])
    second = CachedEmbedder(model, SPACE, shared, now=lambda: now[0])
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


# --------------------------------------------------------------------------------- the local layer
def test_the_entry_that_was_not_used_for_longest_goes_first() -> None:
    layer = LocalEntries(most_bytes=3 * 1000)
    for key in "abc":
        layer.put(key, bytes(700))
    assert layer.get("a")
    layer.put("d", bytes(700))
    assert [key for key in "abcd" if layer.get(key)] == ["a", "c", "d"]


def test_the_layer_holds_no_more_than_its_bytes() -> None:
    layer = LocalEntries(most_bytes=3 * 1000)
    for _ in range(10):
        layer.put("a", bytes(700))
        layer.put("b", bytes(700))
    layer.drop("b")
    layer.drop("b")
    for key in "cd":
        layer.put(key, bytes(700))
    assert [key for key in "abcd" if layer.get(key)] == ["a", "c", "d"]
    layer.put("large", bytes(3000))
    assert not any(map(layer.get, ("a", "c", "d", "large")))
    layer.put("a", bytes(700))
    assert layer.get("a")
