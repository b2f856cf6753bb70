"""Pure: the lines of a PDF's pages as Markdown, without running heads and with words whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Self

from pypdfium2 import PdfBookmark

from drift.core.folding import as_typed
from drift.indexing.pages import joined, without_running_heads
from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.pdf_layout import PageLine

_HEADING_SIZE, _LONGEST_HEADING, _MOST_LEVELS = 1.15, 120, 4
_MOST_LARGE = 0.2
"""Of the lines of a text; where more are large, size says nothing of them."""
_BROKEN = re.compile(r"-\n(\f?)(\w{1,60})([^\s\w]{0,9})(?:[ \t]*\n|[ \t]+|\Z)?")
_LEFT = re.compile(r"(?:^|(?<![\w-]))[\w-]*\w$")
_LONGEST_WORD = 60
_BEHIND = ("", ".", ",", ";", ":", ")")
_MARKS = frozenset("#`~=-*_<")
"""What a line begins with that Markdown may take for its own."""


class Entry(NamedTuple):
    """An entry of an outline: its level and its page, each from 0."""

    title: str
    level: int
    page: int | None

    @classmethod
    def of(cls, mark: PdfBookmark) -> Self:
        """Return the entry of a bookmark."""
        place = mark.get_dest()
        return cls(mark.get_title(), mark.level, place.get_index() if place else None)


def key(title: str) -> str:
    """Return what is the same of a title in an outline and on its page."""
    return " ".join(as_typed(title).casefold().split())


def as_markdown(pages: Sequence[Sequence[PageLine]], *, has_outline: bool) -> str:
    """Return pages as one text; where there is no outline, large lines are its headings."""
    if not has_outline:
        _find_headings(pages)
    plain = [list(_plain(page, number)) for number, page in enumerate(pages)]
    kept = without_running_heads(["\n".join(page) for page in plain])
    texts = []
    for page, left in zip(pages, kept, strict=True):
        lines = zip(page, left.split("\n"), strict=True) if page else ()
        texts.append("\n".join(_written(one) if line else "" for one, line in lines))
    return with_whole_words(joined(texts))


def _plain(page: Sequence[PageLine], number: int) -> Iterator[str]:
    """Yield lines as they are compared with those of other pages: each table is its own."""
    for place, one in enumerate(page):
        if one.is_table or "\n" in one.text:
            yield f"{chr(0x10000 + number % 0x10000)}{chr(0x20000 + place % 0x10000)}"
        else:
            yield f"{'#' * one.level} {one.text}" if one.level else one.text


def _written(one: PageLine) -> str:
    if one.is_table:
        return f"\n{one.text}\n"
    if one.level:
        return f"\n{'#' * min(one.level, 6)} {one.text.strip()}\n"
    may_mark = "\n" in one.text or one.text[:4].lstrip()[:1] in _MARKS
    return escaped(one.text) if may_mark else one.text


def _find_headings(pages: Sequence[Sequence[PageLine]]) -> None:
    """Mark the lines that are larger than most text, the largest as the highest."""
    lines = [one for page in pages for one in page if one.size and one.text.strip()]
    usual = body_size(lines)
    large = [one for one in lines if _is_large(one, usual)]
    if len(large) > _MOST_LARGE * len(lines):
        return
    sizes = sorted({round(one.size) for one in large}, reverse=True)
    for one in large:
        one.level = min(sizes.index(round(one.size)) + 1, _MOST_LEVELS)
    for page in pages:
        _join_headings(page)


def _is_large(one: PageLine, usual: float) -> bool:
    text = one.text.strip()
    letters = sum(map(str.isalpha, text))
    return (
        one.size >= _HEADING_SIZE * usual
        and len(text) <= _LONGEST_HEADING
        and letters >= max(3, len(text) / 2)
        and text[-1] not in ".,;:"
    )


def _join_headings(page: Sequence[PageLine]) -> None:
    """Make headings of several lines one; the lines that are taken into it are empty."""
    above: PageLine | None = None
    for one in page:
        is_same = above is not None and one.level and round(one.size) == round(above.size)
        if above is not None and is_same and len(above.text) <= _LONGEST_HEADING:
            above.text = f"{above.text.strip()} {one.text.strip()}"
            one.text, one.level = "", 0
        elif one.text.strip():
            above = one if one.level else None


def body_size(lines: Sequence[PageLine]) -> float:
    """Return the size of most letters; 0 where there are none."""
    counts: Counter[float] = Counter()
    for one in lines:
        counts[round(one.size * 2) / 2] += len(one.text)
    return max(counts, key=lambda size: counts[size], default=0.0)


def with_whole_words(text: str) -> str:
    """Return a text whose words are not broken at the end of lines.

    A hyphen stays where the word is seen with it elsewhere, and not without.
    """
    words: set[str] = set()
    parts: list[str] = []
    at = 0
    for found in _BROKEN.finditer(text):
        begun = found.start() - _LONGEST_WORD
        head = _LEFT.search(text[max(at, begun) : found.start()])
        if head is None:
            continue
        words = words or set(text.casefold().split())
        left, (page, right, rest) = head[0], found.groups()
        one, parted = f"{left}{right}", f"{left}-{right}"
        is_word = left[-1].isalpha() and right[0].islower()
        has_hyphen = "-" in left or _is_seen(parted, words)
        is_one = is_word and (_is_seen(one, words) or not has_hyphen)
        parts += (text[at : found.start() - len(left)], one if is_one else parted, rest, "\n", page)
        at = found.end()
    return "".join((*parts, text[at:]))


def _is_seen(word: str, words: AbstractSet[str]) -> bool:
    return any(f"{word.casefold()}{sign}" in words for sign in _BEHIND)
