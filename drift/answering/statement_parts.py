"""Pure: an answer in Markdown cut into parts that stand or fall each by itself.

A part is a sentence, a row of a table, a block of code, or a heading. A part ends where a reader
would end it, and what ends it is seen in what follows at once: so an answer that grows has the
same parts as the whole, but for its last ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from drift.answering.marks import LEADING_TO_A_MARK, STOPS, Mark, marks_in, without
from drift.answering.sentence_ends import sentence_ends


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


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer.

    `before` is the white space and the marker of a list that stand between it and the part before
    it; `raw` are its words with their marks.
    """

    before: str
    raw: str
    rank: int
    marks: tuple[Mark, ...] = ()
    begins_line: bool = True
    ends_line: bool = True

    @property
    def text(self) -> str:
        """The words without marks."""
        text = without(self.raw, self.marks).strip()
        if self.marks and self.marks[0].start == 0 and text[:1] in {",", ";", ":", "."}:
            text = text[1:].lstrip()
            text = text[:1].upper() + text[1:]
        return text

    @property
    def is_emphasised(self) -> bool:
        """Whether it is a few words in bold or italics."""
        text = self.text.rstrip(":.")
        return (
            text[:1] in {"*", "_"}
            and text[-1:] == text[0]
            and len(text.split()) <= _FEW_EMPHASISED_WORDS
        )

    @property
    def says_something(self) -> bool:
        """Whether something is lost where it is left out: it is a sentence, an item or a row."""
        plain = self.text.rstrip("*_: ")
        if not plain or self.rank in {Rank.TABLE_HEAD, Rank.CODE}:
            return False
        return self.rank >= Rank.MARKED_INTRODUCTION and bool(self.marks or not introduces(self))


_MARKER = re.compile(
    r"(?P<indent>[ \t]*)(?P<marker>(?:>[ \t]?)*(?:[-*+\u2022\u2013][ \t]+|\d{1,3}[.)][ \t]+"
    r"|\(\d{1,3}\)[ \t]+|[a-zA-Z]\)[ \t]+)?(?:\[[ xX]\][ \t]+)?)"
)
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+\S")
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ROW = re.compile(r"[ \t]*\|")
_DELIMITERS = re.compile(r"[ \t]*\|[ \t|:-]*-[ \t|:-]*$")
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)(?!\s)(?:(?!\1).)+\1:?[ \t]*$")
_OPENING_QUOTES = frozenset("\"\u201c\u201e\u00ab\u2018'")
_CLOSING_QUOTES = frozenset("\"\u201d\u201c\u00bb\u2019'")
_CLOSERS = "\"'\u201d\u2019\u00bb\u203a)]*_"
_FIRST_WORD = re.compile(r"[\"'`\u201c\u201e\u00ab\u2018]?(?P<letters>[^\W\d]\w*)(?P<ends>\s)?")
_FEW_WORDS = 4
_FEW_EMPHASISED_WORDS = 8
_MANY_WORDS = 20
"""An introduction with more says something itself."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One or more lines that are read together, from `start` to `end` of the answer."""

    start: int
    end: int
    kind: str


def parts_of(answer: str, known: Collection[int]) -> list[Part]:
    """Return the parts of an answer in order; `known` are the numbers of the facts."""
    parts: list[Part] = []
    position = 0
    square_seen = False
    blocks = list(_blocks(answer, known))
    for block in blocks:
        between = answer[position : block.start]
        raw = answer[block.start : block.end]
        position = block.end
        if block.kind == "text":
            found = list(_sentences(between, raw, known, square_seen=square_seen))
        else:
            found = [_whole(between, raw, block, known)]
        square_seen = square_seen or any(not m.weak for part in found for m in part.marks)
        parts.extend(found)
    return parts


def _whole(between: str, raw: str, block: _Block, known: Collection[int]) -> Part:
    """Return a line or a block of code as one part."""
    ranks = {"rule": Rank.RULE, "bold": Rank.BOLD_LINE, "code": Rank.CODE}
    ranks |= {"head": Rank.TABLE_HEAD, "row": Rank.ROW}
    rank: int = ranks.get(block.kind, Rank.ROW)
    if block.kind == "heading":
        rank = len(raw) - len(raw.lstrip("#"))
    marks = () if block.kind == "code" else tuple(marks_in(raw, known))
    return Part(between, raw, rank, marks)


def _blocks(answer: str, known: Collection[int]) -> Iterator[_Block]:
    """Yield what is read together: a line of text with what continues it, a row, a heading."""
    lines = [(m.start(), m.end(), m[0]) for m in re.finditer(r"[^\n]+", answer) if m[0].strip()]
    at = 0
    while at < len(lines):
        start, end, line = lines[at]
        start += 0 if _marker(line) else len(line) - len(line.lstrip())
        at += 1
        if fence := _FENCE.match(line):
            while at < len(lines):
                _, end, line = lines[at]
                at += 1
                if line.strip().startswith(fence[1]) and not line.strip().strip("`~"):
                    break
            yield _Block(start, end, "code")
            continue
        if kind := _kind(line, lines[at][2] if at < len(lines) else ""):
            at += kind == "head"
            yield _Block(start, lines[at - 1][1], kind)
            continue
        while at < len(lines) and _continues(answer[start:end], answer[end : lines[at][1]], known):
            end = lines[at][1]
            at += 1
        yield _Block(start, start + len(answer[start:end].rstrip()), "text")


