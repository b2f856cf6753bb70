"""What a page shows is read, whole, and what it hides or stands beside its text is not."""

from __future__ import annotations

import time

import pytest

from drift.indexing.documents import Skipped, SourceDocument
from drift.local.ingest.files import document_in
from drift.local.ingest.formats.html_text import read_page

SENTENCE = "The quays are swept each morning by the crew of the harbour before the first boat. "
PRESS = "<script>x = 1</script>" * 20


def _read(name: str, content: bytes | str) -> SourceDocument:
    raw = content if isinstance(content, bytes) else content.encode()
    found = document_in(raw, name, None)
    assert isinstance(found, SourceDocument), found
    return found


PARTS = {
    "a note": "<aside><p>Never lift more than two tonnes.</p></aside>",
    "a caption": "<figure><figcaption>Never lift more than two tonnes.</figcaption></figure>",
    "code in a figure": "<figure><pre>Never lift more than two tonnes.</pre></figure>",
    "a list of links": "<ul><li><a href=a>Never lift more than two tonnes.</a></li></ul>",
    "a list": "<ul><li>Never lift more than two tonnes.</li></ul>",
    "a definition": "<dl><dt>Crane<dd>Never lift more than two tonnes.</dl>",
    "a line of its own": "<div class='related comment'>Never lift more than two tonnes.</div>",
    "a button's words": "<p>Log in. Never lift more than two tonnes.</p>",
    "a caption of a table": "<table><caption>Never lift more than two tonnes.<tr><td>1</table>",
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("around", ["<main>{}</main>", "<article>{}</article>", "<div>{}</div>"])
def test_all_that_stands_in_the_main_part_is_text(part: str, around: str) -> None:
    body = f"<h1>Crane</h1><p>{SENTENCE * 5}</p>{PARTS[part]}<p>{SENTENCE * 5}</p>"
    nav, foot = "<nav><a href=/>All harbours</a></nav>", "<footer>Ribe Harbours</footer>"
    text = read_page(f"<body>{nav}{around.format(body)}{foot}</body>").text
    assert "Never lift more than two tonnes." in text
    assert "Ribe Harbours" not in text
    assert "All harbours" not in text


def test_of_a_page_of_the_press_what_is_around_the_text_is_left_out_and_counted() -> None:
    teasers = (
        "<div class=teaser><p>Ten things that you never knew of the sea and its gulls</p></div>"
    )
    text = f"<p>{SENTENCE * 3}</p><ul><li>Sweeping costs 12 crowns a boat.</li></ul>"
    article = f"<article><h1>Quays</h1>{text * 3}</article>"
    page = read_page(f"<body>{PRESS}{article}<div>{teasers * 9}</div></body>")
    assert "Sweeping costs 12 crowns" in page.text
    assert "gulls" not in page.text
    assert "words stand beside its text" in page.note


SEASONS = "<tr><th>Quay<th>Season<th>Fee<tr><td rowspan=2>South<td>summer<td>12<tr><td>winter<td>15"
FEES = "<tr><th rowspan=2>Quay<th colspan=2>Fee<tr><th>summer<th>winter<tr><td>South<td>12<td>15"
LISTS = "<tr><th>Quay<th>Rules<tr><td>East<td><ul><li>no nets<li>no fires</ul><tr><td>West<td>none"
HOURS = "<table><tr><th>Day<th>Open<tr><td>Monday<td>8</table>"


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (SEASONS, ["| Quay: South | Season: winter | Fee: 15 |"]),
        (FEES, ["| Quay: South | Fee summer: 12 | Fee winter: 15 |"]),
        ("<tr><th>Owner<td>Lena<tr><th>Depth<td>9 m", ["| Owner: Lena |", "| Depth: 9 m |"]),
        (LISTS, ["| Quay: East | Rules: no nets; no fires |", "| Quay: West | Rules: none |"]),
        (
            f"<tr><th>Quay<th>Hours<tr><td>East<td>{HOURS}<tr><td>West<td>9",
            ["| Quay: East | Hours: Day, Open; Day: Monday, Open: 8 |"],
        ),
        ("<tr><td><h2>Left</h2><p>one</p><td><pre>two</pre>", ["## Left", "one", "```\ntwo\n```"]),
    ],
)
def test_a_table_says_each_value_with_all_of_its_heads(table: str, rows: list[str]) -> None:
    said = read_page(f"<p>Begins</p><table>{table}</table><p>Ends</p>").text.split("\n\n")
    assert [row for row in rows if row not in said] == []
    assert said[-1] == "Ends"


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>two <p>tonnes</p></div>",
        "<p style='display: none'>two tonnes<p>",
        "<div style='color:red; visibility:HIDDEN'><div>two tonnes</div></div>",
        "<template><p>two tonnes</p></template>",
        "<!-- <p>two tonnes</p> -->",
        "<script>s = '<!-- <p>two tonnes</p>'</script>",
    ],
)
def test_what_a_page_hides_is_no_text(hidden: str) -> None:
    text = read_page(f"<main><p>Six tonnes.</p>{hidden}<p>Green lamp.</p></main>").text
    assert text == "Six tonnes.\n\nGreen lamp."


