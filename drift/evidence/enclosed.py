"""Pure: code, quotations, brackets and words in bold, within which no sentence ends.

Each stands on one line. A text is gone through once, however many of them stay open.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

_OPENING = re.compile(r"`+|[\"\u201c\u201e\u00ab(\u3010\[]|\*\*")
_ENDS = {
    '"': re.compile(r"[\"\n]"),
    "\u201c": re.compile(r"[\u201d\n]"),
    "\u201e": re.compile(r"[\u201c\u201d\n]"),
    "\u00ab": re.compile(r"[\u00bb\n]"),
    "(": re.compile(r"[()\n]"),
    "\u3010": re.compile(r"[\u3011\n]"),
    "[": re.compile(r"[\[\]\n]"),
    "**": re.compile(r"\*\*|\n"),
    "\n": re.compile(r"\n"),
}
"""What is looked for behind each opening: what closes it, and what it cannot hold."""
_HOLDS_NONE = frozenset("([\n")
_TICKS = re.compile("`+")


class Span(NamedTuple):
    """Where something stands in a text: its start, and the end behind it."""

    start: int
    end: int


def enclosed(text: str, start: int = 0) -> list[Span]:
    """Return what is enclosed in a text from `start` on, which is not within something, in order.

    The outer one counts where one holds another.
    """
    found = []
    behind = _Behind(text)
    at = start
    while opening := _OPENING.search(text, at):
        at = opening.end()
        if end := behind.of(opening):
            found.append(Span(opening.start(), end))
            at = end
    return found


def code_in(text: str, start: int = 0) -> list[Span]:
    """Return where code between backticks stands in a text from `start` on."""
    if text.find("`", start) < 0:
        return []
    found = []
    behind = _Behind(text)
    at = start
    while opening := _TICKS.search(text, at):
        at = behind.of(opening) or opening.end()
        if at > opening.end():
            found.append(Span(opening.start(), at))
    return found


class _Behind:
    """Finds what closes an opening; what was found lies ahead of the openings that follow too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ahead: dict[str, int] = {}
        self._runs: dict[int, list[int]] | None = None

    def of(self, opening: re.Match[str]) -> int:
        """Return the end of what an opening encloses; 0 where it is not closed on its line."""
        sign, start, end = opening[0], *opening.span()
        if sign[0] == "`":
            return self._code(len(sign), end)
        if sign == "**":
            end += not self._text.startswith("\n", end)
        at = self._next(sign, end)
        if at >= len(self._text) or self._text[at] in _HOLDS_NONE:
            return 0
        return at + len(sign) if at > start else 0

    def _next(self, sign: str, start: int) -> int:
        """Return where the next end of this kind stands; the text's length where there is none."""
        known = self._ahead.get(sign, -1)
        if known < start:
            found = _ENDS[sign].search(self._text, start)
            known = self._ahead[sign] = found.start() if found else len(self._text)
        return known

    def _code(self, length: int, start: int) -> int:
        """Return the end of code behind so many backticks: as many, and no more, on its line."""
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        runs = self._runs.get(length, [])
        at = bisect_left(runs, start)
        if at == len(runs) or self._next("\n", start) < runs[at]:
            return 0
        return runs[at] + length
