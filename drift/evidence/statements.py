"""Pure: a final answer that says only what checked facts bear out.

The model ends each sentence in the numbers of its facts: "Marley was dead [1][3]." What names a
fact is delivered without the numbers; what names none is left out and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import NamedTuple

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.contradiction import uncontradicted
from drift.evidence.marks import Numbers
from drift.evidence.sentence_ends import ends_in_a_stop
from drift.evidence.statement_parts import Rank, StatementPart, StatementParts, introduces
from drift.model.tree import Fact

_WORD = re.compile(r"\w+")
_FEW_WORDS = 4
_FEW_EMPHASISED_WORDS = 8
_OPENING_QUOTES = frozenset("\"\u201c\u201e\u00ab\u2018'")
_CLOSING_QUOTES = frozenset("\"\u201d\u201c\u00bb\u2019'")
_SHORT_ANSWERS = frozenset("yes no ja nein oui non sí si".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the final answer without numbers, its facts, and where it `ends` there."""

    text: str
    facts: tuple[Fact, ...]
    ends: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Proven:
    """What of a final answer is delivered, as Markdown, its statements, and what was left out."""

    text: str = ""
    statements: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()


def proven(final_answer: str, facts: Sequence[Fact]) -> Proven:
    """Return what of a final answer names a fact of these; headings with the first item below."""
    return GrowingStatements(facts).read(final_answer, complete=True)


class _Placed(NamedTuple):
    part: StatementPart
    line: int
    facts: tuple[Fact, ...]


class GrowingStatements:
    """A final answer that grows, read from where it was read before.

    While it is not `complete`, what may yet change is held back, so that the text is the beginning
    of the whole answer's text. `text` is what is delivered so far.
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        """Begin with nothing."""
        by_number = {fact.number: fact for fact in facts}
        self.text = ""
        self._statements: list[Statement] = []
        self._left_out: list[str] = []
        self._parts = StatementParts(by_number)
        self._numbers = Numbers.of(by_number)
        self._facts = [by_number[number] for number in self._numbers]
        self._words: dict[int, frozenset[str]] = {}
        """Those of a fact's span, by its number."""
        self._labels: list[_Placed] = []
        self._leads: list[_Placed] = []
        self._openings: list[str] = []
        """What stands before each line: the end of the line before it, and its marker."""
        self._written = -1
        """The last line of which something is kept."""
        self._code_is_kept = False

    @property
    def at(self) -> int:
        """Behind what has settled of the answer."""
        return self._parts.at

    def more(self, final_answer: str, *, complete: bool) -> None:
        """Read on in an answer, which has not changed up to `at`."""
        for part in self._parts.read(final_answer, complete=complete):
            self._take(part)
        if complete:
            self._leave_out([*self._labels, *self._leads])

    def read(self, final_answer: str, *, complete: bool) -> Proven:
        """Read on in an answer, and return what is delivered of all of it."""
        self.more(final_answer, complete=complete)
        return Proven(self.text, tuple(self._statements), tuple(self._left_out))

    def _take(self, part: StatementPart) -> None:
        """Keep a part, let it wait, or leave it out."""
        if part.begins_line:
            self._openings.append(part.before)
            self._leave_out(self._leads)
            self._leads = []

        placed = _Placed(part, len(self._openings) - 1, self._named(part))
        if part.rank == Rank.CODE:
            if self._code_is_kept:
                self._keep(placed)
            return

        labels, self._labels = self._labels, []
        for one in labels:
            if _ends(part, one.part):
                self._leave_out([one])
            else:
                self._labels.append(one)

        self._code_is_kept = bool(placed.facts)
        if is_label(part):
            self._labels.append(placed)
        elif placed.facts:
            self._keep(placed)
        elif may_lead_in(part):
            self._leads.append(placed)
        else:
            self._leave_out([placed])

    def _named(self, part: StatementPart) -> tuple[Fact, ...]:
        """Return the facts that a part names and none of whose figures contradict it, in order."""
        found: dict[int, Fact] = {}
        for low, high in (one for mark in part.marks for one in mark.ranges):
            for fact in self._facts[self._numbers.within(low, high)]:
                found.setdefault(fact.number, fact)
            if len(found) == len(self._facts):
                break

        # Facts of one sentence; a range of numbers may name more.
        named = tuple(islice(found.values(), 50))
        return tuple(compress(named, uncontradicted(part.text, [f.citation.span for f in named])))

    def _keep(self, placed: _Placed) -> None:
        introduced = placed.part.rank >= Rank.ITEM
        for label in self._labels:
            if introduced or label.part.rank != Rank.INTRODUCTION:
                said = self._write(label)
                if label.facts and _says_something(label.part):
                    self._statements.append(Statement(said, label.facts, len(self.text)))

        self._labels = []

        leads = []
        for one in self._leads:
            if self._holds_up(one.part, placed.facts):
                leads.append(one)
            else:
                self._leave_out([one])

        self._leads = []
        words = [self._write(one) for one in (*leads, placed)]
        if placed.part.rank != Rank.CODE:
            self._statements.append(Statement(" ".join(words), placed.facts, len(self.text)))

    def _write(self, placed: _Placed) -> str:
        """Append a part to the text with what stands before it, and return its words."""
        part, line, _ = placed
        before = part.before
        if line != self._written:
            openings = self._openings[self._written + 1 : line + 1]
            newlines = max(opening.count("\n") for opening in openings)
            marker = openings[-1].rpartition("\n")[2]
            before = "\n" * max(newlines, 1) + marker if self.text else marker.lstrip()
            self._written = line

        said = part.text
        if self.text or part.rank != Rank.RULE:
            self.text += before + said
        return _row(said) if part.rank == Rank.ROW else said

    def _holds_up(self, part: StatementPart, facts: Sequence[Fact]) -> bool:
        """Whether a fragment stands in the facts of the sentence behind it: "Paris. It ..."."""
        words = {word.casefold() for word in _WORD.findall(part.text)}
        if _is_emphasised(part) or words <= _SHORT_ANSWERS:
            return True

        said = words - STOP_WORDS_OF_FOUR_LANGUAGES
        for fact in facts:
            if fact.number not in self._words:
                spoken = _WORD.findall(fact.citation.span)
                self._words[fact.number] = frozenset(word.casefold() for word in spoken)
            said -= self._words[fact.number]
        return not said

    def _leave_out(self, placed: Iterable[_Placed]) -> None:
        self._left_out += [one.part.text for one in placed if _says_something(one.part)]


