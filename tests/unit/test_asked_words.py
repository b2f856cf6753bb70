"""The words of a question and of a text meet in an index, whatever signs stand between them."""

from __future__ import annotations

import re
import time
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.asked_words import (
    MAX_TERMS,
    MAX_TOKENS,
    joined_neighbours,
    phrases,
    search_terms,
    title_pairs,
    wanted_alone,
)
from drift.core.spellings import spelled, spellings
from drift.graph.text_query import lone_words, lucene, words_of_any_field

ODD = (
    "a.b" * 1333, "a1" * 2000, "." * 4000, "+" * 4000, "dyn.load " * 444, "'" * 4000, "x" * 10_000,
    '"' * 4000, '"a" ' * 1000, "C++ " * 1000, "1,2." * 1000, "AND OR NOT " * 363, "with a " * 570,
    "aA" * 2000, "\\" * 4000, "text:(a) " * 444, "\u6e2f" * 3990, "a" + ".a" * 1999, "_" * 4000,
)  # fmt: skip


def test_search_terms_are_lower_case_unique_and_without_stop_words() -> None:
    assert search_terms("What IS the Zephyr, and the zephyr's (path)?") == ("zephyr", "path")
    assert search_terms("AND the OR ?!") == ()
    assert search_terms("__ _") == ()
    assert len(search_terms(" ".join(f"w{i}q" for i in range(99)))) == 2 * MAX_TERMS


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("港" * 3990, MAX_TOKENS),
        (" ".join(chr(0xAC00 + i) * 30 for i in range(40)), MAX_TOKENS),
        ("a1" * 2000, MAX_TOKENS),
        ("x" * 4000, 4000),
    ],
)
def test_search_terms_are_no_more_tokens_than_an_index_takes(question: str, kept: int) -> None:
    assert sum(map(len, search_terms(question))) == kept


@given(st.text())
def test_search_terms_hold_no_query_syntax(question: str) -> None:
    for term in search_terms(question):
        assert any(map(str.isalnum, term))
        assert all(c.isalnum() or c in "_." or category(c)[0] == "M" for c in term)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dyn.load", "dyn load dynload"),
        ("report.final.pdf", "report final pdf reportfinalpdf"),
        ("ann@example.com", "ann example com annexamplecom"),
        ("INV_2024_0093", "inv 2024 0093 inv20240093"),
        ("OrderLineItem", "order line item"),
        ("_send_handling_redirects", "send handling redirects sendhandlingredirects"),
        ("BW-1280", "bw 1280 bw1280"),
        ("C++", "cplusplus"),
        ("C#", "csharp"),
        ("v1.2.3", "v1 v123 1.2.3"),
        ("don't", "don dont"),
        ("mill's", "mill"),
        ("1,000", "1000"),
        ("2024-01-15", "20240115 2024"),
        ("10.0.0.7", ""),
        ("mill", ""),
    ],
)
def test_a_name_has_the_words_by_which_people_look_for_it(name: str, words: str) -> None:
    assert " ".join(dict.fromkeys(spelled(name))) == words


def test_a_text_has_beside_it_what_it_does_not_hold_as_a_word() -> None:
    text = "Load it with dyn.load or BW-1280; C++ and v1.2.3, for the mill's OrderLineItem."
    assert spellings(text) == "dyn dynload bw1280 cplusplus v1 v123 1.2.3 mill order line item"
    assert spellings("The old mill stands in 1280 Ulm.") == ""
    assert len(spellings(" ".join(f"a{i}.b{i}" for i in range(9999))).split()) == 256
    assert spellings("x.y" * 5000) == "", "so long a word is data"


def test_names_and_quotations_are_asked_for_as_they_are_typed() -> None:
    assert phrases("Is it dyn.load, 3,5 or don't?") == (
        "dyn.load", "3,5", "3.5", "don't", "don\u2019t",
    )  # fmt: skip
    assert phrases('Who wrote "The Old Mill" in C++ and old_mill?') == ("The Old Mill",)
    assert len(phrases(" ".join(f"a.b{i}" for i in range(99)))) == 16


def test_common_words_count_where_they_are_quoted_or_stand_in_a_title() -> None:
    assert search_terms('What does "with" do?') == ("with",)
    assert search_terms("What does `with` do?") == ("with",)
    assert search_terms('the "House of Cards"') == ("house", "cards")
    assert title_pairs("What does a with statement do?") == ("with statement",)
    assert title_pairs("Who is the owner of Ulm?") == ()


def test_words_side_by_side_may_be_one_name_of_a_graph_of_others() -> None:
    assert set(joined_neighbours("the max size of")) == {"max_size", "max.size", "maxsize"}
    assert "order_line_item" in set(joined_neighbours("order line item"))
    assert lucene("dyn load", None) == 'text:(dyn load dyn_load "dyn.load" dynload)'


def test_the_oddest_words_may_decide_alone() -> None:
    asked = wanted_alone("What does the shopt option globstar do with C++ and BW-1280?")
    assert asked == ("cplusplus", "BW-1280", "globstar", "option", "shopt")
    assert len(lone_words(" ".join(f"word{i}" for i in range(99)), "team")) == 8
    assert all("+project_key:p" in one for one in lone_words("a with statement", "team"))


@pytest.mark.parametrize("question", ODD)
def test_an_odd_question_makes_a_bounded_query_soon_in_which_nothing_is_syntax(
    question: str,
) -> None:
    began = time.perf_counter()
    asked = lucene(question, "team")
    others = [lucene(question, None), words_of_any_field(question)]
    lone = lone_words(question, "team")
    assert time.perf_counter() - began < 1

    for query in (asked, *others, *lone):
        words = re.sub(r'"[^"\\]*"', "word", query)
        assert not re.search(r'["\\\[\]{}~*?!&|/<>]|\b(?:AND|OR|NOT|TO)\b', words)
        clauses = re.findall(r"\w+", re.sub(r"\w+:|\^[\d.]+", "", words))
        single = sum(1 if word.isascii() else len(word) for word in clauses)
        assert single <= 1020
