"""Pure: which questions ask for the same."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from drift.core.names import proper_names
from drift.core.stop_words import FILLERS
from drift.model.tree import Question

SAME_WORDS = 0.75
"""Overlap of all content words (Jaccard) from which two questions ask for the same."""
SAME_TOPIC = 0.7
"""The same without names: a long name must not hide that one asks for a mother, one for a father,
or that one goes a step further than the other."""

_ASKING = frozenset("how when where who why".split())  # noqa: SIM905 - lists of words read best
"""Words that decide what is asked for; `what` and `which` go with any of them."""
_POSSESSIVE = re.compile(r"['’]s\b")
_LONGEST_WITHOUT_PLURAL = 3


def is_repeated(one: Question, other: Question) -> bool:
    """Tell whether two questions ask for the same.

    One that is searched with a hint asks the same as one that has the hint's words of its own. Two
    of these are told apart by their own words alone, because they may share a long hint.
    """
    if one.beside != other.beside:
        return False
    if bool(one.hint) != bool(other.hint) and is_same_question(searched(one), searched(other)):
        return True
    return is_same_question(one.text, other.text)


def is_asked_again(question: Question, parent: Question | None) -> bool:
    """Tell whether a question is its parent's, asked another way."""
    return parent is not None and (question.text, question.beside) == (parent.text, parent.beside)


def searched(question: Question) -> str:
    """Return the words that a question is searched with."""
    return f"{question.text} {question.hint}".strip()


def is_same_question(one: str, other: str) -> bool:
    """Tell whether two questions are near-duplicates by their content words.

    They are none when each has a name or a number that the other lacks, or when one asks where and
    the other when.
    """
    a, b = content_words(one), content_words(other)
    if not a or not b:
        return one.casefold().strip() == other.casefold().strip()

    names, others = _names(one) & a, _names(other) & b
    if (names - b and others - a) or _ask_differently(one, other):
        return False
    named = names | others
    return _overlap(a, b) >= SAME_WORDS and _overlap(a - named, b - named) >= SAME_TOPIC


def content_words(text: str) -> frozenset[str]:
    """Return a text's words without fillers, case, punctuation, possessives and the plural's s."""
    words = re.findall(r"\w+", _POSSESSIVE.sub("", text.casefold()))
    return frozenset(_singular(word) for word in words if word not in FILLERS)


def _singular(word: str) -> str:
    is_plural = len(word) > _LONGEST_WITHOUT_PLURAL and word[-1] == "s" and word[-2] != "s"
    return word[:-1] if is_plural else word


def _names(text: str) -> frozenset[str]:
    return content_words(" ".join([*proper_names(text), *re.findall(r"\b\d+\b", text)]))


def _ask_differently(one: str, other: str) -> bool:
    a, b = (_ASKING.intersection(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return bool(a and b and not a & b)


def _overlap(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
