"""What a person reads of a crawled page, and what of it names something."""

from __future__ import annotations

import pytest

from drift.local.ingest.entities import read_chunks
from drift.local.ingest.graph_records import ChunkRecord
from drift.local.ingest.page_text import all_readable, readable


def _pages(*texts: str) -> list[ChunkRecord]:
    return [ChunkRecord(f"c{n}", f"d{n}", 0, "", text) for n, text in enumerate(texts)]


def _keys(*texts: str) -> set[str]:
    return {entity.key for entity in read_chunks(_pages(*texts))[1]}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('Ada met [Zoë](https://a.example/x_(y) "Zoë\'s page") in Ulm.', "Ada met Zoë in Ulm."),
        ("![Image 3: Logo](https://a.example/Logo.png)", ""),
        ("[![Image 3: Logo](https://a.example/Logo.png)](https://a.example/)", ""),
        ("See https://a.example/b?c=d and write to ada@a.example soon.", "See and write to soon."),
        ('<td class="x"><strong>May</strong></td>', "May"),
        ("*   [Home](https://a.example/)", ""),
        ("We use cookies to make this site better.", ""),
        ("Sign in", ""),
        ("If `a < b` then `List<T>` holds.", "If `a < b` then `List<T>` holds."),
        ("In Ulm young Ada wrote [a program](https://a.exam", "In Ulm young Ada wrote a program"),
    ],
)
def test_a_page_is_read_without_its_machinery(text: str, read: str) -> None:
    assert " ".join(readable(text).split()) == read


def test_a_sentence_of_links_is_read_and_a_menu_is_not() -> None:
    said = (
        "[Ada Byron wrote the first program](https://a.example) that [was ever printed](b) in a "
        "book."
    )
    assert readable(said) == "Ada Byron wrote the first program that was ever printed in a book."
    assert not readable("[News](a) [Sport](b) [Weather Map](c)").strip()


def test_lines_that_three_documents_share_are_left_out_and_copies_count_as_one() -> None:
    banner = "Please help Old Library"
    texts, shared = all_readable(_pages(*(f"{banner}\n\nPage {word}." for word in "abc")))
    assert [text.split() for text in texts] == [["Page", f"{word}."] for word in "abc"]
    assert shared == {banner.casefold()}
    page = f"{banner}\n\nThe page."
    assert all_readable(_pages(*[page] * 50)) == ([page] * 50, frozenset())
    assert all_readable(_pages(page, f"{banner}\n\nAnother."))[1] == frozenset()


def test_links_banners_and_dates_name_nothing() -> None:
    page = (
        "[Deep Blue](https://deep.example/Blue_Whale)\n\nAccept cookies from Big Shop.\n\n"
        "![Image 7: Red Fox](https://fox.example)\n\nIn March 2012 and on Friday all was well with "
        "Ada Byron. Page {n} of 12.\n"
    )
    assert _keys(*(page.format(n=n) for n in range(2))) == {"ada byron"}


def test_a_term_in_small_letters_is_found_by_how_it_is_used() -> None:
    texts = [
        f"The {word} of the migrant worker is long. No migrant worker may rest, and the {word} "
        f"says so quickly. It is about a migrant worker."
        for word in ("charter", "statute", "decree")
    ]
    found = _keys(*texts)
    assert "migrant worker" in found
    assert not found & {"quickly", "migrant", "long", "worker is"}


def test_a_capital_before_a_word_that_is_written_without_one_is_no_name() -> None:
    texts = [
        "The old pump runs while a Pump rests beside Mercer.",
        "A pump, any pump, needs oil. The Pump of Mercer has none.",
    ]
    assert "Mercer" in _keys(*texts)
    assert "Pump" not in _keys(*texts)


def test_a_full_name_in_one_sentence_is_an_entity_and_one_word_must_recur() -> None:
    assert _keys("The first program was written by Ada Byron, said Zoë.") == {"ada byron"}
