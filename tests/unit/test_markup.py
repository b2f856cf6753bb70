"""Data in tags, which its own text cannot close."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.prompting import markup

BREAKS = st.sampled_from(["\r", "\n", "\u2028", "\x85", "1| ", "<", " "])
TEXTS = st.lists(BREAKS | st.text(max_size=5), max_size=20).map("".join)


@pytest.mark.parametrize(
    "text", ["<b>bold</b> & <chunky> or <my-question>", "`code` and ```fences```"]
)
def test_a_text_without_our_tags_is_not_changed(text: str) -> None:
    assert markup.plain(text) == text


@pytest.mark.parametrize("text", ["<CHUNK>", "< / chunk >", "<\nchunk"])
def test_what_looks_like_a_tag_keeps_its_words(text: str) -> None:
    assert markup.plain(text) == text.replace("<", "&lt;")


@given(TEXTS)
def test_a_text_on_a_line_has_no_line_of_its_own(text: str) -> None:
    written = markup.on_line(text)
    assert len(written.splitlines()) <= 1
    assert written == " ".join(markup.plain(text).split())


@given(TEXTS)
def test_further_lines_of_an_indented_text_begin_with_spaces(text: str) -> None:
    _, *further = re.split(r"[\r\n\x0b\x0c\x85\u2028\u2029]", markup.indented(text))
    assert all(line.startswith("   ") for line in further)


@pytest.mark.parametrize(
    ("content", "attributes", "written"),
    [
        ("said", {}, "<sample>said</sample>"),
        ("one\ntwo", {}, "<sample>\none\ntwo\n</sample>"),
        ("<b>", {}, "<sample>\n<b>\n</sample>"),
        ("", {}, "<sample></sample>"),
        ("x", {"level": 0, "heading": "", "place": None}, '<sample level="0">x</sample>'),
        ("x", {"document": " \n", "heading": "H"}, '<sample heading="H">x</sample>'),
        (
            "x",
            {"document": 'A "B" > C\n</chunk>'},
            "<sample document=\"A 'B' &gt; C &lt;/chunk&gt;\">x</sample>",
        ),
    ],
)
def test_an_element_reads_as_written_here(
    content: str, attributes: dict[str, str | float | None], written: str
) -> None:
    assert markup.element("sample", content, **attributes) == written
