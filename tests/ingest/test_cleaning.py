from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.graph.writing.records import DocumentRecord, DocumentVersion
from drift.indexing.cleaning import clean, is_crawled
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.records import chunk_records
from drift.local.ingest.files import read_document
from drift.local.ingest.formats.html_text import read_page

MENU = "* [Home](https://example.com/home)\n* [News](https://example.com/news)\n"
SENTENCE = "The old mill stands on the hill above the town, and nobody has lived in it for years."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{MENU}\n{SENTENCE}", f"\n\n\n{SENTENCE}"),
        ('See [the *manual*](http://a.b/c_(d) "T") of 1999.', "See the *manual* of 1999."),
        ("![A pump](pump.png)", ""),
        (f"![A pump](pump.png) {SENTENCE}", f"A pump {SENTENCE}"),
        (f"![Image 12: A pump](pump.png) {SENTENCE}", f"A pump {SENTENCE}"),
        (f"![Image 12](pump.png) {SENTENCE}", f" {SENTENCE}"),
        ("[![Share](s.png)](http://a.b)", ""),
        (f"- [{SENTENCE}](http://a.b)", f"- {SENTENCE}"),
        ("We use cookies to improve this site.", ""),
        ("Copyright 2021 The Mill Company", ""),
        ("Subscribe", ""),
        ("Subscribers of the paper were told in March that it would end.",) * 2,
        ("```\n[a](b) Subscribe\n```",) * 2,
        ("| Year | L |\n|---|---|\n| [1999](x) | 12 |", "| Year | L |\n|---|---|\n| 1999 | 12 |"),
        ("## [The mill](http://a.b/c)", "## The mill"),
        ("| [Brazil](b) | [Germany](g) |", "| Brazil | Germany |"),
        ("It is [a\nlink](http://a.b) and more", "It is a\nlink and more"),
    ],
)  # fmt: skip
def test_a_page_is_read_as_a_person_reads_it(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(
    st.lists(
        st.sampled_from(
            [
                "[a](b)",
                "![",
                "](",
                "](b",
                "\n",
                "- ",
                "# ",
                "|",
                "```",
                "x y.",
                "\ue000",
                "(",
                ")",
                "©",
            ]
        )
    ).map("".join)
)
def test_a_clean_text_has_as_many_lines(text: str) -> None:
    assert clean(text).count("\n") == text.count("\n")


def _read(path: Path, text: str) -> SourceDocument | Skipped:
    path.write_text(text)
    return read_document(path, path.name)


def test_chunks_of_a_crawled_page_stand_in_the_lines_of_its_file(tmp_path: Path) -> None:
    text = f"{MENU * 20}\n# The mill\n\n{SENTENCE}\n"
    document = _read(tmp_path / "page.md", text)
    assert isinstance(document, SourceDocument)
    (chunk,) = chunk_records("p", DocumentRecord("d", "t", "s", DocumentVersion("h")), document)
    assert chunk.text == f"# The mill\n\n{SENTENCE}"
    assert text.split("\n")[(chunk.first_line or 0) - 1] == "# The mill"


def test_a_manual_with_few_links_stays_as_it_is(tmp_path: Path) -> None:
    text = f"{SENTENCE} {SENTENCE} Subscribe at [x](y).\n\nSubscribe\n"
    assert not is_crawled(text)
    document = _read(tmp_path / "manual.md", text)
    assert isinstance(document, SourceDocument)
    assert document.text == text


def test_a_page_that_is_all_links_is_skipped_with_the_reason(tmp_path: Path) -> None:
    skipped = _read(tmp_path / "menu.md", MENU * 50)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "holds nothing but links, banners and buttons"


PAGE = f"""<html><head><title>Mills</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>The mill</h1><p>{SENTENCE * 4}</p><h2>Water</h2>
<table><tr><th>Year</th><th>Litres</th></tr><tr><td>1999</td><td>12,000</td></tr></table>
<pre><code>x = 1
y = 2</code></pre><p>{SENTENCE * 5}</p></main>
<div class="sidebar"><a href="/a">Other mills</a> <a href="/b">More</a></div>
<footer>All rights reserved</footer></body></html>"""


def test_the_main_text_of_a_page_keeps_headings_tables_and_code() -> None:
    text, title, *_ = read_page(PAGE)
    assert title == "The mill"
    assert "## Water" in text
    assert "| Year: 1999 | Litres: 12,000 |" in text
    assert "```\nx = 1\ny = 2\n```" in text
    assert "Other mills" not in text
    assert "All rights reserved" not in text


def test_a_page_that_says_little_is_kept_whole_with_rows_on_their_lines() -> None:
    text, *_ = read_page(
        "<p>Prices</p><table><tr><td>Oil</td><td>5 <b>EUR</b></td></tr>"
        "<tr><td>Tar</td><td>9</td></tr></table>"
    )
    assert text.split("\n\n") == [
        "Prices",
        "| column 1: Oil | column 2: 5 EUR |",
        "| column 1: Tar | column 2: 9 |",
    ]


FEES = "<caption>Fees<thead><tr><th>Boat<th>Fee<tbody><tr><td>Dinghy<td>12<tr><td>Yacht<td>80"
LAID_OUT = "<tr><th>A</th><th>B</th></tr><tr><td><p>one</p></td><td>two</td></tr>"
KEYED = "<tr><th>Boat</th><td>Dinghy</td></tr><tr><th>Fee</th><td>12</td></tr>"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            FEES,
            ["Fees", "| Boat | Fee |", "| Boat: Dinghy | Fee: 12 |", "| Boat: Yacht | Fee: 80 |"],
        ),
        (LAID_OUT, ["| A | B |", "| A: one | B: two |"]),
        (KEYED, ["| Boat: Dinghy |", "| Fee: 12 |"]),
        (f"<tr><td>{LAID_OUT}</td></tr>", ["| A | B |", "| A: one | B: two |"]),
        ("<nav><tr><th>A<th>B</nav>", []),
    ],
)
def test_a_small_page_s_rows_have_their_heads_where_there_are_some(
    rows: str, expected: list[str]
) -> None:
    text, *_ = read_page(f"<p>Begins</p><table>{rows}</table><p>Ends</p>")
    assert text.split("\n\n") == ["Begins", *expected, "Ends"]
