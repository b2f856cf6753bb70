"""How well a sentence answers a question: what it means (static embeddings) and which of the rare words it shares."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from keyword import kwlist

from drift.local.embedding import Matrix, vector
from drift.local.sentences import FUNCTION_WORDS, Sentence, leans, prose

MEANING = 0.5
"""Share of the cosine in a score; the rest is the share of the question's words that are found, rare ones counting more."""
MEANING_ALONE = 0.75
"""The same for questions of a single word, which many sentences share."""
FROM_TITLE = 0.5
"""What a word of the question counts that is not in the sentence, but in the title of its document."""
LEANING = 0.5
"""Factor for sentences that point back to one that is not there."""
POINTING = 0.6
"""Factor for sentences that send the reader somewhere else."""
SHORT = 0.9
"""Factor for sentences under SHORT_TEXT characters: they seldom say why."""
SHORT_TEXT = 70
SAME = 0.9
"""Cosine from which two sentences say the same."""

_POINTER = re.compile(
    r"^For (?:more|full|further|additional)\b|\b(?:see|refer to) (?:the|section|also)\b(?![^(]*\))|"
    r"\b(?:discussed|described|documented|explained|listed|shown) (?:further |in (?:greater |more )?detail )?(?:below|above|later|next|in (?:the|section))\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    "about answer answered ask call called cause describe detail document documentation documented documents does doing "
    "exactly example explain explained get gets give given gives happen happened happens kind know like make makes many "
    "mean means much need needs please rule said say says sort tell text thing things want way work works".split()
)
UNSPECIFIC = FUNCTION_WORDS | _ASKING
_WORD = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)*|[=!<>:]=|\*\*|//|->")
_NAMES = r"(?:statement|clause|keyword(?!s? argument)|expression|operator|block|loop|suite)s?\b"
_UNCLEAR = {"and", "as", "in", "is", "not", "or"}
_NAMED_WORD = re.compile(
    rf"[\"“`'*]([a-z]+)[\"”`'*]|\b({'|'.join(sorted({*kwlist} - _UNCLEAR))})(?=\s+{_NAMES})|"
    rf"\b({'|'.join(sorted(_UNCLEAR))})(?=\s+operators?\b)",
    re.IGNORECASE,
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s")
_SHORTEST_STEM = 3


@lru_cache(maxsize=50_000)
def terms(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, without their endings.

    Words such as `with` or `for` count only where they are named: quoted, or before "statement", "clause" and the like.
    """
    words = {word.lower() for word in _WORD.findall(text)}
    return frozenset(_stem(word) for word in words - UNSPECIFIC | (words & named_words(text)) if len(word) > 1)


def named_words(text: str) -> set[str]:
    """Return the words that stand for themselves: quoted ones, and keywords as in "with statement"."""
    return {"".join(groups).lower() for groups in _NAMED_WORD.findall(text)}


def _stem(word: str) -> str:
    """Cut the common endings of English; identifiers keep theirs."""
    if "_" in word:
        return word.strip("_") or word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and not word.endswith("ss"):
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence with the chunk it stands in, and how well it answers: `score` from 0 to 1."""

    sentence: Sentence
    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to search: its sentences belong to `id`, `title` says what it is about."""

    id: str
    title: str
    text: str


def search(question: str, passages: Sequence[Passage]) -> list[Found]:
    """Return every sentence of the passages, best first; equal ones in the order of the text."""
    places = [(p, s) for p in passages for s in prose(p.text)]
    rated = scores(question, [s.text for _, s in places], [p.title for p, _ in places])
    found = [Found(s, p.id, score) for (p, s), score in zip(places, rated, strict=True)]
    return sorted(found, key=lambda f: -f.score)


def scores(question: str, sentences: Sequence[str], titles: Sequence[str] = ()) -> list[float]:
    """Return how well each sentence answers a question, 0 to 1; `titles` say what the sentences' documents are about."""
    own = [terms(sentence) for sentence in sentences]
    around = [terms(title) for title in titles] or [frozenset[str]()] * len(own)
    weights = _weights(terms(question), own)
    asked = vector(question)
    meaning = MEANING if len(weights) > 1 else MEANING_ALONE
    return [
        _merits(sentence) * (meaning * _cosine(asked, sentence) + (1 - meaning) * _coverage(weights, words, title))
        for sentence, words, title in zip(sentences, own, around, strict=True)
    ]


def affinity(question: str, text: str) -> float:
    """Return how close a longer text is to a question, from 0 to 1; all words of the question count the same."""
    asked, own = terms(question), terms(text)
    shared = len(asked & own) / len(asked) if asked else 0.0
    return MEANING * _cosine(vector(question), text) + (1 - MEANING) * shared


def _cosine(asked: Matrix, text: str) -> float:
    return max(0.0, float(asked @ vector(text)))


def _merits(sentence: str) -> float:
    """Return a factor for how much a sentence says by itself."""
    short, leaning, pointing = len(sentence) < SHORT_TEXT, leans(sentence), bool(_POINTER.search(sentence))
    return (SHORT if short else 1.0) * (LEANING if leaning else 1.0) * (POINTING if pointing else 1.0)


def _weights(asked: Iterable[str], sentences: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return how much each word of a question counts: rare words more, absent ones most; they add up to 1."""
    counts = Counter(term for sentence in sentences for term in sentence)
    raw = {term: math.log(1 + (len(sentences) + 1) / (counts[term] + 1)) for term in sorted(asked)}
    total = sum(raw.values()) or 1.0
    return {term: weight / total for term, weight in raw.items()}


def _coverage(weights: dict[str, float], own: frozenset[str], around: frozenset[str]) -> float:
    return sum(w * (1.0 if t in own else FROM_TITLE if t in around else 0.0) for t, w in weights.items())


def alike(one: str, other: str) -> bool:
    """Tell whether two sentences say the same: one holds the other, or both mean the same."""
    return one in other or other in one or float(vector(one) @ vector(other)) >= SAME


def distinct(found: Iterable[Found], most: int) -> list[Found]:
    """Return the first `most` that say something different."""
    kept: list[Found] = []
    for candidate in found:
        if len(kept) == most:
            break
        if not any(alike(candidate.sentence.text, k.sentence.text) for k in kept):
            kept.append(candidate)
    return kept
