"""The phrases that a question or a text is about, worded as they stand there."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from drift.local.relevance import UNSPECIFIC, affinity, named_words, terms

MOST_WORDS = 3
MOST_CANDIDATES = 40
RELATED = 0.15
"""Affinity from which a phrase has to do with a question."""

_TOKEN = re.compile(r"[A-Za-z_][\w.()-]*[\w)]|\w+|\S")
_MARKED = re.compile(r"[\"“`]([A-Za-z_][\w.]{2,30}(?:\(\))?)[\"”`]|(?<![*\w])\*([A-Za-z][A-Za-z -]{3,30})\*(?![*\w])")
_LINKING = frozenset(
    "according allowed apply available because become called cannot change common consider contain containing correspond "
    "corresponding create created define defined different due empty evaluate evaluated executed existing first following "
    "given implement include including instead introduced last later let many multiple need new next occur occurs "
    "optional other passed possible previous provide raise raised raises related require result return returned returns "
    "second set similar single special specific specified specify support take true false usual value various".split()
)
"""Words that link what a text is about, and are not it."""


def topic(question: str) -> str:
    """Return what a question asks about: its last identifier, else its last phrase of two or three words, as they stand."""
    runs = _runs(question, UNSPECIFIC)
    if not runs:
        return question.strip(" ?.!")
    words = max(enumerate(runs), key=lambda run: (_is_code(run[1]), len(run[1]) > 1, run[0]))[1]
    while len(words) > 1 and (len(words) > MOST_WORDS or words[-1].endswith("ed")):
        words = words[:-1]
    return " ".join(words)


def subject_words(question: str) -> list[str]:
    """Return the words that say what a question is about, in its order."""
    return [word for run in _runs(question, UNSPECIFIC) for word in run]


def key_phrases(text: str, question: str, most: int) -> list[str]:
    """Return the phrases of a text that are closest to a question without being part of it, best first."""
    asked = terms(question)
    counts = Counter(phrase for phrase in _phrases(text) if not terms(phrase) <= asked)
    common = sorted(counts, key=lambda phrase: (-counts[phrase], phrase))[:MOST_CANDIDATES]
    near = {phrase: affinity(question, phrase) for phrase in common}
    return sorted((p for p in near if near[p] >= RELATED), key=lambda phrase: (-near[phrase], phrase))[:most]


def _phrases(text: str) -> Iterable[str]:
    """Yield what is quoted or emphasised, and pairs of words that stand together more than once."""
    for code, emphasised in _MARKED.findall(text):
        yield code or emphasised
    pairs = Counter(" ".join(run) for run in _runs(text, UNSPECIFIC | _LINKING) if len(run) == 2 and _is_plain(run))  # noqa: PLR2004 - a pair
    for pair, count in pairs.items():
        if count > 1:
            yield pair


def _runs(text: str, breaking: frozenset[str]) -> list[list[str]]:
    """Return the runs of words between the words that break them; named ones, as in "with statement", never do."""
    named = named_words(text)
    runs: list[list[str]] = [[]]
    for token in _TOKEN.findall(text):
        word = token.lower()
        if re.match(r"\w\w", token) and (word not in breaking or word in named):
            runs[-1].append(token)
        else:
            runs.append([])
    return [run for run in runs if run]


def _is_code(words: list[str]) -> bool:
    return any("_" in word or "." in word or "(" in word for word in words)


def _is_plain(words: list[str]) -> bool:
    return all(word.islower() and word.isalpha() and not word.endswith(("ly", "ed")) for word in words)
