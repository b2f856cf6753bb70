"""What a question names: words, titles, and parts of titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.names import (
    MAX_NAMES,
    MAX_TITLE_KEYS,
    name_parts,
    name_words,
    normalised_title,
    proper_names,
    title_keys,
)


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("The  Old\n Mill.", "the old mill"),
        ("Straße", "strasse"),
        ("«Faust»", "faust"),
        ("`with` statement", "with` statement"),
        ("__init__", "__init__"),
        ("super()", "super"),
        ("C#", "c#"),
        ("!=", "!="),
        ("ﬁle", "file"),
    ],
)
def test_a_title_is_folded_collapsed_and_stripped_at_its_ends(title: str, key: str) -> None:
    assert normalised_title(title) == key


@given(st.text())
def test_normalising_twice_is_normalising_once(title: str) -> None:
    once = normalised_title(title)
    assert normalised_title(once) == once


def test_a_question_names_its_runs_of_words_longest_first() -> None:
    keys = title_keys("Who built the Old Mill?")
    assert keys[0] == "who built the old mill"
    assert {"old mill", "the old mill", "mill", "built"} <= set(keys)
    assert keys.index("old mill") < keys.index("mill")


def test_a_stop_word_names_nothing_unless_it_is_quoted() -> None:
    assert "with" not in title_keys("what comes with it")
    assert "with" in title_keys("what does `with` do")


def test_a_possessive_names_its_owner() -> None:
    assert "danube" in title_keys("What is the Danube's length?")


def test_a_long_question_keeps_its_single_words() -> None:
    keys = title_keys(" ".join(f"word{i}" for i in range(400)))
    assert len(keys) == MAX_TITLE_KEYS
    assert {f"word{i}" for i in range(400)} <= set(keys)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What did Acme ship to Mercer's store?", {"acme", "mercer"}),
        ("who is the mercer of them?", set()),
        ("Was it Ulm, Linz or Dr. Who?", {"ulm", "linz"}),
        ("Who owns Old Mill?", {"old mill", "old", "mill"}),
    ],
)
def test_words_in_capitals_may_be_parts_of_titles(question: str, parts: set[str]) -> None:
    assert set(name_parts(question)) == parts


WORDS = st.sampled_from(["Ada", "Mercer's", '"Old', 'Mill",', "Ulm.", "the", "of"]) | st.text()
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@given(TEXTS)
def test_parts_of_titles_are_few_normalised_and_longest_first(question: str) -> None:
    parts = name_parts(question)
    assert len(parts) <= MAX_NAMES
    assert [part.count(" ") for part in parts] == sorted(
        (part.count(" ") for part in parts), reverse=True
    )
    assert all(part == part.casefold() for part in parts)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Agent Alex Mercer's team met Sam Rivera.", ("Agent Alex Mercer", "Sam Rivera")),
        ('He wrote "The Old Mill", in Ulm, Linz (and Ulm).', ("Old Mill", "Ulm", "Linz")),
        ("In 1871 it was Dr. X; nobody knew.", ()),
        ("Die Stadt Straßburg", ("Stadt Straßburg",)),
    ],
)
def test_proper_names_are_runs_of_words_in_capitals_as_they_are_written(
    text: str, names: tuple[str, ...]
) -> None:
    assert proper_names(text) == names


@given(TEXTS)
def test_proper_names_stand_in_their_text(text: str) -> None:
    assert all(name in " ".join(text.split()) for name in proper_names(text))


@pytest.mark.parametrize(
    ("title", "file", "heading", "words"),
    [
        ("Artistic.txt", "licences/Artistic.txt", "Artistic.txt", "artistic"),
        ("GPL-3.md", "GPL-3.md", "GPL-3.md > Terms", "3"),
        (
            "Getting started",
            "installGuide2.html",
            "Getting started",
            "installguide2 install guide 2",
        ),
        ("Getting started", "docs/start.md", "Other > Getting", "started start"),
        ("HTTPServer", "5f3a9c", "", "httpserver http server"),
        ("The mill", "The mill", "The mill", ""),
        ("München.TXT", "München.TXT", "München.TXT", "münchen"),
    ],
)
def test_the_words_of_a_documents_name_are_those_that_its_heading_does_not_hold(
    title: str, file: str, heading: str, words: str
) -> None:
    assert name_words(title, file, heading) == words
