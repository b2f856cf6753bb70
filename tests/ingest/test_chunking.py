from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.indexing.blocks import Format
from drift.indexing.chunking import MAX_CHARS, MIN_CHARS, TARGET_CHARS, cut
from drift.local.cli.sample import sample_sources

FORMATS = st.sampled_from(["markdown", "rst", "text"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=12)
SHAPES = (
    "", "# One", "## Two", "===", "---", "* item", "1. item", "```", "    code", "For example:",
    "::", "> quote", "|a|b|",
)  # fmt: skip
LINES = st.one_of(
    st.lists(WORDS, max_size=30).map(" ".join),
    st.sampled_from(SHAPES),
    st.integers(1, 3000).map(lambda n: "x" * n),
    st.integers(1, 600).map(lambda n: "Word five. " * n),
)
DOCUMENTS = st.lists(LINES, max_size=40).map("\n".join)


def _texts(text: str, text_format: Format) -> list[str]:
    return [text[c.start : c.end] for c in cut(text, text_format)]


@given(DOCUMENTS, FORMATS)
def test_chunks_are_slices_in_order_that_hold_all_text_within_the_maximum(
    text: str, text_format: Format
) -> None:
    done = 0
    for chunk in cut(text, text_format):
        assert done <= chunk.start < chunk.end <= len(text)
        assert not text[done : chunk.start].strip()
        assert 0 < chunk.size <= MAX_CHARS
        assert text[chunk.start : chunk.end].strip()
        done = chunk.end
    assert not text[done:].strip()


CODE_LINES = st.lists(
    st.sampled_from(["x = 1", "", "# no heading", "if a:", "    b()", "* no list", "Word. Word."]),
    min_size=1,
    max_size=40,
)
PROSE = st.integers(1, 200).map(lambda n: ("Some words here. " * n).strip())


@given(
    st.lists(st.tuples(PROSE, CODE_LINES), min_size=1, max_size=8),
    st.sampled_from(["```", "~~~~", "  ```"]),
)
def test_a_fenced_block_is_never_cut(parts: list[tuple[str, list[str]]], fence: str) -> None:
    blocks = [
        "\n".join([fence, *(line + f" {n}" for line in code), fence])
        for n, (_, code) in enumerate(parts)
    ]
    text = "\n\n".join(
        f"{prose}\n\n{block}" for (prose, _), block in zip(parts, blocks, strict=True)
    )
    chunks = _texts(text, "markdown")
    assert all(
        any(block in chunk for chunk in chunks) for block in blocks if len(block) <= MAX_CHARS - 10
    )


@given(
    st.lists(st.tuples(PROSE, CODE_LINES), min_size=1, max_size=8),
    st.sampled_from(["rst", "text", "markdown"]),
)
def test_an_indented_block_is_never_cut(
    parts: list[tuple[str, list[str]]], text_format: Format
) -> None:
    blocks = ["\n".join(f"    {line} = {n}" for line in code) for n, (_, code) in enumerate(parts)]
    text = "\n\n".join(
        f"{prose}::\n\n{block}" for (prose, _), block in zip(parts, blocks, strict=True)
    )
    chunks = _texts(text, text_format)
    assert all(
        any(block in chunk for chunk in chunks) for block in blocks if len(block) <= MAX_CHARS - 10
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "text_format"),
    [("word ", "markdown"), ("x", "text"), ("Short sentence. ", "text"), (" " * 50 + "a", "text")],
)
def test_a_line_of_ten_megabytes_is_cut_within_the_maximum(word: str, text_format: Format) -> None:
    text = word * (10_000_000 // len(word))
    chunks = cut(text, text_format)
    assert max(c.size for c in chunks) <= MAX_CHARS
    assert sum(c.size for c in chunks) >= sum(map(len, text.split()))
    if word == "Short sentence. ":
        assert all(text[c.start : c.end].endswith(".") for c in chunks)


def test_chunks_carry_their_heading_path() -> None:
    section = "Text of a section that is long enough to stand alone. " * 12
    headings = ("# A", "## B *b*", "### C", "## [D](x)")
    text = "".join(f"{heading}\n\n{section}\n\n" for heading in headings)
    assert [c.heading for c in cut(text, "markdown")] == ["A", "A > B b", "A > B b > C", "A > D"]


def test_levels_of_underlines_follow_the_order_of_their_styles() -> None:
    section = "Text of a section that is long enough to stand alone. " * 12
    text = (
        f"A\n***\n\n{section}\n\nB\n===\n\n{section}\n\nC\n---\n{section}\n\nD\n===\n\n{section}\n"
    )
    assert [c.heading for c in cut(text, "text")] == ["A", "A > B", "A > B > C", "A > D"]


def test_small_sections_under_one_heading_share_a_chunk_up_to_the_target() -> None:
    text = "# Top\n\n" + "\n\n".join(f"## Part {n}\n\nFew words." for n in range(100))
    chunks = cut(text, "markdown")
    assert {c.heading for c in chunks} == {"Top"}
    assert all(MIN_CHARS <= c.size <= TARGET_CHARS for c in chunks[:-1])


def test_what_introduces_code_stays_with_it() -> None:
    filler = "Filler words to reach the target size. " * 29
    code = "\n".join(f"    code = {n}" for n in range(60))
    assert _texts(f"{filler}\n\nFor example:\n\n{code}\n", "text")[-1] == f"For example:\n\n{code}"


def test_code_that_fits_only_without_its_introduction_stays_whole() -> None:
    code = "\n".join(
        f"    # Step {n}. Then the next. {'y' * 60}" + ("\n" if n % 5 == 4 else "")
        for n in range(20)
    ).rstrip()
    lead = "Words that introduce it, and go on for a while. " * 8 + "So:"
    assert len(code) < MAX_CHARS < len(lead) + len(code)
    assert _texts(f"{lead}\n\n{code}\n", "text") == [lead, code]


def test_code_over_the_maximum_is_cut_at_blank_lines_else_at_line_ends() -> None:
    functions = "\n\n".join(f"def f{n}():\n    return {n}  # {'y' * 60}" for n in range(60))
    _, *others = _texts(f"```\n{functions}\n```", "markdown")
    assert others
    assert all(chunk.startswith("def f") for chunk in others)
    lines = "\n".join(f"line {n} {'z' * 40}. And {'z' * 40}" for n in range(100))
    _, *others = _texts(f"```\n{lines}\n```", "markdown")
    assert others
    assert all(chunk.startswith("line ") for chunk in others)


def test_sizes_of_the_sample_are_near_the_target() -> None:
    sizes = sorted(c.size for d in sample_sources().documents for c in cut(d.text, d.format))
    assert 600 <= sizes[len(sizes) // 2] <= TARGET_CHARS
    assert sum(size < MIN_CHARS for size in sizes) < 0.15 * len(sizes)


def test_a_method_of_the_sample_stays_with_its_signature() -> None:
    manual = next(d for d in sample_sources().documents if d.id == "context-managers")
    exits = [
        t for t in _texts(manual.text, "text") if re.search(r"^object\.__exit__\(", t, re.MULTILINE)
    ]
    assert len(exits) == 1
    assert "Exit the runtime context related to this object" in exits[0]
