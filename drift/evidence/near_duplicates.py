"""Pure: which texts say again what others say, by their runs of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from drift.evidence.text import is_measure, tokens

SAME_SHARE = 0.5
"""Of the runs of words that two texts have together; from here on the second says little new."""
END_CHARS = 1_500  # a longer text is compared by so much of its beginning and of its end


def near_duplicates(texts: Iterable[str]) -> Iterator[bool]:
    """Tell of each text whether it shares half of its runs of five words with one kept before.

    It does not repeat one that has another number between the same words. Words are tokens, so that
    an ideograph is one, and a text of fewer is one run.
    """
    kept: list[tuple[str, frozenset[int]]] = []
    seen: set[int] = set()
    for text in texts:
        runs = _runs(text)
        # A text of which all kept ones together hold too little repeats none of them.
        may_be = bool(runs) and len(runs & seen) >= SAME_SHARE * len(runs)
        is_duplicate = may_be and any(
            _share(runs, others) >= SAME_SHARE and not _differ(text, other)
            for other, others in kept
        )
        if not is_duplicate:
            kept.append((text, runs))
            seen |= runs
        yield is_duplicate


# Kept, because the chunks of a search are fused again with those that their titles lead to.
@lru_cache(maxsize=128)
def _runs(text: str) -> frozenset[int]:
    """Return the runs of five words of a text."""
    words = _words(text)
    runs = frozenset(map(hash, zip(*(words[start:] for start in range(5)), strict=False)))
    return runs or frozenset([hash(tuple(words))] if words else ())


@lru_cache(maxsize=128)
def _numbers(text: str) -> Mapping[int, set[str]]:
    """Return the numbers of a text by the words around them."""
    numbers: defaultdict[int, set[str]] = defaultdict(set)
    words = _words(text)
    for at, word in enumerate(words):
        if is_measure(word):
            around = (*words[max(0, at - 2) : at], "", *words[at + 1 : at + 3])
            numbers[hash(around)].add(word)
    return numbers


def _words(text: str) -> list[str]:
    if len(text) > 2 * END_CHARS:
        text = f"{text[:END_CHARS]} {text[-END_CHARS:]}"
    return tokens(text) or text.split()


def _share(runs: frozenset[int], others: frozenset[int]) -> float:
    both = len(runs & others)
    return both / (len(runs) + len(others) - both)


def _differ(text: str, other: str) -> bool:
    """Tell whether the texts have different numbers between the same words."""
    one, two = _numbers(text), _numbers(other)
    return any(one[at].isdisjoint(two[at]) for at in one.keys() & two.keys())