def is_label(part: StatementPart) -> bool:
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

    whole = part.begins_line and part.ends_line
    return introduces(part) or (whole and not part.marks and not ends_in_a_stop(part.text))


def may_lead_in(part: StatementPart) -> bool:
    """Whether a part leads to the sentence after it: a fragment, words in bold, or a quotation."""
    quoted = part.text[:1] in _OPENING_QUOTES and part.text[-1:] in _CLOSING_QUOTES
    few = len(part.text.split()) <= _FEW_WORDS
    return not (part.ends_line or part.marks) and (_is_emphasised(part) or quoted or few)


def _ends(part: StatementPart, label: StatementPart) -> bool:
    """Whether a label can have nothing under it any more; a table is under no item but "as:"."""
    if part.rank >= Rank.TABLE_HEAD and Rank.ITEM <= label.rank < Rank.TABLE_HEAD:
        return not introduces(label)
    return label.rank >= part.rank


def _row(text: str) -> str:
    """Return the cells of a table's row as words."""
    return ", ".join(cell.strip() for cell in text.strip().strip("|").split("|") if cell.strip())


def _is_emphasised(part: StatementPart) -> bool:
    """Whether a part is a few words in bold or italics."""
    text = part.text.rstrip(":.")
    few = len(text.split()) <= _FEW_EMPHASISED_WORDS
    return few and text[:1] in {"*", "_"} and text[-1:] == text[0]


def _says_something(part: StatementPart) -> bool:
    """Whether something is lost where a part is left out: it is a sentence, an item or a row."""
    if not part.text.rstrip("*_: ") or part.rank in {Rank.TABLE_HEAD, Rank.CODE}:
        return False
    return part.rank >= Rank.MARKED_INTRODUCTION and bool(part.marks or not introduces(part))
