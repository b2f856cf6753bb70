"""Pure: what of a project's knowledge is as it was before, and need not be embedded or written."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter

from drift.graph.writing.records import KnowledgeBatch, RelationRecord
from drift.local.ingest.communities import by_parent

_parts_of = attrgetter(*(one.name for one in fields(RelationRecord)))


@dataclass(frozen=True, slots=True)
class Stamps:
    """What tells a node of a generation from one that is not the same any more, by its id."""

    entities: Mapping[str, str] = field(default_factory=dict)
    communities: Mapping[int, str] = field(default_factory=dict)

    def kept(self, earlier: Stamps) -> Stamps:
        """Return those of the nodes that are as they were before."""
        was, had = earlier.entities, earlier.communities
        return Stamps(
            {id_: stamp for id_, stamp in self.entities.items() if was.get(id_) == stamp},
            {id_: stamp for id_, stamp in self.communities.items() if had.get(id_) == stamp},
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The stamps of a new generation beside those of the one that questions see."""

    new: Stamps
    earlier: Stamps
    kept: Stamps = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", self.new.kept(self.earlier))


def stamps_of(batch: KnowledgeBatch) -> Stamps:
    """Return the stamps of a generation: of all that is stored of a node, but its vectors.

    What it leads to is part of it, so that an edge between two nodes that stay does so as well. A
    stamp ends with the number of edges that lead to the node: one that lost some is written anew.
    """
    related: dict[str, list[str]] = defaultdict(list)
    for relation in batch.relations:
        hashed = _hash(*_parts_of(relation))
        for end in {relation.source_id, relation.target_id}:
            related[end].append(hashed)

    entities = {
        one.id: _stamp(
            len(set(one.chunk_ids)),
            *(one.title, one.description, one.type, one.also),
            *((one.label, one.path, one.first_line, one.last_line) if one.label else ()),
            *(sorted(one.chunk_ids), sorted(related[one.id])),
        )
        for one in batch.entities
    }
    below = by_parent((one.community, one.parent) for one in batch.communities)
    named = {one.community: one for one in batch.communities}
    communities: dict[int, str] = {}

    def stamp(name: int) -> str:
        if name not in communities:
            one = named[name]
            communities[name] = ""  # so that a circle ends
            # What is in it is part of it: a walk down from what questions see meets nothing else.
            held = sorted(entities.get(id_, "") for id_ in one.entity_ids)
            parts = sorted(map(stamp, below.get(name, ())))
            communities[name] = _stamp(
                len({*one.chunk_ids}) + len({*one.entity_ids}) + len(parts),
                *(one.level, one.parent, one.title, one.summary, one.digest, one.says),
                *(sorted(one.chunk_ids), held, parts),
            )
        return communities[name]

    for name in named:
        stamp(name)
    return Stamps(entities, communities)


def _stamp(edges: int, *parts: object) -> str:
    return f"{_hash(*parts)} {edges}"


def _hash(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:32]
