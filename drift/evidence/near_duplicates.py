"""Pure: which texts say again what others say, by their runs of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from drift.evidence.text import is_measure, tokens

SAME_SHARE = 0.5
"""Of the runs of words that two texts have together; from here on the second says little new."""
END_CHARS = 1_500  # a longer text is compared by so much of its beginning and of its end


def near_duplicates(texts: Iterable[str]) -> Iterator[bool]:
    """Tell of each text whether it shares half of its runs of five words with one kept before.

    It does not repeat one that has another number between the same words. Words are tokens, so that
    an ideograph is one, and a text of fewer is one run.
    """
    kept: list[_Runs] = []
    seen: set[int] = set()
    for text in texts:
        runs = _Runs.of(text)
        # A text of which all kept ones together hold too little repeats none of them.
        may_be = bool(runs.runs) and len(runs.runs & seen) >= SAME_SHARE * len(runs.runs)
        is_duplicate = may_be and any(runs.repeats(other) for other in kept)
        if not is_duplicate:
            kept.append(runs)
            seen |= runs.runs
        yield is_duplicate


class _Runs(NamedTuple):
    """The runs of words of a text, and its numbers by the words around them."""

    runs: frozenset[int]
    numbers: Mapping[int, frozenset[str]]

    # Kept, because the chunks of a search are fused again with those that their titles lead to.
    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, text: str) -> _Runs:
        if len(text) > 2 * END_CHARS:
            text = f"{text[:END_CHARS]} {text[-END_CHARS:]}"
        words = tokens(text) or text.split()
        runs = set(map(hash, zip(*(words[start:] for start in range(5)), strict=False)))  # of five
        numbers: defaultdict[int, set[str]] = defaultdict(set)
        for at, word in enumerate(words):
            if is_measure(word):
                around = (*words[max(0, at - 2) : at], "", *words[at + 1 : at + 3])
                numbers[hash(around)].add(word)

        if words and not runs:
            runs = {hash(tuple(words))}
        return cls(frozenset(runs), {at: frozenset(found) for at, found in numbers.items()})

    def repeats(self, other: _Runs) -> bool:
        both = len(self.runs & other.runs)
        if both < SAME_SHARE * (len(self.runs) + len(other.runs) - both):
            return False
        shared = self.numbers.keys() & other.numbers.keys()
        return not any(self.numbers[at].isdisjoint(other.numbers[at]) for at in shared)
