"""Pure: what chunks tell of one thing under several names, as one entity, and their relations."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from drift.core.names import normalised_title
from drift.graph.writing.records import EntityRecord, RelationRecord
from drift.graph.writing.rows import parts
from drift.indexing.records import stable_id
from drift.local.ingest.by_model.facts import ChunkFacts
from drift.local.ingest.topics import cosines

ALIKE = 0.9
"""Cosine from which two entities of a type whose names are nearly the same are one."""
MOST_EDITS, SHORTEST_EDITED = 2, 6
MOST_WITH_A_WORD = 200
"""Entities that share a word; a more common word tells nothing."""
PAIRS_AT_ONCE = 2_000
_NUMBERS = re.compile(r"\d+|\b[ivx]+\b")
MOST_SENTENCES, MOST_DESCRIPTION = 3, 900


@dataclass(slots=True)
class _Told:
    """What is told of one entity; sentences of its relations come before others."""

    names: Counter[str] = field(default_factory=Counter)
    spellings: dict[str, None] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    chunk_ids: dict[str, None] = field(default_factory=dict)
    sentences: dict[str, None] = field(default_factory=dict)


class _Groups:
    """Keys of names, and which of them name the same."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def of(self, key: str) -> str:
        """Return the key that stands for all names of the same."""
        self._first.setdefault(key, key)
        while (above := self._first[key]) != key:
            self._first[key] = self._first[above]
            key = above
        return key

    def join(self, one: str, other: str) -> None:
        self._first[self.of(other)] = self.of(one)


def merge(
    told: Mapping[str, ChunkFacts],
) -> tuple[tuple[EntityRecord, ...], tuple[RelationRecord, ...]]:
    """Return the entities that chunks (by id) tell of, and their relations with their evidence.

    Names with the same key are one entity, and names that one chunk uses for the same.
    """
    groups = _Groups()
    for entity in (entity for facts in told.values() for entity in facts.entities):
        for name in (entity.name, *entity.also):
            groups.join(normalised_title(entity.name), normalised_title(name))

    known: dict[str, _Told] = defaultdict(_Told)
    relations: dict[tuple[str, str, str], RelationRecord] = {}
    for chunk_id, facts in told.items():
        for entity in facts.entities:
            about = known[groups.of(normalised_title(entity.name))]
            about.names[entity.name] += 1
            about.spellings.update(dict.fromkeys((entity.name, *entity.also)))
            about.types[entity.type] += 1
            about.chunk_ids[chunk_id] = None

        for one in facts.relations:
            ends = [groups.of(normalised_title(name)) for name in (one.source, one.target)]
            if ends[0] == ends[1] or not known.keys() >= set(ends):
                continue
            for end in ends:
                known[end].sentences[one.sentence] = None
            source, target = (stable_id("entity", end) for end in ends)
            said = f"{one.source} {one.says} {one.target}"
            relations.setdefault(
                (source, target, said.casefold()),
                RelationRecord(source, target, said, 1.0, one.sentence, chunk_id),
            )

    return tuple(_record(key, about) for key, about in known.items()), tuple(relations.values())


def _record(key: str, about: _Told) -> EntityRecord:
    # The name that most chunks use; of several the fullest.
    title = max(
        about.names,
        key=lambda name: (about.names[name], len(name), not name.isupper() and not name.islower()),
    )
    sentences = list(about.sentences)[:MOST_SENTENCES]
    kind = about.types.most_common(1)[0][0]
    return EntityRecord(
        stable_id("entity", key),
        title,
        " ".join(sentences)[:MOST_DESCRIPTION] or kind,
        tuple(about.chunk_ids),
        type=kind,
        also=tuple(name for name in about.spellings if name != title),
    )


