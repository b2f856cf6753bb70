"""Pure: whether a question that a model wrote anew is still the one that was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drift.core.asked_words import search_terms
from drift.evidence.missing_names import lacking_name

_DIGITS = 3  # of a year or an amount; a shorter number may count what was said, as "the 2nd one"
_WORDS, _LETTERS = 3, 4  # of so many words of a question, so long each, one stays


def fault_of(rewritten: str, asked: str, said: Iterable[str]) -> str:
    """Return why a rewritten question cannot stand for the one that was asked; empty if it can.

    It has no number and no name that was neither asked nor said before, keeps those of the
    question, and of its other words one at least. What was said is read in whatever order.
    """
    known = [asked, *said]
    if _numbers(rewritten) - _numbers("\n".join(known)):
        return "it has a number that nobody said"
    if lacking_name(rewritten, known):
        return "it has a name that nobody said"
    if {one for one in _numbers(asked) if len(one) >= _DIGITS} - _numbers(rewritten):
        return "it leaves out a number of the question"
    if lacking_name(asked, [rewritten]):
        return "it leaves out a name of the question"

    words = {one for one in search_terms(asked) if len(one) >= _LETTERS and one.isalpha()}
    if len(words) >= _WORDS and words.isdisjoint(search_terms(rewritten)):
        return "it has no word of the question"
    return ""


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))
