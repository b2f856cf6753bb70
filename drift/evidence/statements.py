"""Pure: a final answer that says only what checked facts bear out.

The model gives its sentences as data, each with the numbers of its facts. What names a fact that
holds is delivered; what names none is left out and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import compress
from typing import NamedTuple

from drift.contracts.final_replies import SentenceReply
from drift.core.sentence_ends import ends_in_a_stop
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.contradiction import uncontradicted
from drift.model.tree import Fact

_MANY_WORDS = 20  # an introduction with more says something itself
_FEW_WORDS = 8
_SHORT_ANSWERS = frozenset("yes no ja nein oui non sí si".split())  # noqa: SIM905
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the final answer, its facts, and where it `ends` there."""

    text: str
    facts: tuple[Fact, ...]
    ends: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Proven:
    """What of a final answer is delivered, as Markdown, its statements, and what was left out."""

    text: str = ""
    statements: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()


def proven(sentences: Iterable[SentenceReply], facts: Sequence[Fact]) -> Proven:
    """Return what of a final answer names a fact of these; headings with the first item below."""
    growing = GrowingStatements(facts)
    for sentence in sentences:
        growing.add(sentence)
    return growing.end()


def joined(sentences: Iterable[SentenceReply]) -> str:
    """Return all sentences as one text in Markdown, whatever bears them out."""
    layout = _Layout()
    for sentence in sentences:
        layout.write(layout.place(sentence.text))
    return layout.text


# ---------------------------------------------------------------------------------- parts and lines


