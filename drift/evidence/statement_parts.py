"""Pure: an answer in Markdown cut into parts that stand or fall each by itself.

A part is a sentence, a row of a table, a block of code, or a heading. What ends it is seen in what
follows at once: so an answer that grows has the same parts as the whole, but for its last ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from drift.evidence.marks import LEADING_TO_A_MARK, Mark, Numbers, items_open, marks_in, without
from drift.evidence.sentence_ends import STOPS, Span, open_from, sentence_ends

_MANY_WORDS = 20  # an introduction with more says something itself


class Rank(IntEnum):
    """What a part stands under: a part ends the reach of those that have its rank or a higher one.

    Headings have 1 to 6, and items 20 and more, by their indentation.
    """

    RULE = 0
    BOLD_LINE = 7
    MARKED_INTRODUCTION = 8
    TEXT = 9
    INTRODUCTION = 10
    ITEM = 20
    TABLE_HEAD = 200
    ROW = 201
    CODE = 202


class _AnswerLine(NamedTuple):
    """A line of sentences that goes on: where its words begin, and what its first ones tell."""

    start: int
    rank: int
    numbers_lead: bool = False
    counts: bool = False


class _Place(NamedTuple):
    """What is known behind a part: where the next one begins, and in which line, if in one.

    `square_seen` says that marks in square brackets came before, so that weak ones are prose.
    """

    at: int = 0
    line: _AnswerLine | None = None
    square_seen: bool = False


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A part of an answer.

    `before` is the white space and the marker of a list that stand between it and the part before
    it; `raw` are its words with their marks, `text` those without. Reading goes on from `behind`.
    """

    before: str
    raw: str
    rank: int
    marks: tuple[Mark, ...] = ()
    begins_line: bool = True
    ends_line: bool = True
    behind: _Place = field(default=_Place(), compare=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        text = without(self.raw, self.marks).strip()
        if self.marks and self.marks[0].start == 0 and text[:1] in {",", ";", ":", "."}:
            text = text[1:].lstrip()
            text = text[:1].upper() + text[1:]
        object.__setattr__(self, "text", text)


_MARKER = re.compile(
    r"(?P<indent>[ \t]*)(?P<marker>(?:>[ \t]?)*(?:[-*+\u2022\u2013][ \t]+|\d{1,3}[.)][ \t]+"
    r"|\(\d{1,3}\)[ \t]+|[a-zA-Z]\)[ \t]+)?(?:\[[ xX]\][ \t]+)?)"
)
_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_DELIMITERS = re.compile(r"[ \t]*\|(?=[ \t|:]*-)[ \t|:-]*$")
_OTHERS = {
    Rank.CODE: _FENCE.match,
    Rank.RULE: re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$").match,
    Rank.BOLD_LINE: re.compile(r"[ \t]*(\*\*|__)(?!\s)(?:(?!\1).)+\1:?[ \t]*$").match,
}
_FIRST_WORD = re.compile(r"[\"'`\u201c\u201e\u00ab\u2018]?(?P<letters>[^\W\d]\w*)(?P<ends>\s)?")


class _LineGroup(NamedTuple):
    """One or more lines that are read together; those of sentences have no rank of their own."""

    start: int
    end: int
    rank: int | None


class StatementParts:
    """The parts of an answer that grows; what has settled is not looked at again."""

    def __init__(self, known: Collection[int]) -> None:
        """Begin with nothing; `known` are the numbers of the facts."""
        self._known = Numbers.of(known)
        self._place = _Place()

    @property
    def at(self) -> int:
        """Behind the last part that has settled."""
        return self._place.at

    def read(self, answer: str, *, complete: bool) -> list[StatementPart]:
        """Return the parts that have settled since the last call.

        The answer begins with the one of the call before, at least as far as parts have settled.
        """
        begun = answer if complete else answer[: open_from(answer, self._place.at)]
        parts = list(_parts(begun, self._known, self._place))
        if not complete:
            del parts[_settled(parts) :]
        if parts:
            self._place = parts[-1].behind

        return parts


def _parts(answer: str, known: Numbers, place: _Place) -> Iterator[StatementPart]:
    for group in _line_groups(answer, known, place):
        if group.rank is None:
            for part in _sentences(answer, group, known, place):
                place = part.behind
                yield part
            continue

        raw = answer[group.start : group.end]
        marks = () if group.rank == Rank.CODE else tuple(marks_in(raw, known))
        square_seen = place.square_seen or any(not mark.weak for mark in marks)
        behind = _Place(group.end, square_seen=square_seen)
        yield StatementPart(answer[place.at : group.start], raw, group.rank, marks, behind=behind)
        place = behind


def _line_groups(answer: str, known: Numbers, place: _Place) -> Iterator[_LineGroup]:
    """Yield what is read together: a line of text with what continues it, a row, a heading."""
    lines = [line for line in _LINE.finditer(answer, place.at) if not line[0].isspace()]
    goes_on = place.line is not None
    at = 0
    while at < len(lines):
        line = lines[at]
        start = line.start()
        at += 1
        rank = None if goes_on else _rank(line[0], lines[at : at + 1])
        if not goes_on and not _marker(line[0]):
            start += len(line[0]) - len(line[0].lstrip())

        goes_on = False

        if rank == Rank.CODE:
            at = _code_ends(lines, at)
        elif rank == Rank.TABLE_HEAD:
            at += 1
        elif rank is None:
            while at < len(lines) and _continues(answer, lines[at - 1], lines[at], known):
                at += 1

        last = lines[at - 1]
        end = last.start() + len(last[0].rstrip()) if rank is None else last.end()
        yield _LineGroup(start, end, rank)


def _code_ends(lines: Sequence[re.Match[str]], at: int) -> int:
    fence = _FENCE.match(lines[at - 1][0])
    while fence and at < len(lines):
        line = lines[at][0].strip()
        at += 1
        if line.startswith(fence[1]) and not line.strip("`~"):
            break

    return at


def _rank(line: str, following: Sequence[re.Match[str]]) -> int | None:
    """Return the rank of a line that holds no sentences; None where it does."""
    if line.lstrip(" \t").startswith("|"):
        is_head = following and _DELIMITERS.match(following[0][0])
        return Rank.TABLE_HEAD if is_head else Rank.ROW
    if heading := re.match(r"[ \t]{0,3}(#{1,6})[ \t]+\S", line):
        return len(heading[1])
    return next((rank for rank, match in _OTHERS.items() if match(line)), None)


def _continues(
    answer: str, before: re.Match[str], following: re.Match[str], known: Numbers
) -> bool:
    """Whether a line is the rest of a sentence begun before it, or nothing but marks."""
    line = following[0].strip()
    only = marks_in(line, known)
    if only and not without(line, only).strip(" .,;"):
        return True

    is_apart = answer.count("\n", before.end(), following.start()) > 1
    if is_apart or before[0].rstrip()[-1:] in f"{STOPS}:;]|\u3011)":
        return False
    return line[0].islower() and not _marker(following[0])


def _marker(line: str) -> str:
    """Return what makes a line an item or a quotation, with its indentation; else nothing."""
    found = _MARKER.match(line)
    return found[0] if found and found["marker"] else ""


def _sentences(
    answer: str, group: _LineGroup, known: Numbers, place: _Place
) -> Iterator[StatementPart]:
    """Yield the sentences of a line, the first with the marker of its list."""
    before = answer[place.at : group.start]
    line = place.line
    begins = line is None
    if line is None:
        prefix = _marker(answer[group.start : group.end])
        indent = before.rpartition("\n")[2] + prefix[: len(prefix) - len(prefix.lstrip())]
        rank = Rank.ITEM + min(len(indent.expandtabs(4)), 100) if prefix else Rank.TEXT
        line = _AnswerLine(group.start + len(prefix), rank)
        before += prefix

    body = answer[line.start : group.end]
    at = 0 if begins else place.at - line.start

    marks = marks_in(body, known, at, counts=line.counts)
    if begins:
        numbers_lead = bool(marks and not marks[0].start and body[marks[0].end :].strip())
        line = line._replace(numbers_lead=numbers_lead)

    items_from = 0 if line.counts else items_open(body, at)
    starts = [mark.start for mark in marks]
    spans = [Span(mark.start, mark.end) for mark in marks]
    ends = list(sentence_ends(body, spans, at, numbers_lead=line.numbers_lead))
    square_seen = place.square_seen
    for at, end in pairwise([at, *ends]):  # noqa: B020 - where each begins
        words_at = end - len(body[at:end].lstrip())
        here = marks[bisect_left(starts, words_at) : bisect_left(starts, end)]
        square_seen = square_seen or any(not mark.weak for mark in here)
        counted = tuple(mark.moved(-words_at) for mark in here if not (mark.weak and square_seen))

        is_first, is_last = begins and at == 0, end == ends[-1]
        opening = (before if is_first else "") + body[at:words_at]
        goes_on = None if is_last else line._replace(counts=items_from < end)
        behind = _Place(group.end if is_last else line.start + end, goes_on, square_seen)
        part = StatementPart(
            opening, body[words_at:end], line.rank, counted, is_first, is_last, behind
        )
        if part.rank == Rank.TEXT and introduces(part):
            part = replace(part, rank=Rank.MARKED_INTRODUCTION if counted else Rank.INTRODUCTION)

        yield part


def introduces(part: StatementPart) -> bool:
    """Whether a part says only that something follows: it ends in a colon and is short."""
    text = part.text.rstrip("*_ ")
    return part.ends_line and text.endswith((":", "\uff1a")) and len(text.split()) <= _MANY_WORDS


def _settled(parts: Sequence[StatementPart]) -> int:
    """Return how many parts of a growing answer stay as they are, whatever follows.

    How a part ends shows in the first word after it, in its first letters where no word that
    leads to a mark begins so. What begins with another sign may yet become a mark.
    """
    word = _FIRST_WORD.match(parts[-1].raw) if parts else None
    begun = word["letters"].casefold() if word else ""
    may_lead = any(one.startswith(begun) for one in LEADING_TO_A_MARK)
    shows = word and (word["ends"] or not may_lead)
    return max(len(parts) - (1 if shows else 2), 0)
