"""Pure: what stands for a final answer without any number of a fact.

What the facts' spans plainly say is kept. The rule is about words, so it is strict, and it cannot
see who did what to whom. Else the follow-ups' own answers stand for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.statement_parts import Rank, StatementPart, StatementParts
from drift.evidence.statements import Proven, Statement, is_label, proven
from drift.evidence.text import STEM_LETTERS, KnownWords, folded, negates
from drift.model.tree import Citation, Fact, Node

SHARE_OF_WORDS = 0.8
"""Of a sentence's words of content, that stand in the spans of one fact, or of two."""
MIN_WORDS = 2

_WORD = re.compile(r"\w+(?:[.,]\d+)*")


def repaired(final_answer: str, facts: Sequence[Fact]) -> Proven:
    """Return what of a final answer without numbers stands in the spans of these facts.

    A sentence is kept when one fact's span, or two, have four fifths of its words of content, all
    of its numbers and names, and a negation exactly where it has one.
    """
    spans = [_UnmarkedSpan(fact.citation.span) for fact in facts]
    written = ""
    parts = StatementParts({fact.number for fact in facts})
    for part in parts.read(final_answer, complete=True):
        may_be_kept = not (is_label(part) or part.rank == Rank.CODE)
        bearing = _bearing(part.text, spans) if may_be_kept else ()
        marks = "".join(f"[{facts[at].number}]" for at in bearing)
        written += part.before + (_marked(part, marks) if marks else part.text)

    return proven(written, facts)


def _marked(part: StatementPart, marks: str) -> str:
    if part.rank == Rank.ROW:
        return f"{part.text.rstrip(' |')} {marks} |"
    return f"{part.text} {marks}"


@dataclass(frozen=True, slots=True)
class _SpanWords:
    content: frozenset[str]
    exact: frozenset[str]
    negates: bool

    @classmethod
    def of(cls, text: str) -> _SpanWords:
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
        numbers = {word for word in read if any(map(str.isdigit, word))}

        return cls(frozenset(content), frozenset(names & content | numbers), negates(text))


class _UnmarkedSpan:
    def __init__(self, text: str) -> None:
        words = _SpanWords.of(text)
        self.negates = words.negates
        self._known = KnownWords(words.content | words.exact)

    def held(self, said: _SpanWords) -> set[str]:
        """Return the words of a sentence that it has, inflected or not; numbers as written."""
        words = said.content | said.exact
        inflected = {word for word in words if len(word) > STEM_LETTERS and self._known.has(word)}
        return inflected | (words & self._known.words)


def _bearing(sentence: str, spans: Sequence[_UnmarkedSpan]) -> tuple[int, ...]:
    """Return the places of one span or two that bear out a sentence; none when none do."""
    said = _SpanWords.of(sentence)
    if len(said.content) < MIN_WORDS or not spans:
        return ()

    held = [span.held(said) for span in spans]
    best = max(range(len(spans)), key=lambda at: len(held[at]))
    if _suffices(held[best], said) and spans[best].negates == said.negates:
        return (best,)

    second = max(range(len(spans)), key=lambda at: len(held[at] - held[best]))
    added = held[second] - held[best]
    negates = spans[best].negates or spans[second].negates
    # Of a sentence's words, that a second fact must add.
    enough = len(added) >= 0.25 * len(said.content)
    if enough and _suffices(held[best] | added, said) and negates == said.negates:
        return (best, second)

    return ()


def _suffices(held: set[str], said: _SpanWords) -> bool:
    return said.exact <= held and len(held & said.content) >= SHARE_OF_WORDS * len(said.content)


# ----------------------------------------------------------------- the follow-ups' own answers


def from_answers(nodes: Sequence[Node], facts: Sequence[Fact]) -> Proven:
    """Return a final answer made of the follow-ups' own answers that have checked citations.

    Answers in part stand in it when there are no others; none that found nothing does.
    """
    for verdict in ("answered", "partly"):
        some = [node for node in nodes if node.answer and node.answer.verdict == verdict]
        if (made := joined_answers(some, facts)).statements:
            return made
    return Proven()


def joined_answers(nodes: Iterable[Node], facts: Sequence[Fact]) -> Proven:
    """Return the answers of these follow-ups that bring citations of their own, as paragraphs."""
    by_span = {_span(fact.citation): fact for fact in reversed(facts)}
    told: set[Fact] = set()
    statements: dict[str, Statement] = {}
    again: list[Statement] = []
    for answer in (node.answer for node in nodes if node.answer and node.answer.text.strip()):
        cited = dict.fromkeys(map(_span, answer.citations))
        said = Statement(answer.text.strip(), tuple(by_span[s] for s in cited if s in by_span))
        if said.text in statements:
            again.append(said)
        elif not told.issuperset(said.facts):
            told.update(said.facts)
            statements[said.text] = said

    for said in again:
        first = statements[said.text]
        more = tuple(fact for fact in said.facts if fact not in told)
        told.update(more)
        statements[said.text] = replace(first, facts=first.facts + more)

    return _joined(statements.values())


def _joined(statements: Iterable[Statement]) -> Proven:
    text = ""
    placed = []
    for statement in statements:
        text += f"\n\n{statement.text}" if text else statement.text
        placed.append(replace(statement, ends=len(text)))
    return Proven(text, tuple(placed))


def _span(citation: Citation) -> tuple[str, str]:
    return citation.chunk_id, citation.span
