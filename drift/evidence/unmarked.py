"""Pure: a final answer without any number of a fact, looked up in the spans of the facts.

A model that forgets the numbers costs no request: what the spans plainly say is kept. The rule is
about words, so it is strict, and it cannot see who did what to whom.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.statement_parts import Part, Rank, is_label, parts_of
from drift.evidence.statements import Proven, proven
from drift.evidence.text import STEM_LETTERS, KnownWords, folded
from drift.model.tree import Fact

SHARE_OF_WORDS = 0.8
"""Of a sentence's words of content, that stand in the spans of one fact, or of two."""
MIN_WORDS = 2
MIN_SHARE_OF_THE_SECOND = 0.25
"""Of a sentence's words, that a second fact must add."""

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_NEGATIONS = frozenset(
    """
    cannot neither never no nobody none nor not nothing nowhere without
    kein keine keinen keiner keines nicht nichts nie niemals niemand ohne
    aucun aucune jamais ne pas rien sans
    nada nadie ninguna ninguno nunca sin
    """.split()
)


def repaired(final_answer: str, facts: Sequence[Fact]) -> Proven:
    """Return what of a final answer without numbers stands in the spans of these facts.

    A sentence is kept when one fact's span, or two, have four fifths of its words of content, all
    of its numbers and names, and a negation exactly where it has one.
    """
    spans = [_Span(fact.citation.span) for fact in facts]
    written = ""
    for part in parts_of(final_answer, {fact.number for fact in facts}):
        may_be_kept = not (is_label(part) or part.rank == Rank.CODE)
        bearing = _bearing(part.text, spans) if may_be_kept else ()
        marks = "".join(f"[{facts[at].number}]" for at in bearing)
        written += part.before + (_marked(part, marks) if marks else part.text)
    return proven(written, facts)


def _marked(part: Part, marks: str) -> str:
    if part.rank == Rank.ROW:
        return f"{part.text.rstrip(' |')} {marks} |"
    return f"{part.text} {marks}"


@dataclass(frozen=True, slots=True)
class _Words:
    """What is compared of a text: words of content, names and numbers, and whether it negates."""

    content: frozenset[str]
    exact: frozenset[str]
    negates: bool

    @classmethod
    def of(cls, text: str) -> _Words:
        words = [match[0] for match in _WORD.finditer(text)]
        read = [folded(word) for word in words]
        content = {
            word for word in read if word not in STOP_WORDS_OF_FOUR_LANGUAGES and len(word) > 1
        }
        # The first word is a name too, unless a comma parts it from its sentence: "However, ...".
        opens = bool(re.match(r"\W*\w+,", text))
        names = {
            folded(word)
            for place, word in enumerate(words)
            if (word[0].isupper() and (place or not opens)) or any(map(str.isdigit, word))
        }
        negates = bool(_NEGATIONS & set(read)) or "n't" in text or "n\u2019t" in text
        numbers = {word for word in read if any(map(str.isdigit, word))}
        return cls(frozenset(content), frozenset(names & content | numbers), negates)


class _Span:
    """The words of a span, in which those of a sentence are looked up."""

    def __init__(self, text: str) -> None:
        words = _Words.of(text)
        self.negates = words.negates
        self._known = KnownWords(words.content | words.exact)

    def held(self, said: _Words) -> set[str]:
        """Return the words of a sentence that it has, inflected or not; numbers as written."""
        words = said.content | said.exact
        inflected = {word for word in words if len(word) > STEM_LETTERS and self._known.has(word)}
        return inflected | (words & self._known.words)


def _bearing(sentence: str, spans: Sequence[_Span]) -> tuple[int, ...]:
    """Return the places of one span or two that bear out a sentence; none when none do."""
    said = _Words.of(sentence)
    if len(said.content) < MIN_WORDS or not spans:
        return ()

    held = [span.held(said) for span in spans]
    best = max(range(len(spans)), key=lambda at: len(held[at]))
    if _suffices(held[best], said) and spans[best].negates == said.negates:
        return (best,)

    second = max(range(len(spans)), key=lambda at: len(held[at] - held[best]))
    added = held[second] - held[best]
    negates = spans[best].negates or spans[second].negates
    enough = len(added) >= MIN_SHARE_OF_THE_SECOND * len(said.content)
    if enough and _suffices(held[best] | added, said) and negates == said.negates:
        return (best, second)
    return ()


def _suffices(held: set[str], said: _Words) -> bool:
    return said.exact <= held and len(held & said.content) >= SHARE_OF_WORDS * len(said.content)
