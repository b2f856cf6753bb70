"""Pure: which entities belong together, and what sentences say of two of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from drift.offline.indexing.entities import FoundEntity, Reading, ReadSentence
from drift.offline.indexing.said import MOST_NAMES, may_state, places, states

RELATIONS_AN_ENTITY = 10


@dataclass(frozen=True, slots=True)
class Bond:
    """Two entities, by key in alphabetical order, that share chunks; `weight` in (0, 1]."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, slots=True)
class Relation:
    """A bond of which a sentence says something: its description."""

    source: str
    target: str
    weight: float
    description: str


def bonds(readings: Iterable[Reading]) -> tuple[Bond, ...]:
    """Return the strongest pairs of each entity that share a chunk, ordered by keys.

    They say what is about the same things, for communities; nothing else is made of them.
    """
    weights = _weights(readings)
    kept = _strongest(weights)
    return tuple(Bond(*pair, round(weights[pair], 6)) for pair in sorted(kept))


def relate(readings: Sequence[Reading], entities: Iterable[FoundEntity]) -> tuple[Relation, ...]:
    """Return the strongest pairs of each entity of which a sentence says something.

    The shortest such sentence describes the pair.
    """
    told = _told(readings, {entity.key: (entity.title, entity.key) for entity in entities})
    weights = _weights(readings)
    kept = _strongest({pair: weights[pair] for pair in told})
    return tuple(Relation(*pair, round(weights[pair], 6), told[pair]) for pair in sorted(kept))


Pair = tuple[str, str]


def _weights(readings: Iterable[Reading]) -> dict[Pair, float]:
    """Weigh the pairs that share chunks.

    The weight is the cosine of the two entities' sets of chunks (Ochiai's coefficient), times
    n/(n+1) for n shared chunks: one coincidence counts half.
    """
    spread: Counter[str] = Counter()
    shared: Counter[Pair] = Counter()
    for reading in readings:
        spread.update(reading.weights)
        shared.update(combinations(sorted(reading.weights), 2))
    return {
        (a, b): count / math.sqrt(spread[a] * spread[b]) * count / (count + 1)
        for (a, b), count in shared.items()
    }


def _strongest(weights: Mapping[Pair, float]) -> set[Pair]:
    """Return the pairs that are among the strongest of either end."""
    by_entity: defaultdict[str, list[tuple[float, Pair]]] = defaultdict(list)
    for pair, weight in weights.items():
        for key in pair:
            by_entity[key].append((-weight, pair))
    return {
        pair for ranked in by_entity.values() for _, pair in sorted(ranked)[:RELATIONS_AN_ENTITY]
    }


def _told(readings: Iterable[Reading], spellings: Mapping[str, tuple[str, ...]]) -> dict[Pair, str]:
    """Return for each pair the shortest sentence that says something of both."""
    told: dict[Pair, str] = {}
    for reading in readings:
        for sentence in reading.sentences:
            if sentence.whole and 1 < len(sentence.keys) <= MOST_NAMES and may_state(sentence.text):
                for pair in _pairs_of(sentence, spellings):
                    if len(sentence.text) < len(told.get(pair, sentence.text + " ")):
                        told[pair] = sentence.text
    return told


def _pairs_of(sentence: ReadSentence, spellings: Mapping[str, tuple[str, ...]]) -> Iterator[Pair]:
    """Yield the pairs of which a sentence says something."""
    found = {key: places(sentence.text, spellings[key]) for key in sorted(sentence.keys)}
    for (a, at), (b, there) in combinations(found.items(), 2):
        if at and there and states(sentence.text, at, there):
            yield a, b