class _Rank(IntEnum):
    """What a part stands under: it ends the reach of those that have its rank or a higher one.

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


class _Line(NamedTuple):
    """Where a line begins: the line breaks before it, its marker, and what it is."""

    breaks: int
    marker: str
    rank: int


class _Part(NamedTuple):
    """The words of a sentence without the marker of a list, and the number of their line."""

    words: str
    rank: int
    line: int
    begins_line: bool
    facts: tuple[Fact, ...] = ()


_MARKER = re.compile(
    r"(?:>[ \t]?)*+(?:(?:[-*+\u2022\u2013]|\d{1,3}[.)]|[a-zA-Z]\))[ \t]+(?:\[[ xX]\][ \t]+)?)?+"
)
"""What makes a line an item or a quotation; it may be nothing."""
_LINE_RANKS = (
    (_Rank.CODE, re.compile(r"\A(?:```|~~~)")),
    (_Rank.RULE, re.compile(r"\A([-*_])(?:[ \t]*+\1){2,}+\Z")),
    (_Rank.BOLD_LINE, re.compile(r"\A(\*\*|__)(?!\s)(?:(?!\1).)+\1:?\Z")),
    (_Rank.DELIMITERS, re.compile(r"\A\|[ \t|:]*+-[ \t|:-]*+\Z")),
    (_Rank.ROW, re.compile(r"\A\|")),
)
_WITHIN_A_TABLE = frozenset({_Rank.TABLE_HEAD, _Rank.DELIMITERS, _Rank.ROW})
_HEADING = re.compile(r"(#{1,6})[ \t]")


class _Layout:
    """A text in Markdown that grows by sentences, rows, items, headings and blocks of code."""

    def __init__(self) -> None:
        self.text = ""
        self._lines: list[_Line] = []
        self._written = -1
        """The last line of which something is written."""

    def place(self, said: str, *, is_proven: bool = True) -> _Part:
        """Return where a sentence stands behind those that were placed before it."""
        words = said.strip()
        space = said[: len(said) - len(said.lstrip())]
        before = self._lines[-1].rank if self._lines else _Rank.RULE
        rank = _rank(words)
        if rank == _Rank.BOLD_LINE and (is_proven or ends_in_a_stop(words)):
            rank = _Rank.TEXT
        if rank == _Rank.ROW and not (is_proven or before in _WITHIN_A_TABLE):
            rank = _Rank.TABLE_HEAD
        if rank == _Rank.CODE and words[:3] not in words[3:].rpartition("\n")[2]:
            words = f"{words}\n{words[:3]}"  # an open block would take in what follows
        marker = ""
        if rank == _Rank.TEXT and (found := _MARKER.match(words)) and (marker := found[0]):
            words = words[len(marker) :]
            indent = space.rpartition("\n")[2]
            rank = _Rank.ITEM + min(len((indent + marker).expandtabs(4)) - len(marker), 100)
            marker = indent + marker

        in_item = _Rank.ITEM <= before < _Rank.TABLE_HEAD and space
        goes_on = rank == _Rank.TEXT and "\n" not in space
        if goes_on and (before == _Rank.TEXT or in_item):
            return _Part(words, before, len(self._lines) - 1, begins_line=False)

        self._lines.append(_Line(min(space.count("\n"), 2), marker, rank))
        return _Part(words, rank, len(self._lines) - 1, begins_line=True)

    def write(self, part: _Part) -> str:
        """Append a part, and return its words; a rule opens no text."""
        if self.text or part.rank != _Rank.RULE:
            self.text += self._before(part) + part.words
        self._written = part.line
        return part.words

    def _before(self, part: _Part) -> str:
        if part.line == self._written:
            return "" if self.text[-1] >= "\u3000" else " "

        line = self._lines[part.line]
        if not self.text:
            return line.marker.lstrip()
        breaks = max(one.breaks for one in self._lines[self._written + 1 : part.line + 1])
        is_alike = _kind(line.rank) == _kind(self._lines[self._written].rank)
        default = 1 if is_alike and line.rank not in {_Rank.TEXT, _Rank.CODE} else 2
        return "\n" * (breaks or default) + line.marker


def _kind(rank: int) -> int:
    """Return a number for headings and text, and others for lists, tables, and code."""
    return sum(rank >= least for least in (_Rank.ITEM, _Rank.TABLE_HEAD, _Rank.CODE))


def _rank(words: str) -> int:
    """Return the rank of what is no item of a list."""
    if heading := _HEADING.match(words):
        return len(heading[1])
    return next((rank for rank, form in _LINE_RANKS if form.match(words)), _Rank.TEXT)


# --------------------------------------------------------------------------------------- statements


class GrowingStatements:
    """A final answer that grows by sentences; `text` is what is delivered of it so far."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        """Begin with nothing."""
        self._facts = {fact.number: fact for fact in facts}
        self._layout = _Layout()
        self._statements: list[Statement] = []
        self._left_out: list[str] = []
        self._labels: list[_Part] = []
        self._leads: list[_Part] = []

    @property
    def text(self) -> str:
        """What is delivered so far, which stays the beginning of the whole."""
        return self._layout.text

    def add(self, sentence: SentenceReply) -> None:
        """Keep a sentence, let it wait for what it introduces, or leave it out."""
        facts = self._named(sentence)
        part = self._layout.place(sentence.text, is_proven=bool(facts))._replace(facts=facts)
        if not _WORD.search(part.words) and part.rank not in {_Rank.DELIMITERS, _Rank.RULE}:
            return

        if part.rank == _Rank.TEXT and _introduces(part.words):
            proves = _Rank.PROVEN_INTRODUCTION if part.facts else _Rank.INTRODUCTION
            part = part._replace(rank=proves)
        if part.begins_line:
            self._leave_out(self._leads)
            self._leads = []

        ended = [one for one in self._labels if _ends(part, one)]
        self._leave_out(ended)
        self._labels = [one for one in self._labels if one not in ended]
        if _is_label(part):
            self._labels.append(part)
        elif part.facts:
            self._keep(part)
        elif _may_lead_in(part):
            self._leads.append(part)
        else:
            self._leave_out([part])

    def end(self) -> Proven:
        """Return what is delivered; labels with nothing under them are left out."""
        self._leave_out([*self._labels, *self._leads])
        return Proven(self.text, tuple(self._statements), tuple(self._left_out))

    def _named(self, sentence: SentenceReply) -> tuple[Fact, ...]:
        """Return the facts that a sentence names and whose figures do not contradict it."""
        numbers = dict.fromkeys(sentence.facts)
        facts = [self._facts[number] for number in numbers if number in self._facts]
        spans = [fact.citation.span for fact in facts]
        return tuple(compress(facts, uncontradicted(sentence.text, spans)))

    def _keep(self, part: _Part) -> None:
        for label in self._labels:
            said = self._layout.write(label)
            if label.facts and _says_something(label):
                self._statements.append(Statement(said, label.facts, len(self.text)))

        held = [_holds_up(one, part.facts) for one in self._leads]
        self._leave_out(compress(self._leads, (not holds for holds in held)))
        words = [self._layout.write(one) for one in compress(self._leads, held)]
        self._labels, self._leads = [], []

        words.append(self._layout.write(part))
        said = _row(part.words) if part.rank == _Rank.ROW else " ".join(words)
        self._statements.append(Statement(said, part.facts, len(self.text)))

    def _leave_out(self, parts: Iterable[_Part]) -> None:
        self._left_out += [one.words for one in parts if _says_something(one)]


def _introduces(words: str) -> bool:
    """Whether a sentence says only that something follows: it ends in a colon and is short."""
    said = words.rstrip("*_ ")
    return said.endswith((":", "\uff1a")) and len(said.split()) <= _MANY_WORDS


def _is_label(part: _Part) -> bool:
    """Whether a part is kept only with something under it.

    That is a heading, a line in bold, the head of a table, a line that introduces a list, and an
    item without a fact that is no sentence.
    """
    if part.rank in {_Rank.TABLE_HEAD, _Rank.DELIMITERS, _Rank.INTRODUCTION}:
        return True
    if part.rank < _Rank.TEXT:
        return True
    if not _Rank.ITEM <= part.rank < _Rank.TABLE_HEAD or not part.begins_line:
        return False
    return _introduces(part.words) or not (part.facts or ends_in_a_stop(part.words))


def _ends(part: _Part, label: _Part) -> bool:
    """Whether a label can have nothing under it any more; a table is under no item but "as:"."""
    if label.line == part.line and part.facts:
        return False
    if part.rank >= _Rank.TABLE_HEAD and _Rank.ITEM <= label.rank < _Rank.TABLE_HEAD:
        return not _introduces(label.words)
    return label.rank >= part.rank


def _may_lead_in(part: _Part) -> bool:
    """Whether a part is a fragment that may lead to the sentence after it."""
    few = len(part.words.split()) <= _FEW_WORDS
    return few and _Rank.TEXT <= part.rank < _Rank.TABLE_HEAD


def _holds_up(part: _Part, facts: Sequence[Fact]) -> bool:
    """Whether a fragment stands in the facts of the sentence behind it: "Paris. It ..."."""
    words = {word.casefold() for word in _WORD.findall(part.words)}
    if words <= _SHORT_ANSWERS:
        return True
    said_by = {word.casefold() for fact in facts for word in _WORD.findall(fact.citation.span)}
    return words - STOP_WORDS_OF_FOUR_LANGUAGES <= said_by


def _says_something(part: _Part) -> bool:
    """Whether something is lost where a part is left out: it is a sentence, an item or a row."""
    if part.rank in {_Rank.TABLE_HEAD, _Rank.DELIMITERS} or part.rank < _Rank.PROVEN_INTRODUCTION:
        return False
    return bool(part.facts) or not _introduces(part.words)


def _row(text: str) -> str:
    """Return the cells of a table's row as words."""
    return ", ".join(cell.strip() for cell in text.strip("|").split("|") if cell.strip())
