"""Pure: the communities of a project as they are told: summaries from the topics upwards."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from drift.graph.writing.records import ChunkRecord, CommunityRecord
from drift.local.ingest.digests import Digest, Everywhere, digest
from drift.local.ingest.summaries import summarise
from drift.local.ingest.topics import Points, directions_from, mean
from drift.model.graph import Vector

Read = Mapping[str, tuple[ChunkRecord, Points]]
"""Chunks by their ids, each with its vector."""
Part = TypeVar("Part")


@dataclass(slots=True)
class TopicTree:
    """Which chunks each topic has, and what is above each community."""

    chunk_ids: dict[int, list[str]]
    parents: dict[int, int]


def by_parent(placed: Iterable[tuple[Part, int | None]]) -> dict[int, list[Part]]:
    """Return what is below each community, of parts beside the community that is above them."""
    below: dict[int, list[Part]] = defaultdict(list)
    for part, parent in placed:
        if parent is not None:
            below[parent].append(part)
    return below


def tell(
    tree: TopicTree, chunks: Read, untouched: Mapping[int, CommunityRecord]
) -> tuple[CommunityRecord, ...]:
    """Return the communities with their summaries, level by level from the topics upwards."""
    digests: dict[int, Digest] = {}
    means_: dict[int, Points] = {}
    for topic, ids in tree.chunk_ids.items():
        known = untouched.get(topic)
        means_[topic] = mean([known.mean] if known else [chunks[id_][1] for id_ in ids])

    sizes = {topic: len(ids) for topic, ids in tree.chunk_ids.items()}
    centre = mean(list(means_.values()), list(sizes.values()))
    ordered: dict[int, tuple[str, ...]] = {}
    for topic, ids in tree.chunk_ids.items():
        if topic in untouched:
            ordered[topic] = tuple(ids)
            digests[topic] = Digest.from_json(untouched[topic].digest)
            continue
        vectors = np.array([chunks[id_][1] for id_ in ids], dtype=np.float32)
        near = -directions_from(vectors, centre) @ (means_[topic] - centre)
        ordered[topic] = tuple(ids[place] for place in np.argsort(near.round(4), kind="stable"))
        digests[topic] = digest([chunks[id_][0] for id_ in ordered[topic]])

    everywhere = Everywhere.of(digests.values())
    told: list[CommunityRecord] = []
    level, names = 0, list(tree.chunk_ids)
    while names:
        taken = {untouched[name].title for name in names if name in untouched}
        for name in names:
            parent = tree.parents.get(name)
            if known := untouched.get(name):
                told.append(replace(known, level=level, chunk_ids=ordered.get(name, ())))
                continue
            title, summary = summarise(digests[name], everywhere, taken)
            taken.add(title)
            told.append(
                CommunityRecord(
                    name,
                    level,
                    parent,
                    title,
                    summary,
                    chunk_ids=ordered.get(name, ()),
                    mean=tuple(means_[name].tolist()),
                    says=digests[name].says,
                    digest=digests[name].to_json(),
                )
            )
        level, names = level + 1, _rise(tree, names, digests, means_, sizes, untouched)

    return tuple(told)


def _rise(  # noqa: PLR0913, PLR0917 - what each community has, by its name
    tree: TopicTree,
    names: Sequence[int],
    digests: dict[int, Digest],
    means_: dict[int, Points],
    sizes: dict[int, int],
    untouched: Mapping[int, CommunityRecord],
) -> list[int]:
    """Make what is above these communities of what they hold, and return it in its order."""
    below = by_parent((name, tree.parents.get(name)) for name in names)
    for parent, parts in below.items():
        sizes[parent] = sum(sizes[one] for one in parts)
        means_[parent] = mean([means_[one] for one in parts], [sizes[one] for one in parts])
        if known := untouched.get(parent):
            digests[parent] = Digest.from_json(known.digest)
            continue
        digests[parent] = Digest()
        for one in parts:
            digests[parent].add(digests[one])

    return list(below)


def between(summary: Vector, mean: Vector) -> Vector:
    """Return the direction in the middle of a summary and of the chunks that it is about."""
    lengths = math.hypot(*summary) or 1.0, math.hypot(*mean) or 1.0
    return tuple(a / lengths[0] + b / lengths[1] for a, b in zip(summary, mean, strict=True))
