"""Which follow-ups are read together."""

from __future__ import annotations

from collections.abc import Sequence

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


def test_those_that_share_most_are_read_together() -> None:
    assert groups(["abc", "xyz", "abd"]) == [[1], [0, 2]]
    assert groups(["abcd", "abce", "abcd"], most=4) == [[1], [0, 2]]


def test_those_that_share_too_little_are_read_alone() -> None:
    assert groups(["abcde", "efghi", "klm"]) == [[0], [1], [2]]


def test_a_group_is_not_larger_than_what_a_prompt_shows() -> None:
    assert groups(["abcd", "abef"], most=5) == [[0], [1]]


def test_five_that_found_the_same_are_two_groups() -> None:
    assert len(groups(["abc"] * 5)) == 2


def test_the_chunks_of_a_group_are_taken_in_turns() -> None:
    assert [one.id for one in in_turns(tuple(found(["abc", "cde"])))] == list("acbde")


@given(LISTS, st.integers(1, 8))
def test_each_follow_up_is_in_one_group_that_fits(lists: list[list[str]], most: int) -> None:
    joined = groups(lists, most)
    assert sorted(n for group in joined for n in group) == list(range(len(lists)))
    for group in joined:
        assert len(group) <= MAX_TOGETHER
        assert len(group) == 1 or len({name for n in group for name in lists[n]}) <= most
