"""The lines of a text that can be quoted: sentences, list items and table rows, as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from drift.core.sentence_ends import ends_in_a_stop, split_sentences

LONGEST = 400
"""Characters of a line to quote; a longer one would hide what was asked for."""
FULL_LINE = 50
"""Characters from which a line may go on in the next one, because an editor has wrapped it."""

_FENCE = re.compile(r"\s*(?:```|~~~(?!~))")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"[\s|:=*\-~^_+.]*$")
_UNDERLINE = re.compile(r"\s*([=*\-~^\"'+#.])\1{2,}\s*$")
_ITEM = re.compile(r"(?:\s*(?:[*+\-•–>]|(?:\d{1,3}|[a-z])[.)])(?:\s+\[[ xX]\])?\s+)+")
_BEGINS = re.compile(r"\s*(?:\||\d+[.:/-]\d\S*\s+\S)")
_CODE = re.compile(
    r"::=|>>>|[-=*~]{4}|^\s*\.\.\.? |[=!]=|;\s*$|: (?:raise|return|pass)\b|"
    r"^\s*(?:\w+ = |@\w|def |class |import |from \w+ import)",
    re.MULTILINE,
)
_VERSION_NOTE = re.compile(r"(?:Added|Changed|Deprecated|Removed) (?:in|since) version ")


@dataclass(frozen=True, slots=True)
class Line:
    """A line to quote: `span` as it stands in its text, `text` to be read, `under` its headings."""

    span: str
    text: str
    under: str = ""

    @property
    def whole(self) -> bool:
        """Whether it ends as a sentence does."""
        return ends_in_a_stop(self.text)


@lru_cache(maxsize=20_000)
def lines(text: str) -> tuple[Line, ...]:
    """Return the quotable lines of a text, in order: no headings, code or notes on versions."""
    found = []
    for span, under in _spans(text):
        is_noise = _CODE.search(span) or _VERSION_NOTE.match(span)
        if len(span) <= LONGEST and any(map(str.isalnum, span)) and not is_noise:
            found.append(Line(span, plain(span), under))

    return tuple(found)


def unwrapped(sentence: str) -> str:
    """Return a sentence on one line; items, rows, code and fields of a form stay as they are."""
    rows = sentence.split("\n")
    fields = sum(": " in row for row in rows)
    is_apart = any(
        not row.strip()
        or "|" in row
        or row.rstrip().endswith(":")
        or any(sign.match(row) for sign in (_HEADING, _ITEM, _FENCE, _RULE))
        for row in rows
    )
    if is_apart or fields > 1 or not ends_in_a_stop(sentence) or _CODE.search(sentence):
        return sentence
    return " ".join(row.strip() for row in rows)


def plain(span: str) -> str:
    """Return a slice as it is read: on one line, without the bars of a row or stars all around."""
    text = " ".join(span.split()).strip("| ")
    bold = re.fullmatch(r"\*\*([^*]+)\*\*", text)
    return bold[1] if bold else text


def _spans(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences, items and rows of a text, each with what it stands under.

    That is the heading, and the head of a table or the line that introduces a list. What only
    introduces is not yielded.
    """
    heading = intro = ""
    run: list[str] = []

    for row, following in pairwise([*_unfenced(text), "", ""]):
        titled, item = _HEADING.match(row), _ITEM.match(row)
        underlined = bool(row.strip() and _UNDERLINE.match(following))
        breaks = bool(titled or underlined or _RULE.match(row))

        if run and (breaks or item or not _goes_on(run[-1], row)):
            under = f"{heading} {intro}".strip()
            spans = list(split_sentences("\n".join(run)))
            if spans and spans[-1].endswith(":"):
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


def _goes_on(row: str, following: str) -> bool:
    """Tell whether a line goes on in the next one: it is full, or stops within a sentence."""
    if not following.strip() or _BEGINS.match(following):
        return False
    if len(row.strip()) >= FULL_LINE:
        return True
    said, rest = row.strip(), following.strip()
    is_row = "|" in row or ":" in said or ends_in_a_stop(said)
    return not is_row and len(said.split()) > 1 and (rest[0].islower() or rest[0] in '/("“„«')


def _unfenced(text: str) -> Iterator[str]:
    """Yield the lines of a text, empty ones in place of a fenced block or a session."""
    fenced = session = False
    for row in text.split("\n"):
        fence = bool(_FENCE.match(row))
        session = bool(row.strip()) and (session or row.lstrip().startswith(">>>"))
        yield "" if fenced or fence or session else row
        fenced ^= fence