@pytest.mark.parametrize("comment", ["<!-->", "<!--->", "<!--[if !IE]><!-->", "<!-- a <!-- b -->"])
def test_what_stands_behind_a_comment_is_text(comment: str) -> None:
    assert read_page(f"<p>one</p>{comment}<p>two</p><!-- x -->").text == "one\n\ntwo"


@pytest.mark.parametrize("shown", ["<input hidden>", "<p hidden=until-found>", "<br hidden>"])
def test_what_hides_nothing_takes_no_text(shown: str) -> None:
    assert read_page(f"<p>one</p>{shown}<p>two</p>").text == "one\n\ntwo"


@pytest.mark.parametrize(
    ("head", "encoding", "text"),
    [
        ('<meta charset="windows-1251">', "cp1251", "Привет, мир"),
        ('<meta http-equiv=Content-Type content="text/html; charset=iso-8859-1">', "cp1252", "5 €"),
        ('<?xml version="1.0" encoding="Shift_JIS"?>', "cp932", "灯台は①番"),
        ('<meta charset="gb2312">', "gb18030", "港口的渡轮"),
        ('<meta charset="utf-8">', "cp1252", "Die fünf Boote am Kai"),
        ('<meta charset="unicode_escape">', "cp1252", "Die fünf Boote am \\u0041"),
        ('<meta charset="no-such">', "cp1252", "Die fünf Boote am Kai"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(
    head: str, encoding: str, text: str
) -> None:
    script = f"<script>{'x = 1;' * 9_000}</script>"
    assert _read("a.html", f"{head}{script}<p>{text}</p>".encode(encoding)).text == text


def test_what_a_page_says_of_itself_can_be_asked_for() -> None:
    own = _read(
        "a.html",
        '<html lang="da"><head><meta name="Author" content="Karla Veng"><meta name="keywords" '
        'content="boats, winch"><meta property="article:published_time" content="2026-03-01">'
        '<script type="application/ld+json">{"dateModified": "2026-04-01T08:00:00Z"}</script>'
        "</head><p>text</p>",
    ).own
    assert dict(own.metadata) == {"author": "Karla Veng", "language": "da"}
    assert own.tags == ("boats", "winch")
    assert (own.created_at, own.updated_at) == (1_772_323_200_000, 1_775_030_400_000)


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Fees | Ribe</title><p>x</p>", "Fees"),
        ("<meta property=og:site_name content=Ribe><title>Ribe - Fees</title><p>x</p>", "Fees"),
        ("<title>Fees - Ribe</title><header role=banner>Ribe</header><p>x</p>", "Fees"),
        ("<title>Model 4 - Manual</title><p>x</p>", "Model 4 - Manual"),
        ("<h1>Ribe</h1><article><h1>Fees</h1></article>", "Fees"),
        ("<h1>Fees</h1><article><h2>One</h2></article>", "Fees"),
    ],
)
def test_a_title_is_that_of_the_page_and_not_of_its_site(page: str, title: str) -> None:
    assert read_page(page).title == title


def test_lines_of_a_page_that_look_like_markdown_stay_text() -> None:
    page = read_page("<h1>Fees</h1><p># stop</p><p>```</p><h2>Winter</h2>")
    assert page.text == "# Fees\n\n\\# stop\n\n\\```\n\n## Winter"


def test_comments_of_markdown_are_no_text_and_lines_keep_their_numbers() -> None:
    text = (
        "---\ntitle: Slipway\n---\nPulls 6 tonnes.\n<!-- pulled\n2 tonnes -->\n\n"
        "Say `<!-- x -->`.\n\n```html\n<!-- y -->\n```\nEnd<!-->.\n"
    )
    document = _read("a.md", text)
    assert document.title == "Slipway"
    assert "2 tonnes" not in document.text
    assert "`<!-- x -->`" in document.text
    assert "<!-- y -->" in document.text
    assert document.text.split("\n")[12:] == ["End.", ""]
    assert "of 3 words" in document.note


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.html", "<table><tr><td>a"),
        ("a.html", "<table><tr><td rowspan=9999999 colspan=9999999>a"),
        ("a.html", "<div hidden>a"),
        ("a.html", "<script <style "),
        ("a.html", "<meta charset=x"),
        ("a.md", "`<!--` "),
        ("a.md", "<!-- "),
    ],
)
def test_a_hostile_page_takes_no_long_time(name: str, part: str) -> None:
    began = time.process_time()
    document_in((part * (400_000 // len(part))).encode() + b"-->", name, None)
    assert time.process_time() - began < 5


def test_a_page_that_only_leads_to_another_is_no_document() -> None:
    moved = '<meta http-equiv="refresh" content="0; url=b.html"><p>Redirecting to'
    found = document_in(f"{moved} b.</p>".encode(), "a.html", None)
    assert isinstance(found, Skipped)
    assert "another page" in found.reason
    assert _read("a.html", f"{moved} {4 * SENTENCE}</p>").text, "it says something itself"
