"""Pure: sentences as they come, as one text in Markdown: the line and the heading of each."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from drift.core.sentence_ends import ends_in_a_stop
from drift.model.tree import Fact


class Rank(IntEnum):
    """The rank of a part: it ends the reach of parts of its own rank or a higher one.

    Headings have 1 to 6, and items 20 and more, by their indentation.
    """

    RULE = 0
    BOLD_LINE = 7
    PROVEN_INTRODUCTION = 8
    TEXT = 9
    INTRODUCTION = 10
    ITEM = 20
    TABLE_HEAD = 200
    DELIMITERS = 201
    ROW = 202
    CODE = 203


class _LineStart(NamedTuple):
    """The beginning of a line: the line breaks before it, its marker, and its rank."""

    breaks: int
    marker: str
    rank: int


class PlacedText(NamedTuple):
    """The words of a sentence without the marker of a list, and the number of their line."""

    words: str
    rank: int
    line: int
    begins_line: bool
    facts: tuple[Fact, ...] = ()


_MARKER = re.compile(
    r"(?:>[ \t]?)*+(?:(?:[-*+\u2022\u2013]|\d{1,3}[.)]|[a-zA-Z]\))[ \t]+(?:\[[ xX]\][ \t]+)?)?+"
)
"""The marker of an item or a quotation; it may be empty."""
_LINE_RANKS = (
    (Rank.CODE, re.compile(r"\A(?:```|~~~)")),
    (Rank.RULE, re.compile(r"\A([-*_])(?:[ \t]*+\1){2,}+\Z")),
    (Rank.BOLD_LINE, re.compile(r"\A(\*\*|__)(?!\s)(?:(?!\1).)+\1:?\Z")),
    (Rank.DELIMITERS, re.compile(r"\A\|[ \t|:]*+-[ \t|:-]*+\Z")),
    (Rank.ROW, re.compile(r"\A\|")),
)


class Layout:
    """A text in Markdown that grows by sentences, rows, items, headings and blocks of code."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.text = ""
        self._lines: list[_LineStart] = []
        self._written = -1
        """The last line of which something is written."""

    def place(self, said: str, *, is_proven: bool = True) -> PlacedText:
        """Return where a sentence stands behind those that were placed before it."""
        words = said.strip()
        space = said[: len(said) - len(said.lstrip())]
        before = self._lines[-1].rank if self._lines else Rank.RULE
        rank = _rank(words)
        if rank == Rank.BOLD_LINE and (is_proven or ends_in_a_stop(words)):
            rank = Rank.TEXT
        if rank == Rank.ROW and not (
            is_proven or before in {Rank.TABLE_HEAD, Rank.DELIMITERS, Rank.ROW}
        ):
            rank = Rank.TABLE_HEAD
        if rank == Rank.CODE and words[:3] not in words[3:].rpartition("\n")[2]:
            words = f"{words}\n{words[:3]}"  # an open block would take in the next lines
        marker = ""
        if rank == Rank.TEXT and (found := _MARKER.match(words)) and (marker := found[0]):
            words = words[len(marker) :]
            indent = space.rpartition("\n")[2]
            rank = Rank.ITEM + min(len((indent + marker).expandtabs(4)) - len(marker), 100)
            marker = indent + marker

        in_item = Rank.ITEM <= before < Rank.TABLE_HEAD and space
        goes_on = rank == Rank.TEXT and "\n" not in space
        if goes_on and (before == Rank.TEXT or in_item):
            return PlacedText(words, before, len(self._lines) - 1, begins_line=False)

        self._lines.append(_LineStart(min(space.count("\n"), 2), marker, rank))
        return PlacedText(words, rank, len(self._lines) - 1, begins_line=True)

    def write(self, part: PlacedText) -> str:
        """Append a part, and return its words; a rule opens no text."""
        if self.text or part.rank != Rank.RULE:
            self.text += self._before(part) + part.words
        self._written = part.line
        return part.words

    def _before(self, part: PlacedText) -> str:
        if part.line == self._written:
            return "" if self.text[-1] >= "\u3000" else " "

        line = self._lines[part.line]
        if not self.text:
            return line.marker.lstrip()
        breaks = max(one.breaks for one in self._lines[self._written + 1 : part.line + 1])
        is_alike = _kind(line.rank) == _kind(self._lines[self._written].rank)
        default = 1 if is_alike and line.rank not in {Rank.TEXT, Rank.CODE} else 2
        return "\n" * (breaks or default) + line.marker


def _kind(rank: int) -> int:
    """Return a number for headings and text, and others for lists, tables, and code."""
    return sum(rank >= least for least in (Rank.ITEM, Rank.TABLE_HEAD, Rank.CODE))


def _rank(words: str) -> int:
    """Return the rank of words that are no item of a list."""
    if heading := re.match(r"(#{1,6})[ \t]", words):
        return len(heading[1])
    return next((rank for rank, form in _LINE_RANKS if form.match(words)), Rank.TEXT)
