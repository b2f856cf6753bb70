"""The lines of a text that can be quoted: sentences, list items and table rows, as exact slices of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from drift.ingest.prose import split_sentences

LONGEST = 400
"""What is longer is no line to quote: it would hide what was asked for."""
FULL_LINE = 50
"""A line of at least so many characters may go on in the next one: its author's editor wrapped it."""

_FENCE = re.compile(r"\s*(?:```|~~~(?!~))")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"[\s|:=*\-~^_+.]*$")
_UNDERLINE = re.compile(r"\s*([=*\-~^\"'+#.])\1{2,}\s*$")
_ITEM = re.compile(r"(?:\s*(?:[*+\-•–>]|(?:\d{1,3}|[a-z])[.)])(?:\s+\[[ xX]\])?\s+)+")  # noqa: RUF001 - a list's dash
_BEGINS = re.compile(r"\s*(?:\||\d+[.:/-]\d)")
_CODE = re.compile(
    r"::=|>>>|[-=*~]{4}|^\s*\.\.\.? |[=!]=|;\s*$|^\s*(?:\w+ = |@\w|def |class |import |from \w+ import)", re.MULTILINE
)
_ENDED = re.compile(r"[.!?…。！？؟।][)\]\"'”’»*_`]*$")  # noqa: RUF001 - ends of sentences as they are written


@dataclass(frozen=True, slots=True)
class Line:
    """A line to quote: `span` as it stands in its text, `text` to be read, `under` the headings it stands under."""

    span: str
    text: str
    under: str = ""

    @property
    def whole(self) -> bool:
        """Whether it ends as a sentence does."""
        return bool(_ENDED.search(self.text))


@lru_cache(maxsize=20_000)
def lines(text: str) -> tuple[Line, ...]:
    """Return what can be quoted from a text, in order: no headings, rules, fences or code."""
    return tuple(
        Line(span, plain(span), under)
        for paragraph, under in _paragraphs(text)
        for span in split_sentences(paragraph)
        if len(span) <= LONGEST and not span.endswith(":") and any(map(str.isalnum, span)) and not _CODE.search(span)
    )


def plain(span: str) -> str:
    """Return a slice as it is read: on one line, without the bars of a row or the stars of what is bold as a whole."""
    text = " ".join(span.split()).strip("| ")
    bold = text.startswith("**") and text.endswith("**") and text.count("**") == 2  # noqa: PLR2004 - one pair
    return text[2:-2] if bold else text


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the runs of lines that belong together, each with what it stands under.

    That is the heading, and the head of a table or the line with a colon that introduces a list.
    """
    heading = intro = ""
    run: list[str] = []
    rows = [*_unfenced(text), ""]
    for row, following in pairwise([*rows, ""]):
        titled, item = _HEADING.match(row), _ITEM.match(row)
        underlined = bool(row.strip() and _UNDERLINE.match(following))
        breaks = bool(titled or underlined or _RULE.match(row))
        if run and (breaks or item or not _goes_on(run[-1], row)):
            paragraph, run = "\n".join(run), []
            yield paragraph, f"{heading} {intro}".strip()
            if paragraph.endswith(":"):
                intro = plain(list(split_sentences(paragraph))[-1])
        if titled or underlined:
            heading, intro = titled[1] if titled else row.strip(), ""
        elif "|" in row and "-" in following and _RULE.match(following):
            intro = plain(row)
        elif not breaks:
            intro = intro if run or item or "|" in row else ""
            run.append(row[item.end() :] if item else row)


def _unfenced(text: str) -> Iterator[str]:
    """Yield the lines of a text; those of a fenced block come as empty ones."""
    fenced = False
    for row in text.split("\n"):
        fence = bool(_FENCE.match(row))
        yield "" if fenced or fence else row
        fenced ^= fence


def _goes_on(before: str, row: str) -> bool:
    """Tell whether a line is the rest of the one before it."""
    return len(before.strip()) >= FULL_LINE and not _BEGINS.match(row)
