"""Which follow-ups are read together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.model.graph import Chunk, Evidence
from drift.model.tree import Question
from drift.prompting.batching import Found, in_turns, together
from tests.fakes import chunk

MAX_TOGETHER = 4
LISTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True), max_size=9)


def found(lists: Sequence[Sequence[str]]) -> list[Found]:
    """Return follow-ups that found chunks of these names."""
    return [
        Found(Question(n, f"question {n}"), Evidence(), tuple(chunk(name) for name in names))
        for n, names in enumerate(lists)
    ]


def groups(lists: Sequence[Sequence[str]], most: int = 8) -> list[list[int]]:
    def fits(chunks: Sequence[Chunk]) -> bool:
        return len(chunks) <= most

    return [
        [one.question.id for one in group] for group in together(found(lists), MAX_TOGETHER, fits)
    ]


@pytest.mark.parametrize(
    ("lists", "most", "read"),
    [
        (["abc", "xyz", "abd"], 8, [[1], [0, 2]]),
        (["abcd", "abce", "abcd"], 4, [[1], [0, 2]]),
        (["abcde", "efghi", "klm"], 8, [[0], [1], [2]]),
        (["abcd", "abef"], 5, [[0], [1]]),
        (["abc"] * 5, 8, [[2, 3], [4, 0, 1]]),
    ],
    ids=["those that share most", "within a prompt", "too little", "too large", "five of one"],
)
def test_those_that_share_most_are_read_together(
    lists: list[str], most: int, read: list[list[int]]
) -> None:
    assert groups(lists, most) == read


def test_the_chunks_of_a_group_are_taken_in_turns() -> None:
    assert [one.id for one in in_turns(tuple(found(["abc", "cde"])))] == list("acbde")


@given(LISTS, st.integers(1, 8))
def test_each_follow_up_is_in_one_group_that_fits(lists: list[list[str]], most: int) -> None:
    joined = groups(lists, most)
    assert sorted(n for group in joined for n in group) == list(range(len(lists)))
    for group in joined:
        assert len(group) <= MAX_TOGETHER
        assert len(group) == 1 or len({name for n in group for name in lists[n]}) <= most
