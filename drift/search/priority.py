"""Pure: what a proposal promises, so that the best of several gets a slot of the budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from drift.core.names import proper_names
from drift.evidence.text import content_words, is_asked_again, searched
from drift.model.tree import Answer, Question

OF_NOVELTY = 0.45
OF_A_BRIDGE = 0.25
OF_PROOF = 0.15
OF_WHAT_IS_OPEN = 0.15
"""What each part weighs; together they are 1.

Novelty weighs most, because a repetition costs a call and brings nothing. Confidence weighs little,
because the surest answers are followed by most repetitions, and so does what a model says about
continuing: it wishes to after four answers of five.
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a promise is made of, each part from 0 to 1.

    `novelty` is the distance from every question asked, in content words: what is near one of them
    finds the same chunks again. `bridge` is 1 when the proposal names what its parent's evidence
    brought to light and no earlier question knew: the second hop of a question cannot be asked
    before. `proof` is the confidence of the parent, whose citations were checked: a proposal that
    builds on a guess may ask about nothing. `still_open` says how much the parent left open: a
    whole answer needs no more.
    """

    novelty: float
    bridge: float
    proof: float
    still_open: float


def promise(parts: Parts) -> float:
    """Return what a proposal promises, 0 to 1; more in any part is never less in all."""
    return (
        OF_NOVELTY * parts.novelty
        + OF_A_BRIDGE * parts.bridge
        + OF_PROOF * parts.proof
        + OF_WHAT_IS_OPEN * parts.still_open
    )


def parts_of(
    question: Question, parent: Question, answer: Answer, asked: Sequence[Question], about: str
) -> Parts:
    """Return what the promise of a question is made of, which an answer of its parent led to.

    `asked` are the questions asked before it, `about` is the user's own. One that is asked another
    way is open as a whole, and what is new about it are the names in its hint.
    """
    before = [searched(other) for other in asked]
    novelty = novelty_of(searched(question), before)
    if is_asked_again(question, parent):
        bridge = new_names(question.hint, [question.hint], [about, *before])
        return Parts(novelty, float(bool(bridge)), 0.0, 1.0)

    spans = [citation.span for citation in answer.citations]
    bridge = new_names(question.text, spans, [about, *before])
    proof = answer.confidence if spans else 0.0
    return Parts(novelty, float(bool(bridge)), proof, still_open(answer))


def novelty_of(text: str, asked: Iterable[str]) -> float:
    """Return how far a text is from the nearest of those asked, 0 to 1; one of no words is 0."""
    words = content_words(text)
    if not words:
        return 0.0
    others = [content_words(other) for other in asked]
    return min((1 - len(words & other) / len(words | other) for other in others), default=1.0)


def new_names(text: str, spans: Iterable[str], asked: Iterable[str]) -> frozenset[str]:
    """Return the words of the text's names that stand in a span, and in no question asked."""
    return (_words(proper_names(text)) & _words(spans)) - _words(asked)


def still_open(answer: Answer) -> float:
    """Return how much an answer left open: 1 when it is none or half, else by its own wish."""
    if answer.verdict != "answered":
        return 1.0
    return 0.5 if answer.should_continue else 0.0


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in re.findall(r"\w+", text.casefold()))
