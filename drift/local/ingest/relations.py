"""Pure: which entities belong together, from the chunks they share."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from drift.local.ingest.entities import MAX_DESCRIPTION_CHARS, FoundEntity, Reading

RELATIONS_AN_ENTITY = 10


@dataclass(frozen=True, slots=True)
class Relation:
    """Two entities, by key in alphabetical order; `weight` in (0, 1]."""

    source: str
    target: str
    weight: float
    description: str


def relate(readings: Sequence[Reading], entities: Iterable[FoundEntity]) -> tuple[Relation, ...]:
    """Return the strongest pairs of each entity, ordered by keys.

    The weight is the cosine of the two entities' sets of chunks (Ochiai's coefficient), times
    n/(n+1) for n shared chunks: one coincidence counts half.
    """
    titles = {entity.key: entity.title for entity in entities}
    spread = Counter(key for reading in readings for key in reading.weights)
    shared = Counter(
        pair for reading in readings for pair in combinations(sorted(reading.weights), 2)
    )
    weights = {
        (a, b): count / math.sqrt(spread[a] * spread[b]) * count / (count + 1)
        for (a, b), count in shared.items()
    }
    kept = _strongest(weights)
    told = _descriptions(readings, kept, titles)

    return tuple(Relation(*pair, round(weights[pair], 6), told[pair]) for pair in sorted(kept))


Pair = tuple[str, str]


def _strongest(weights: Mapping[Pair, float]) -> set[Pair]:
    """Return the pairs that are among the strongest of either end."""
    by_entity: defaultdict[str, list[tuple[float, Pair]]] = defaultdict(list)
    for pair, weight in weights.items():
        for key in pair:
            by_entity[key].append((-weight, pair))

    return {
        pair for ranked in by_entity.values() for _, pair in sorted(ranked)[:RELATIONS_AN_ENTITY]
    }


def _descriptions(
    readings: Sequence[Reading], kept: set[Pair], titles: Mapping[str, str]
) -> dict[Pair, str]:
    """Return for each pair the shortest sentence with both, else under which heading they meet."""
    told: dict[Pair, str] = {}
    for reading in readings:
        for sentence in reading.sentences:
            if not sentence.whole or len(sentence.text) > MAX_DESCRIPTION_CHARS:
                continue
            for pair in combinations(sorted(sentence.keys), 2):
                if pair in kept and len(sentence.text) < len(told.get(pair, sentence.text + " ")):
                    told[pair] = sentence.text

    for reading in readings:
        for pair in combinations(sorted(reading.weights), 2):
            if pair in kept and pair not in told:
                told[pair] = (
                    f"{titles[pair[0]]} and {titles[pair[1]]} are both in: {reading.chunk.heading}."
                )

    return told
