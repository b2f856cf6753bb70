"""Pure: what a topic is about, in its documents, terms and most central sentences, without a model.

Sources: c-TF-IDF after Grootendorst, "BERTopic" (2022); Carbonell and Goldstein, "The Use of MMR"
(1998).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from heapq import nsmallest
from itertools import pairwise
from typing import Self

from drift.graph.writing.records import ChunkRecord
from drift.indexing.chunking import PATH_SEPARATOR
from drift.local.ingest.prose import sentences, spellings, words

MAX_SUMMARY_CHARS = 1200
MAX_TERMS, TITLE_TERMS = 8, 3
MAX_TITLES, _MAX_TITLE_CHARS = 4, 80
MAX_SENTENCES, _MAX_SENTENCE = 5, 300
CENTRAL_CHUNKS = 12
"""Chunks nearest to a topic's centroid, of which its sentences are."""

MOST_WORDS, MOST_PAIRS = 300, 100
"""Of a digest."""

_RELEVANCE = 0.7
_MOST_ALIKE = 0.6
_CANDIDATE_WORDS = 40
_FEWEST_OF_A_PAIR = 3
_HAS_WORDS = re.compile(r"[^\W\d_]{3}")
_LEANING = frozenset(
    (
        *("he", "she", "it", "they", "we", "i", "you", "this", "that", "these", "those", "his"),
        *("her", "their", "its", "thus", "hence", "however", "but", "and", "so", "then", "also"),
        *("moreover", "therefore", "here", "there", "such", "nevertheless", "yes", "no"),
    )
)
"""Words with which a sentence leans on what stands before it."""


@dataclass(slots=True)
class Digest:
    """What a topic holds: how often each word, pair of words and document, and its best sentences.

    `spelled` are words as its most central chunks write them, `whole` counts the whole sentences of
    `central` chunks. Of words and pairs the most frequent are kept, so that it is small enough to
    be stored beside the topic.
    """

    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    spelled: dict[str, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    central: int = 0
    whole: int = 0

    @property
    def says(self) -> bool:
        """True where it has enough sentences to say what it is about."""
        return self.whole >= self.central

    def add(self, other: Digest) -> None:
        """Take in what a topic below holds; its best sentence stands for it."""
        self.words.update(other.words)
        self.pairs.update(other.pairs)
        self.titles.update(other.titles)
        self.spelled |= other.spelled
        self.sentences += other.sentences[:1]
        self.central += 1
        self.whole += other.says

    def to_json(self) -> str:
        """Return it as it is stored."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, stored: str) -> Self:
        """Return what was stored."""
        read = json.loads(stored)
        counted = {name: Counter(read[name]) for name in ("words", "pairs", "titles")}
        return cls(**{**read, **counted})


def digest(chunks: Sequence[ChunkRecord]) -> Digest:
    """Return what a topic holds whose chunks these are, the nearest to its centroid first."""
    held = Digest()
    for chunk in chunks:
        read = words(chunk.text)
        held.words.update(filter(None, read))
        held.pairs.update(f"{a} {b}" for a, b in pairwise(read) if a and b)
        held.titles[_title(chunk)] += 1

    held.words = Counter(dict(_most(held.words, MOST_WORDS)))
    pairs = _most(held.pairs, MOST_PAIRS)
    held.pairs = Counter({pair: number for pair, number in pairs if number >= _FEWEST_OF_A_PAIR})
    central = chunks[:CENTRAL_CHUNKS]
    spelled = spellings(" ".join(chunk.text for chunk in central))
    held.spelled = {word: spelling for word, spelling in spelled.items() if word in held.words}
    whole = [s.text for chunk in central for s in sentences(chunk.text) if s.whole]
    held.sentences = list(filter(_stands_alone, whole))
    held.central, held.whole = len(central), len(whole)
    return held


def _most(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return nsmallest(most, counts.items(), key=lambda item: (-item[1], item[0]))


def rarity(topics: Collection[Digest]) -> dict[str, float]:
    """Return how much each word tells one topic of a project from the others."""
    total: Counter[str] = Counter()
    for topic in topics:
        total.update(topic.words)
    size = total.total() / max(1, len(topics))
    return {word: math.log1p(size / count) for word, count in total.items()}


def _title(chunk: ChunkRecord) -> str:
    """Return the title of a chunk's document; a number gives way to a heading with words."""
    headings = (chunk.title, *chunk.heading.split(PATH_SEPARATOR))
    named = next(filter(_HAS_WORDS.search, headings), chunk.title)
    return " ".join(named.split())[:_MAX_TITLE_CHARS]


def _stands_alone(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0].strip("\"“'‘(*,").lower()
    return len(sentence) <= _MAX_SENTENCE and first not in _LEANING


def summarise(topic: Digest, rare: Mapping[str, float]) -> tuple[str, str]:
    """Return the title and the summary of a topic, or of what is above, best sentences first."""
    weights = {word: count * rare[word] for word, count in topic.words.items()}
    terms = [
        " ".join(topic.spelled.get(word, word) for word in term.split())
        for term in _terms(topic, weights)
    ]
    # Sentences are chosen as for a topic of one level: the best of each part for what is above.
    topic.sentences = _most_central(topic.sentences, weights, rare)
    titles = [title for title, _ in _most(topic.titles, MAX_TITLES) if title]
    more = len(topic.titles) - len(titles)

    lines = [f"About: {', '.join(terms)}."] if terms else []
    named = "; ".join(titles) + (f" and {more} more" if more > 0 else "")
    lines += [f"Documents: {named}."] if named else []
    return (
        ", ".join(terms[:TITLE_TERMS]) or named[:_MAX_TITLE_CHARS] or "Other",
        "\n".join(_fitting((*lines, *topic.sentences))),
    )


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
