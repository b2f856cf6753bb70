"""Pure: a final answer made only of sentences that checked facts bear out.

The model gives its sentences as data, each with the numbers of its facts. One with a fact that
holds is delivered; one without is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress

from drift.contracts.final_replies import SentenceReply
from drift.core.sentence_ends import ends_in_a_stop
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.contradiction import uncontradicted
from drift.evidence.layout import Layout, PlacedText, Rank
from drift.model.tree import Fact

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the final answer, its facts, and where it `ends` there."""

    text: str
    facts: tuple[Fact, ...]
    ends: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Proven:
    """The delivered part of a final answer as Markdown, its statements, and the parts left out."""

    text: str = ""
    statements: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()


def proven(sentences: Iterable[SentenceReply], facts: Sequence[Fact]) -> Proven:
    """Return the sentences that name one of these facts; headings with the first item below."""
    growing = GrowingStatements(facts)
    for sentence in sentences:
        growing.add(sentence)
    return growing.end()


def joined(sentences: Iterable[SentenceReply]) -> str:
    """Return all sentences as one text in Markdown, whatever bears them out."""
    layout = Layout()
    for sentence in sentences:
        layout.write(layout.place(sentence.text))
    return layout.text


class GrowingStatements:
    """A final answer that grows by sentences; `text` is the part delivered so far."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        """Begin with nothing."""
        self._facts = {fact.number: fact for fact in facts}
        self._layout = Layout()
        self._statements: list[Statement] = []
        self._left_out: list[str] = []
        self._labels: list[PlacedText] = []
        self._leads: list[PlacedText] = []

    @property
    def text(self) -> str:
        """The part delivered so far, which stays the beginning of the whole."""
        return self._layout.text

    def add(self, sentence: SentenceReply) -> None:
        """Keep a sentence, let it wait for the sentence that it introduces, or leave it out."""
        facts = self._named(sentence)
        part = self._layout.place(sentence.text, is_proven=bool(facts))._replace(facts=facts)
        if not _WORD.search(part.words) and part.rank not in {Rank.DELIMITERS, Rank.RULE}:
            return

        if part.rank == Rank.TEXT and _introduces(part.words):
            proves = Rank.PROVEN_INTRODUCTION if part.facts else Rank.INTRODUCTION
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
        """Return the delivered answer; labels with nothing under them are left out."""
        self._leave_out([*self._labels, *self._leads])
        return Proven(self.text, tuple(self._statements), tuple(self._left_out))

    def _named(self, sentence: SentenceReply) -> tuple[Fact, ...]:
        """Return the facts that a sentence names and whose figures do not contradict it."""
        numbers = dict.fromkeys(sentence.facts)
        facts = [self._facts[number] for number in numbers if number in self._facts]
        spans = [fact.citation.span for fact in facts]
        return tuple(compress(facts, uncontradicted(sentence.text, spans)))

    def _keep(self, part: PlacedText) -> None:
        for label in self._labels:
            said = self._layout.write(label)
            if label.facts and _says_something(label):
                self._statements.append(Statement(said, label.facts, len(self.text)))

        held = [_holds_up(one, part.facts) for one in self._leads]
        self._leave_out(compress(self._leads, (not holds for holds in held)))
        words = [self._layout.write(one) for one in compress(self._leads, held)]
        self._labels, self._leads = [], []

        words.append(self._layout.write(part))
        said = _row(part.words) if part.rank == Rank.ROW else " ".join(words)
        self._statements.append(Statement(said, part.facts, len(self.text)))

    def _leave_out(self, parts: Iterable[PlacedText]) -> None:
        self._left_out += [one.words for one in parts if _says_something(one)]


def _introduces(words: str) -> bool:
    """Whether a sentence says only that something follows: it ends in a colon and is short."""
    said = words.rstrip("*_ ")
    most_words = 20  # an introduction with more says something itself
    return said.endswith((":", "\uff1a")) and len(said.split()) <= most_words


def _is_label(part: PlacedText) -> bool:
    """Whether a part is kept only with something under it.

    That is a heading, a line in bold, the head of a table, a line that introduces a list, and an
    item without a fact that is no sentence.
    """
    if part.rank in {Rank.TABLE_HEAD, Rank.DELIMITERS, Rank.INTRODUCTION}:
        return True
    if part.rank < Rank.TEXT:
        return True
    if not Rank.ITEM <= part.rank < Rank.TABLE_HEAD or not part.begins_line:
        return False
    return _introduces(part.words) or not (part.facts or ends_in_a_stop(part.words))


def _ends(part: PlacedText, label: PlacedText) -> bool:
    """Whether a label can have nothing under it any more; a table is under no item but "as:"."""
    if label.line == part.line and part.facts:
        return False
    if part.rank >= Rank.TABLE_HEAD and Rank.ITEM <= label.rank < Rank.TABLE_HEAD:
        return not _introduces(label.words)
    return label.rank >= part.rank


def _may_lead_in(part: PlacedText) -> bool:
    """Whether a part is a fragment that may lead to the sentence after it."""
    most_words = 8
    return len(part.words.split()) <= most_words and Rank.TEXT <= part.rank < Rank.TABLE_HEAD


def _holds_up(part: PlacedText, facts: Sequence[Fact]) -> bool:
    """Whether a fragment stands in the facts of the sentence behind it: "Paris. It ..."."""
    words = {word.casefold() for word in _WORD.findall(part.words)}
    if words <= {"yes", "no", "ja", "nein", "oui", "non", "sí", "si"}:
        return True
    said_by = {word.casefold() for fact in facts for word in _WORD.findall(fact.citation.span)}
    return words - STOP_WORDS_OF_FOUR_LANGUAGES <= said_by


def _says_something(part: PlacedText) -> bool:
    """Whether something is lost where a part is left out: it is a sentence, an item or a row."""
    if part.rank in {Rank.TABLE_HEAD, Rank.DELIMITERS} or part.rank < Rank.PROVEN_INTRODUCTION:
        return False
    return bool(part.facts) or not _introduces(part.words)


def _row(text: str) -> str:
    """Return the cells of a table's row as words."""
    return ", ".join(cell.strip() for cell in text.strip("|").split("|") if cell.strip())
