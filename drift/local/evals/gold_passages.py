"""Pure: where the words of a statement stand in the raw documents, and which texts hold them.

A statement is located once, in windows of the raw documents, so that no chunker moves the
denominator. A window holds it when it has at least MIN_SHARE of the statement's words, weighted by
how rare they are; words of the question do not count, because any text about the question has them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WINDOW_CHARS = 1000
STEP_CHARS = 500
MIN_SHARE = 0.4
"""Of a statement's weight: less is no passage that says it, but one that shares some words."""
SAME_PASSAGE = 0.8
"""A text shows a passage when it has at least this share of the weight that the best window has."""

_WORD = re.compile(r"\w+")

Words = frozenset[str]


def words_of(text: str) -> Words:
    """Return the different words of a text, case folded."""
    return frozenset(_WORD.findall(text.casefold()))


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A statement that was located: its words with their weights, and what a text must hold."""

    weights: Mapping[str, float]
    documents: frozenset[str]
    required: float

    def is_in(self, words: Words) -> bool:
        """Tell whether a text of these words shows the passage."""
        return sum(self.weights[word] for word in self.weights.keys() & words) >= self.required


class RawDocuments:
    """The raw texts of a folder, cut into windows that overlap by half."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Cut the texts, and count in how many windows each word stands."""
        self._windows = {name: [words_of(part) for part in _parts(t)] for name, t in texts.items()}
        self._counts = Counter(word for own in self._windows.values() for w in own for word in w)
        self._total = sum(map(len, self._windows.values()))

    def locate(self, statement: str, question: str, documents: Iterable[str]) -> GoldPassage | None:
        """Return the passage of the documents that says the statement; None where none does."""
        weights = {}
        for word in words_of(statement) - words_of(question):
            # the inverse document frequency as BM25 has it; windows are the documents
            count = self._counts[word]
            weights[word] = math.log(1 + (self._total - count + 0.5) / (count + 0.5))

        held = [
            sum(weights[word] for word in weights.keys() & window)
            for name in documents
            for window in self._windows.get(name, ())
        ]
        best = max(held, default=0.0)
        if not best or best < MIN_SHARE * sum(weights.values()):
            return None

        return GoldPassage(weights, frozenset(documents), SAME_PASSAGE * best)


def _parts(text: str) -> Iterable[str]:
    last = max(1, len(text) - WINDOW_CHARS + STEP_CHARS)
    return (text[start : start + WINDOW_CHARS] for start in range(0, last, STEP_CHARS))