# --------------------------------------------------------------------------- names that are nearly
def merge_alike(
    entities: Sequence[EntityRecord], relations: Sequence[RelationRecord]
) -> tuple[tuple[EntityRecord, ...], tuple[RelationRecord, ...]]:
    """Return entities and relations after those with vectors and names nearly alike became one.

    They are of one type, and the words of one name are within the other's, or two letters differ.
    A name that fits two others joins neither.
    """
    fits: dict[int, list[int]] = defaultdict(list)
    for one, other in _pairs(entities):
        small, large = sorted((one, other), key=lambda at: (len(entities[at].chunk_ids), at))
        if len(entities[one].title.split()) != len(entities[other].title.split()):
            small, large = sorted((one, other), key=lambda at: len(entities[at].title.split()))
        fits[small].append(large)

    into = {small: large for small, (large, *more) in fits.items() if not more}
    joined: dict[int, EntityRecord] = dict(enumerate(entities))
    ids = {entity.id: entity.id for entity in entities}
    for small in sorted(into, key=lambda at: len(entities[at].title)):
        large = into[small]
        if large in into or small not in joined:
            continue  # a chain of names: each step would have to hold for all of it
        joined[large] = _joined(joined[large], joined.pop(small))
        ids[entities[small].id] = entities[large].id

    moved = (replace(r, source_id=ids[r.source_id], target_id=ids[r.target_id]) for r in relations)
    kept = tuple(one for one in moved if one.source_id != one.target_id)
    return tuple(joined.values()), kept


def _pairs(entities: Sequence[EntityRecord]) -> list[tuple[int, int]]:
    names = [_Title.of(normalised_title(entity.title)) for entity in entities]
    by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, (entity, name) in enumerate(zip(entities, names, strict=True)):
        for word in name.words | {name.title[:4] + "…", "…" + name.title[-4:]}:
            by_word[entity.type, word].append(at)

    near: dict[tuple[int, int], None] = {}
    for places in by_word.values():
        if len(places) <= MOST_WITH_A_WORD:
            for one, other in combinations(places, 2):
                if _are_near(names[one], names[other]):
                    near[one, other] = None

    alike: list[tuple[int, int]] = []
    for pairs in parts(list(near), PAIRS_AT_ONCE):
        ends = ([entities[at].embedding for at in end] for end in zip(*pairs, strict=True))
        are_alike = cosines(*ends) >= ALIKE
        alike += (pair for pair, is_alike in zip(pairs, are_alike, strict=True) if is_alike)
    return alike


@dataclass(frozen=True, slots=True)
class _Title:
    """A title with its words and its numbers."""

    title: str
    words: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, title: str) -> _Title:
        words = frozenset(title.split())
        return cls(title, words, frozenset(_NUMBERS.findall(" ".join(words))))


def _are_near(one: _Title, other: _Title) -> bool:
    if one.numbers != other.numbers:
        return False
    if one.words < other.words or other.words < one.words:
        return True
    a, b = (" ".join(sorted(words)) for words in (one.words - other.words, other.words - one.words))
    return min(len(a), len(b)) >= SHORTEST_EDITED and _edits(a, b) <= MOST_EDITS


def _edits(one: str, other: str) -> int:
    """Return the edit distance; more than MOST_EDITS as that and one.

    Source: Levenshtein (1966), in a band of the matrix.
    """
    if abs(len(one) - len(other)) > MOST_EDITS:
        return MOST_EDITS + 1
    row = list(range(len(other) + 1))
    for y, a in enumerate(one, 1):
        left = [y] + [MOST_EDITS + 1] * len(other)
        for x in range(max(1, y - MOST_EDITS), min(len(other), y + MOST_EDITS) + 1):
            left[x] = min(row[x - 1] + (a != other[x - 1]), row[x] + 1, left[x - 1] + 1)
        row = left
    return min(row[-1], MOST_EDITS + 1)


def _joined(large: EntityRecord, small: EntityRecord) -> EntityRecord:
    also = dict.fromkeys((*large.also, small.title, *small.also))
    also.pop(large.title, None)
    return replace(
        large,
        chunk_ids=tuple(dict.fromkeys((*large.chunk_ids, *small.chunk_ids))),
        also=tuple(also),
    )
