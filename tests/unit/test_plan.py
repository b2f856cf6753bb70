"""What is read next, when to stop, how far along."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.model import limits
from drift.model.limits import percentage
from drift.model.tree import Citation, LocalAnswer, Verdict
from tests.fakes import chunk


@pytest.mark.parametrize(
    ("cited", "verdict", "in_vain"),
    [(True, "partly", False), (True, "not_found", True), (False, "answered", True)],
)
def test_an_answer_without_evidence_or_that_says_so_is_in_vain(
    cited: bool, verdict: Verdict, in_vain: bool
) -> None:
    citations = (Citation("c", "A span.", "doc"),) if cited else ()
    assert limits.is_in_vain(LocalAnswer("So.", citations, 0.9, False, verdict=verdict)) is in_vain


@pytest.mark.parametrize(
    ("leading", "known", "first", "second"),
    [
        ("", "", "", ""),
        ("abcdefgh", "", "abcde", "fgh"),
        ("ABCDEFGH", "BCF", "AD", "EGH"),
        ("ABCDEFGH", "ABC", "D", "EFGH"),
        ("ABCDEFGH", "ABCD", "", ""),
        ("AbCdEFGH", "AbCF", "bdE", "GH"),
    ],
)
def test_a_look_takes_five_chunks_or_four_long_ones_without_those_that_are_known(
    leading: str, known: str, first: str, second: str
) -> None:
    chunks = [chunk(name, "long " * 400 if name.isupper() else "short") for name in leading]
    looks = limits.looks(chunks, set(known))
    assert ["".join(one.id for one in look) for look in looks] == [first, second]


COUNTS = st.dictionaries(st.integers(1, 5), st.integers(0, 60))


@given(planned=COUNTS, ended=COUNTS, number=st.integers(1, 5), passes=st.integers(1, 5))
def test_the_percentage_stays_within_40_and_80_and_never_falls_with_more_ended(
    planned: dict[int, int], ended: dict[int, int], number: int, passes: int
) -> None:
    more = {**ended, number: ended.get(number, 0) + 1}
    assert 40 <= percentage(ended, planned, passes) <= percentage(more, planned, passes) <= 80


def test_each_pass_has_an_equal_share_of_the_percentage() -> None:
    assert percentage({}, {1: 4}, 2) == 40
    assert percentage({1: 2}, {1: 4}, 2) == 50
    assert percentage({1: 4}, {1: 4, 2: 2}, 2) == 60
    assert percentage({1: 4}, {1: 4}, 2) == 80
    assert percentage({1: 4, 2: 2}, {1: 4, 2: 2}, 2) == 80
    assert percentage({1: 4, 2: 2, 3: 1}, {1: 4, 2: 2, 3: 1}, 2) == 80
