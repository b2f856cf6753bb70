"""Pure: what chunks tell of one thing under several names, as one entity, and its relations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from drift.core.names import normalised_title
from drift.graph.writing.records import EntityRecord, RelationRecord
from drift.indexing.records import stable_id
from drift.local.ingest.by_model.fact_checks import ChunkFacts

MOST_SENTENCES, MOST_DESCRIPTION = 3, 900
SUBJECT_SHARE, SUBJECT_CHUNKS = 0.2, 5
"""What stands in more chunks than that, and in a larger share of them, is what the whole collection
is about: that a fact is about it tells nothing."""


@dataclass(slots=True)
class _Told:
    """What is told of one entity, and in which sentences."""

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

    Names with the same key are one entity, and names that one chunk uses for the same. A fact of
    one entity alone is told in its description.
    """
    groups = _Groups()
    for entity in (entity for facts in told.values() for entity in facts.entities):
        for name in (entity.name, *entity.also):
            groups.join(normalised_title(entity.name), normalised_title(name))

    known: dict[str, _Told] = defaultdict(_Told)
    for chunk_id, facts in told.items():
        for entity in facts.entities:
            about = known[groups.of(normalised_title(entity.name))]
            about.names[entity.name] += 1
            about.spellings.update(dict.fromkeys((entity.name, *entity.also)))
            about.types[entity.type] += 1
            about.chunk_ids[chunk_id] = None

    most = max(SUBJECT_CHUNKS, SUBJECT_SHARE * len(told))
    relations: dict[tuple[str, str, str], RelationRecord] = {}
    for chunk_id, facts in told.items():
        named = {one.name: groups.of(normalised_title(one.name)) for one in facts.entities}
        for one in facts.facts:
            ends = [named[name] for name in (one.subject, one.object) if name in named]
            ends = [end for end in dict.fromkeys(ends) if len(known[end].chunk_ids) <= most]
            for end in ends:
                known[end].sentences[one.sentence] = None
            if len(ends) > 1:
                source, target = (stable_id("entity", end) for end in ends)
                said = f"{one.subject} {one.predicate} {one.object}"
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