def _kind(line: str, following: str) -> str:
    if _HEADING.match(line):
        return "heading"
    if _RULE.match(line):
        return "rule"
    if _ROW.match(line):
        return "head" if _DELIMITERS.match(following) else "row"
    return "bold" if _BOLD_LINE.match(line) else ""


def _continues(text: str, following: str, known: Collection[int]) -> bool:
    """Whether a line is the rest of a sentence begun before it, or nothing but marks."""
    line = following.strip()
    only = marks_in(line, known)
    if only and not without(line, only).strip(" .,;"):
        return True
    gap = following[: len(following) - len(following.lstrip())]
    if gap.count("\n") > 1 or text.rstrip()[-1:] in f"{STOPS}:;]|\u3011)":
        return False
    return line[0].islower() and not _marker(following.lstrip("\n"))


def _marker(line: str) -> str:
    """Return what makes a line an item or a quotation, with its indentation; else nothing."""
    found = _MARKER.match(line)
    return found[0] if found and found["marker"] else ""


def _sentences(
    between: str, raw: str, known: Collection[int], *, square_seen: bool
) -> Iterator[Part]:
    """Yield the sentences of a line, the first with the marker of its list."""
    prefix = _marker(raw)
    body = raw[len(prefix) :]
    indent = between.rpartition("\n")[2] + prefix[: len(prefix) - len(prefix.lstrip())]
    rank = Rank.ITEM + min(len(indent.expandtabs(4)), 100) if prefix else Rank.TEXT

    marks = marks_in(body, known)
    starts = [mark.start for mark in marks]
    ends = list(sentence_ends(body, marks))
    at = 0
    for end in ends:
        words_at = at + len(body[at:end]) - len(body[at:end].lstrip())
        here = marks[bisect_left(starts, words_at) : bisect_left(starts, end)]
        square_seen = square_seen or any(not m.weak for m in here)
        counted = tuple(
            replace(m, start=m.start - words_at, end=m.end - words_at)
            for m in here
            if not (m.weak and square_seen)
        )
        before = body[at:words_at] if at else between + prefix + body[:words_at]
        part = Part(before, body[words_at:end], rank, counted, at == 0, end == ends[-1])
        if rank == Rank.TEXT and introduces(part):
            introduction = Rank.MARKED_INTRODUCTION if counted else Rank.INTRODUCTION
            part = replace(part, rank=introduction)
        yield part
        at = end


def introduces(part: Part) -> bool:
    """Whether a part says only that something follows: it ends in a colon and is short."""
    text = part.text.rstrip("*_ ")
    return part.ends_line and text.endswith((":", "\uff1a")) and len(text.split()) <= _MANY_WORDS


def is_label(part: Part) -> bool:
    """Whether a part is kept only with something under it.

    That is a heading, a line in bold, the head of a table, a line that introduces a list, and an
    item without a fact that is no sentence.
    """
    if part.rank in {Rank.INTRODUCTION, Rank.MARKED_INTRODUCTION, Rank.TABLE_HEAD, Rank.BOLD_LINE}:
        return True
    if part.rank < Rank.BOLD_LINE:
        return True
    if not Rank.ITEM <= part.rank < Rank.TABLE_HEAD:
        return False
    ends_in_a_stop = part.text.rstrip(_CLOSERS)[-1:] in STOPS
    whole = part.begins_line and part.ends_line
    return introduces(part) or (whole and not part.marks and not ends_in_a_stop)


def may_lead_in(part: Part) -> bool:
    """Whether a part leads to the sentence after it: a fragment, words in bold, or a quotation."""
    quoted = part.text[:1] in _OPENING_QUOTES and part.text[-1:] in _CLOSING_QUOTES
    few = len(part.text.split()) <= _FEW_WORDS
    return not (part.ends_line or part.marks) and (part.is_emphasised or quoted or few)


def settled(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the parts of a growing answer that stay as they are, whatever follows.

    How a part ends shows in the first word after it, and in its first letters where no word that
    leads to a mark begins so; a quotation mark may stand before it. What begins with a digit, a
    bracket or another sign may yet become a mark or a marker, and shows nothing.
    """
    if not parts:
        return ()
    word = _FIRST_WORD.match(parts[-1].raw)
    begun = word["letters"].casefold() if word else ""
    leads = any(one.startswith(begun) for one in LEADING_TO_A_MARK)
    shows = word and (word["ends"] or not leads)
    return parts[: -1 if shows else -2]
