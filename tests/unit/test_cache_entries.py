"""Entries of the caches: for how long they count, for whom, and which go first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drift.redis.entries import KEPT_S, CacheEntries


@dataclass
class DictEntries:
    """Entries that all processes share; `asked` holds the keys of each look-up."""

    entries: dict[str, bytes] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        self.asked.append(list(keys))
        return {key: self.entries[key] for key in keys if key in self.entries}

    def put(self, entries: Mapping[str, bytes]) -> None:
        self.entries.update(entries)


async def test_an_entry_counts_for_a_day_in_the_process_and_in_others() -> None:
    now, shared = [0.0], DictEntries()
    first, second = (CacheEntries(shared, now=lambda: now[0]) for _ in range(2))
    first.put({"a": b"body"})
    now[0] = KEPT_S - 1
    for entries in (first, second, second):
        assert await entries.get(["a", "b"]) == {"a": b"body"}
    # Only the process that had it not has asked the others for it, and once.
    assert shared.asked == [["b"], ["a", "b"], ["b"]]

    now[0] = KEPT_S + 1
    assert [await entries.get(["a"]) for entries in (first, second)] == [{}, {}]


async def test_nobody_is_asked_for_nothing() -> None:
    shared = DictEntries()
    assert await CacheEntries(shared).get([]) == {}
    CacheEntries(shared).put({})
    assert (shared.asked, shared.entries) == ([], {})


async def test_the_entry_that_was_not_used_for_longest_goes_first() -> None:
    entries = CacheEntries(most_bytes=3 * 1010)
    for key in "abc":
        entries.put({key: bytes(700)})
    assert await entries.get("a")
    entries.put({"d": bytes(700), "large": bytes(3000)})
    assert list(await entries.get(["a", "b", "c", "d", "large"])) == ["a", "c", "d"]
