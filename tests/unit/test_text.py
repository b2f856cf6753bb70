"""Texts compared: the same words, the same question, nearly the same text."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.folding import whole_words
from drift.evidence.text import KnownWords, folded, form, is_repeated, is_same_question
from drift.model.graph import Beside
from drift.model.tree import Question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“No!” said\n he.", '"no" SAID he'),
        ("Caf\u00e9 Stra\u00dfe", "cafe\u0301 STRASSE"),
        ("…", ""),
    ],
)
def test_two_ways_to_write_the_same_words_have_one_form(one: str, other: str) -> None:
    assert form(one) == form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("パリの港", "バリの港"),
        ("ไกล", "ใกล้"),
        ("की", "के"),
        ("Row 1 5", "Row 15"),
        ("A+", "A"),
        ("x <= 5", "x >= 5"),
    ],
)
def test_what_only_signs_tell_apart_has_two_forms(one: str, other: str) -> None:
    assert form(one) != form(other)


def test_folded_words_are_known_with_another_ending() -> None:
    known = KnownWords(folded("Łódź CAFÉS Straße X™ of").split())

    assert known.words == {"łodz", "cafes", "strasse", "xtm", "of"}
    assert all(map(known.has, ("cafe", "strassen", "of")))
    assert not any(map(known.has, ("caf", "stroll", "off", "cafeteria", "x")))


AFTER = Beside("a", "after")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is X?", "what is x", True),
        ("Who?", "Where?", False),
        ("???", "!!!", False),
        ("What does with open do to files", "Which color is the sky", False),
        ("什么是迭代器", "什么是迭代器", True),
        ("什么是迭代器", "什么是生成器", False),
    ],
)
def test_near_duplicates(one: str, other: str, same: bool) -> None:
    assert is_same_question(one, other) is same
    assert is_same_question(other, one) is same


@pytest.mark.parametrize(
    ("one", "other", "repeated"),
    [
        (Question(0, "Who built it?"), Question(1, "who built it"), True),
        (Question(0, "Who built it?"), Question(1, "who built it", beside=(AFTER,)), False),
        (Question(0, "Who built it?", hint="Alba"), Question(1, "Who built Alba?"), True),
        (Question(0, "Who built it?", hint="Alba"), Question(1, "Who built it?"), True),
        (Question(0, "Built?", hint="A B C D"), Question(1, "Where?", hint="A B C D"), False),
        (Question(0, "Built?", hint="A B C D"), Question(1, "built", hint="E"), True),
    ],
)
def test_a_hint_counts_as_words_of_its_question_beside_one_without(
    one: Question, other: Question, repeated: bool
) -> None:
    assert is_repeated(one, other) is repeated
    assert is_repeated(other, one) is repeated


ASKED_TWICE = [
    (
        "In which states is Ellis Island considered to be located?",
        "In which state is Ellis Island considered to be located?",
    ),
    ("Where in New Jersey did the Nets play?", "Where did the Nets play in New Jersey?"),
    (
        (
            "What attitude does Alex Mercer show toward the alien intelligence at the end of "
            "Operation: Dulce?"
        ),
        (
            "What is Alex Mercer's attitude toward the mission and the alien intelligence at the "
            "end of Operation: Dulce?"
        ),
    ),
    (
        (
            "What is revealed about the intentions of the alien intelligence by the end of "
            "Operation: Dulce?"
        ),
        (
            "What is revealed about the nature and intentions of the alien intelligence in "
            "Operation: Dulce?"
        ),
    ),
]
"""Questions that a large language model asked twice within one search, labelled by hand."""

ASKED_APART = [
    [
        "In which state is Ellis Island considered to be located?",
        (
            "Which writer associated with Ellis Island or named Ellis is described, and in which "
            "state did that writer die?"
        ),
        "Where did the Nets basketball team play in New Jersey?",
        (
            "Where did the Nets basketball team play in New York State before and after their "
            "years in New Jersey?"
        ),
    ],
    [
        "Who is Agent Alex Mercer and what is his role and rank in the Paranormal Military Squad?",
        (
            "What is Alex Mercer's attitude toward protocol and Taylor Cruz's authority at the "
            "beginning of Operation: Dulce, and how does it change as the team enters Dulce Base?"
        ),
        (
            "How does Alex Mercer's attitude toward protocol and Taylor Cruz's authority change "
            "after the alien signal is discovered?"
        ),
        (
            "What is Alex Mercer's attitude toward the mission and the alien intelligence at the "
            "end of Operation: Dulce?"
        ),
    ],
    [
        "What happens in Chapter 2 of Operation: Dulce when the squad descends into Dulce Base?",
        "What happens in Chapter 3 of Operation: Dulce when the squad descends into Dulce Base?",
    ],
    ["When was Trajan born?", "Where was Trajan born?", "How did Trajan die?"],
    ["Who wrote to Ada in the summer?", "Who wrote to Brook in the summer?"],
    [
        "Who is the mother of the director of The Last Lamp of Upper Ems?",
        "Who is the father of the director of The Last Lamp of Upper Ems?",
        "Who is the director of The Last Lamp of Upper Ems?",
    ],
    [
        "What is the population of the state where Dodge City Regional Airport is located?",
        "In which state is Dodge City Regional Airport located?",
    ],
]
"""Questions that ask for different things, most of them from one reply of a model."""


@pytest.mark.parametrize(("one", "other"), ASKED_TWICE)
def test_what_a_model_asked_in_other_words_is_the_same(one: str, other: str) -> None:
    assert is_same_question(one, other)


@pytest.mark.parametrize("apart", ASKED_APART, ids=lambda apart: apart[0][:20])
def test_what_asks_for_something_else_is_another_question(apart: list[str]) -> None:
    for one, other in itertools.combinations(apart, 2):
        assert not is_same_question(one, other)


@given(st.text(), st.text())
def test_it_does_not_matter_which_came_first(one: str, other: str) -> None:
    assert is_same_question(one, other) == is_same_question(other, one)
    assert is_same_question(one, one)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("in Octo-\nber 2021", "in October 2021"),
        ("in Octo\u2010\nber", "in October"),
        ("in Octo\u00ad\nber", "in October"),
        ("in Oc\u00adto\u00adber", "in October"),
        ("in Octo-\r\nber", "in October"),
        ("in Octo-\n\fber", "in October"),
        ("in Octo-\n\n12\n\fber", "in October"),
        ("in Octo-\nPage 12\n\fber", "in October"),
        ("IN OCTO-\nBER", "IN OCTOBER"),
        ("a well-\nknown man", "a well-known man"),
        ("the log-\nin page; a log-in page", "the log-in page; a log-in page"),
        ("a co-\noperation; cooperation", "a cooperation; cooperation"),
        ("an E-\nMail, an x-\nray", "an E-Mail, an x-ray"),
        ("from 10-\n12 on", "from 10-12 on"),
        ("Vor-\nund Nachteile", "Vor- und Nachteile"),
        ("Nord-\nSüd", "Nord-Süd"),
        ("one -\ntwo", "one -\ntwo"),
        ("- one\n- two", "- one\n- two"),
        ("one\ftwo", "one\ntwo"),
    ],
)
def test_a_word_that_a_line_or_a_page_parts_is_read_whole(written: str, read: str) -> None:
    assert whole_words(written) == read


def test_words_are_put_together_by_what_stands_around_them() -> None:
    assert whole_words("a data-\nbase", "The data-base is large.") == "a data-base"
    assert whole_words("a data-\nbase", "The database is large.") == "a database"


@pytest.mark.parametrize(
    "shape", ["1 234 ", "1.", "-5", "C+", "<= ", "can'", "a\u0301", "กิ", "ない", "パ", "%$", "\0"]
)
def test_words_are_read_in_time_that_grows_with_the_text(shape: str) -> None:
    def took(times: int) -> float:
        started = time.process_time()
        form(shape * times)
        return time.process_time() - started

    assert took(40_000) < 1 + 8 * took(10_000)


@pytest.mark.parametrize("shape", ["a", "a-\n", "a-\n ", "a-\n1\n", "-", "a-\n\n\f"])
def test_words_are_put_together_in_time_that_grows_with_the_text(shape: str) -> None:
    def took(times: int) -> float:
        started = time.process_time()
        whole_words(shape * times)
        return time.process_time() - started

    assert took(40_000) < 1 + 8 * took(10_000)
