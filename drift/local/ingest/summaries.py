"""Pure: what a topic is about, in its documents, terms and most central sentences, without a model.

Sources: c-TF-IDF after Grootendorst, "BERTopic" (2022); Carbonell and Goldstein, "The Use of MMR"
(1998).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from heapq import nsmallest

from drift.local.ingest.digests import Digest, Everywhere, most
from drift.local.ingest.naming import title_of
from drift.local.ingest.prose import words

MAX_SUMMARY_CHARS = 1200
MAX_TERMS, MAX_TITLES, MAX_SENTENCES = 8, 4, 5

_RELEVANCE = 0.7
_MOST_ALIKE = 0.6
_CANDIDATE_WORDS = 40


def summarise(
    topic: Digest, everywhere: Everywhere, taken: Collection[str] = ()
) -> tuple[str, str]:
    """Return the title and the summary of a topic, or of what is above, best sentences first.

    The title is none of those that are `taken`.
    """
    rare = everywhere.rarity
    weights = {word: count * rare[word] for word, count in topic.words.items()}
    terms = [
        " ".join(topic.spelled.get(word, word) for word in term.split())
        for term in _terms(topic, weights)
    ]
    # Sentences are chosen as for a topic of one level: the best of each part for what is above.
    topic.sentences = _most_central(topic.sentences, weights, rare)
    titles = [title for title, _ in most(topic.titles, MAX_TITLES) if title]
    more = len(topic.titles) - len(titles)

    lines = [f"About: {', '.join(terms)}."] if terms else []
    named = "; ".join(titles) + (f" and {more} more" if more > 0 else "")
    lines += [f"Documents: {named}."] if named else []
    told = "\n".join(_fitting((*lines, *topic.sentences)))
    return title_of(topic, everywhere, taken), told


def _terms(topic: Digest, weights: Mapping[str, float]) -> list[str]:
    best = nsmallest(_CANDIDATE_WORDS, weights, key=lambda word: (-weights[word], word))
    rated = {word: weights[word] for word in best}
    for pair, count in topic.pairs.items():
        parts = pair.split()
        if rated.keys().isdisjoint(parts) or not weights.keys() >= set(parts):
            continue
        if count * 2 > min(topic.words[word] for word in parts):
            rated[pair] = max(weights[word] for word in parts) * 1.01

    terms: list[str] = []
    said: set[str] = set()
    for term in sorted(rated, key=lambda term: (-rated[term], term)):
        own = {word.removesuffix("s") for word in term.split()}
        if not own & said:
            terms.append(term)
            said |= own
        if len(terms) == MAX_TERMS:
            break

    return terms


def _most_central(
    pool: Iterable[str], weights: Mapping[str, float], rare: Mapping[str, float]
) -> list[str]:
    """Return the sentences nearest to the topic's words, none too like another (MMR)."""
    vectors = {text: _unit({w: rare[w] for w in words(text) if w in rare}) for text in pool}
    centre = _unit(weights)
    central = {text: _dot(vector, centre) for text, vector in vectors.items()}
    likest = dict.fromkeys(vectors, 0.0)
    chosen: list[str] = []
    while len(chosen) < MAX_SENTENCES:
        left = [text for text in vectors if text not in chosen and likest[text] < _MOST_ALIKE]
        if not left:
            break
        best = min(left, key=lambda t: (-_RELEVANCE * central[t] + (1 - _RELEVANCE) * likest[t], t))
        chosen.append(best)
        likest = {t: max(likest[t], _dot(vectors[t], vectors[best])) for t in vectors}

    return chosen


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.hypot(*vector.values()) or 1.0
    return {word: value / length for word, value in vector.items()}


def _dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    return sum([value * b[word] for word, value in a.items() if word in b])


def _fitting(lines: Iterable[str]) -> Iterator[str]:
    room = MAX_SUMMARY_CHARS
    for line in lines:
        if len(line) + 1 <= room:
            yield line
            room -= len(line) + 1
