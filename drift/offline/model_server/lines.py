"""The lines of a text that can be quoted.

Sentences, list items and table rows, as exact slices of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from drift.offline.writing.sentences import split_sentences

LONGEST = 400
"""What is longer is no line to quote: it would hide what was asked for."""
FULL_LINE = 50
"""A line of at least so many characters may go on in the next one: its author's editor wrapped it."""
INDENTED = 3
"""A paragraph indented by so many more characters shows what the line before it introduces."""

_FENCE = re.compile(r"\s*(?:```|~~~(?!~))")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"[\s|:=*\-~^_+.]*$")
_UNDERLINE = re.compile(r"\s*([=*\-~^\"'+#.])\1{2,}\s*$")
_ITEM = re.compile(r"(?:\s*(?:[*+\-•–>]|(?:\d{1,3}|[a-z])[.)])(?:\s+\[[ xX]\])?\s+)+")  # noqa: RUF001 - a list's dash
_BEGINS = re.compile(r"\s*(?:\||\d+[.:/-]\d\S*\s+\S)")
_CODE = re.compile(
    r"::=|>>>|[-=*~]{4}|^\s*\.\.\.? |[=!]=|;\s*$|: (?:raise|return|pass)\b|"
    r"^\s*(?:\w+ = |@\w|def |class |import |from \w+ import)",
    re.MULTILINE,
)
_VERSION_NOTE = re.compile(r"(?:Added|Changed|Deprecated|Removed) (?:in|since) version ")
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
    """Return what can be quoted from a text, in order.

    No headings, rules, code or notes on versions.
    """
    return tuple(
        Line(span, plain(span), under) for span, under in _spans(text) if _is_quotable(span)
    )


def plain(span: str) -> str:
    """Return a slice as it is read.

    On one line, without the bars of a row or the stars of what is bold as a whole.
    """
    text = " ".join(span.split()).strip("| ")
    bold = text.startswith("**") and text.endswith("**") and text.count("**") == 2  # noqa: PLR2004 - one pair
    return text[2:-2] if bold else text


def _is_quotable(span: str) -> bool:
    return (
        len(span) <= LONGEST
        and any(map(str.isalnum, span))
        and not _CODE.search(span)
        and not _VERSION_NOTE.match(span)
    )


def _spans(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences, items and rows of a text, each with what it stands under.

    That is the heading, and the head of a table or the line that introduces a list. What only
    introduces is not yielded.
    """
    heading = intro = ""
    run: list[str] = []
    rows = [*_unfenced(text), "", ""]
    indents = _next_indents(rows)

    for at, (row, following) in enumerate(pairwise(rows)):
        titled, item = _HEADING.match(row), _ITEM.match(row)
        underlined = bool(row.strip() and _UNDERLINE.match(following))
        breaks = bool(titled or underlined or _RULE.match(row))

        if run and (breaks or item or not _goes_on(run[-1], row)):
            under = f"{heading} {intro}".strip()
            spans = list(split_sentences("\n".join(run)))
            deeper = not row.strip() and indents[at] >= _indent(run[-1]) + INDENTED
            if spans and (spans[-1].endswith(":") or (deeper and not _ENDED.search(spans[-1]))):
                intro = plain(spans.pop())
            yield from ((span, under) for span in spans)
            run = []

        if titled or underlined:
            heading, intro = titled[1] if titled else row.strip(), ""
        elif "|" in row and "-" in following and _RULE.match(following):
            intro = plain(row)
        elif not breaks:
            intro = intro if run or item or "|" in row else ""
            run.append(" " * item.end() + row[item.end() :] if item else row)


def _next_indents(rows: Sequence[str]) -> list[int]:
    """Return for each row how far the first row from it on that is not blank is indented."""
    found, last = [0] * len(rows), 0
    for at in range(len(rows) - 1, -1, -1):
        last = _indent(rows[at]) if rows[at].strip() else last
        found[at] = last
    return found


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _unfenced(text: str) -> Iterator[str]:
    """Yield the lines of a text; those of a fenced block, and of a session with its results, come as empty ones."""
    fenced = session = False
    for row in text.split("\n"):
        fence = bool(_FENCE.match(row))
        session = bool(row.strip()) and (session or row.lstrip().startswith(">>>"))
        yield "" if fenced or fence or session else row
        fenced ^= fence


def _goes_on(before: str, row: str) -> bool:
    """Tell whether a line is the rest of the one before it."""
    return len(before.strip()) >= FULL_LINE and not _BEGINS.match(row)
