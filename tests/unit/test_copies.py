"""Texts that nearly repeat another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.search.ranking import near_duplicates

STORY = "the old mill on the Danube was built by Ada in the year of the flood and burned twice"


@pytest.mark.parametrize(
    ("second", "is_copy"),
    [
        (STORY, True),
        (STORY.upper() + "!", True),
        (f"{STORY} and again", True),
        (STORY.replace("Ada", "Eva").replace("flood", "fire"), False),
        (" ".join(reversed(STORY.split())), False),
        (f"{STORY} {' '.join(f'word{i}' for i in range(30))}", False),
    ],
)
def test_a_text_that_shares_half_of_its_runs_is_a_copy(second: str, is_copy: bool) -> None:
    assert list(near_duplicates([STORY, second])) == [False, is_copy]


def test_a_copy_of_a_copy_is_compared_with_what_was_kept() -> None:
    words = [f"word{i}" for i in range(40)]
    shifted = [" ".join(words[start : start + 20]) for start in (0, 5, 10)]
    assert list(near_duplicates(shifted)) == [False, True, False]


def test_a_long_text_is_judged_by_its_beginning_and_its_end() -> None:
    texts = [" ".join(f"{name}{i}" for i in range(2_000)) for name in ("a", "b")]
    begins_alike = texts[0][: len(texts[0]) // 2] + texts[1]
    assert list(near_duplicates([texts[0], texts[0], begins_alike])) == [False, True, False]


@given(st.lists(st.text()))
def test_the_first_is_none_and_every_text_gets_its_flag(texts: list[str]) -> None:
    flags = list(near_duplicates(texts))
    assert len(flags) == len(texts)
    assert not any(flags[:1])


@given(st.lists(st.text(alphabet="abcdefghijk ", min_size=20), min_size=1))
def test_a_text_of_five_words_given_again_is_a_copy(texts: list[str]) -> None:
    flags = list(near_duplicates([*texts, *texts]))[len(texts) :]
    assert flags == [len(text.split()) >= 5 for text in texts]
