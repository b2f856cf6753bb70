"""Pure: what a topic is about, in its documents, terms and most central sentences, without a model.

Sources: c-TF-IDF after Grootendorst, "BERTopic" (2022); Carbonell and Goldstein, "The Use of MMR"
(1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import pairwise

from drift.local.ingest.chunking import PATH_SEPARATOR
from drift.local.ingest.graph_records import ChunkRecord
from drift.local.ingest.prose import sentences, spellings, words

MAX_SUMMARY_CHARS = 1200
MAX_TERMS, TITLE_TERMS = 8, 3
MAX_TITLES, _MAX_TITLE_CHARS = 4, 80
MAX_SENTENCES, _MAX_SENTENCE = 5, 300
CENTRAL_CHUNKS = 12
"""Chunks nearest to a topic's centroid, of which its sentences are."""

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


@dataclass(frozen=True, slots=True)
class Summary:
    """A topic's title and text; a topic with too few sentences does not say what is in it."""

    title: str
    text: str
    says: bool


@dataclass(slots=True)
class _Topic:
    """What a topic holds: how often each word, pair of words and document, and its best sentences.

    `says` counts its central chunks and the sentences in them.
    """

    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    central: list[ChunkRecord] = field(default_factory=list)
    whole: int = 0

    def add(self, other: _Topic) -> None:
        """Take in what a topic below holds; its best sentence stands for it."""
        self.words.update(other.words)
        self.pairs.update(other.pairs)
        self.titles.update(other.titles)
        self.sentences += other.sentences[:1]
        self.central += other.central[:1]
        self.whole += other.whole >= len(other.central)


class Summaries:
    """The summaries of a project, level by level from its topics upwards."""

    def __init__(self, topics: Iterable[Sequence[ChunkRecord]]) -> None:
        """Read the topics, each with its chunks, the nearest to its centroid first."""
        self._level = [_read(chunks) for chunks in topics]
        self._total: Counter[str] = Counter()
        for topic in self._level:
            self._total.update(topic.words)

    def of_level(self) -> list[Summary]:
        """Return the summaries of the level that was reached, in its order."""
        size = self._total.total() / max(1, len(self._level))
        rare = {word: math.log1p(size / count) for word, count in self._total.items()}
        return [_summary(topic, rare) for topic in self._level]

    def rise(self, above: Iterable[int]) -> None:
        """Go on to the next level, where `above` is the community over each one of this."""
        groups: dict[int, _Topic] = {}
        for topic, group in zip(self._level, above, strict=True):
            groups.setdefault(group, _Topic()).add(topic)
        self._level = [groups[group] for group in sorted(groups)]


def _read(chunks: Sequence[ChunkRecord]) -> _Topic:
    topic = _Topic(central=list(chunks[:CENTRAL_CHUNKS]))
    for chunk in chunks:
        read = words(chunk.text)
        topic.words.update(filter(None, read))
        topic.pairs.update((a, b) for a, b in pairwise(read) if a and b)
        topic.titles[_title(chunk)] += 1

    for chunk in topic.central:
        whole = [s.text for s in sentences(chunk.text) if s.whole]
        topic.whole += len(whole)
        topic.sentences += filter(_stands_alone, whole)

    return topic


def _title(chunk: ChunkRecord) -> str:
    """Return the title of a chunk's document; a number gives way to a heading with words."""
    headings = (chunk.title, *chunk.heading.split(PATH_SEPARATOR))
    named = next(filter(_HAS_WORDS.search, headings), chunk.title)
    return " ".join(named.split())[:_MAX_TITLE_CHARS]


def _stands_alone(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0].strip("\"“'‘(*,").lower()
    return len(sentence) <= _MAX_SENTENCE and first not in _LEANING


def _summary(topic: _Topic, rare: Mapping[str, float]) -> Summary:
    weights = {word: count * rare[word] for word, count in topic.words.items()}
    spelled = _spelled(topic.central)
    terms = [
        " ".join(spelled.get(word, word) for word in term.split())
        for term in _terms(topic, weights)
    ]
    # Sentences are chosen as for a topic of one level: the best of each part for what is above.
    topic.sentences = _most_central(topic.sentences, weights, rare)
    titles = [title for title, _ in topic.titles.most_common(MAX_TITLES) if title]
    more = len(topic.titles) - len(titles)

    lines = [f"About: {', '.join(terms)}."] if terms else []
    named = "; ".join(titles) + (f" and {more} more" if more > 0 else "")
    lines += [f"Documents: {named}."] if named else []
    return Summary(
        ", ".join(terms[:TITLE_TERMS]) or named[:_MAX_TITLE_CHARS] or "Other",
        "\n".join(_fitting((*lines, *topic.sentences))),
        topic.whole >= len(topic.central),
    )


def _terms(topic: _Topic, weights: Mapping[str, float]) -> list[str]:
    """Return the words and pairs that tell the topic from others, the best first."""
    best = nsmallest(_CANDIDATE_WORDS, weights, key=lambda word: (-weights[word], word))
    rated = {word: weights[word] for word in best}
    for pair, count in topic.pairs.items():
        if count < _FEWEST_OF_A_PAIR or rated.keys().isdisjoint(pair):
            continue
        if count * 2 > min(topic.words[word] for word in pair):
            rated[" ".join(pair)] = max(weights[word] for word in pair) * 1.01

    terms: list[str] = []
    said: set[str] = set()
    for term in sorted(rated, key=lambda term: (-rated[term], term)):
        own = set(map(_stem, term.split()))
        if not own & said:
            terms.append(term)
            said |= own
        if len(terms) == MAX_TERMS:
            break

    return terms


def _stem(word: str) -> str:
    return word.removesuffix("s")


def _spelled(chunks: Iterable[ChunkRecord]) -> dict[str, str]:
    """Return each word in the spelling in which the chunks have it most often."""
    counts = spellings(" ".join(chunk.text for chunk in chunks))
    best: dict[str, str] = {}
    for spelling, count in counts.items():
        known = best.setdefault(spelling.lower(), spelling)
        if (count, spelling) > (counts[known], known):
            best[spelling.lower()] = spelling
    return best


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
    """Yield the lines for which there is room."""
    room = MAX_SUMMARY_CHARS
    for line in lines:
        if len(line) + 1 <= room:
            yield line
            room -= len(line) + 1
