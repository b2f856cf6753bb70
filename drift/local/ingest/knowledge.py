"""Pure: the knowledge of a project, made from its chunks and their vectors as one batch."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from drift.local.ingest.graph_records import (
    ChunkRecord,
    CommunityRecord,
    KeptTopics,
    KnowledgeBatch,
)
from drift.local.ingest.summaries import Summaries, Summary
from drift.local.ingest.topics import (
    Labels,
    Levels,
    Points,
    count,
    find_topics,
    follow_changes,
    means,
    points_of,
)

KNOWLEDGE_VERSION = "7"
"""Part of the fingerprint: a change of the rules makes the next run derive everything anew."""

TIMES = 2
"""Topics are found anew in a project with so many times the chunks that it had, or that share."""

_NAMESPACE = uuid.UUID("6f6f0a3e-0d3f-5d0e-9a55-1f1c5c0f7d11")


def stable_id(*parts: str) -> str:
    """Return the same UUID for the same parts, on every machine."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def fingerprint(documents: Mapping[str, str], embedding: str) -> str:
    """Return a hash that changes with the documents (content hash by id) or the embeddings."""
    lines = [f"{name}\x1f{content_hash}" for name, content_hash in sorted(documents.items())]
    return hashlib.sha256("\x1e".join([KNOWLEDGE_VERSION, embedding, *lines]).encode()).hexdigest()


def derive(
    chunks: Sequence[ChunkRecord], vectors: Points, stamp: str, kept: KeptTopics | None = None
) -> KnowledgeBatch:
    """Return a project's topics as communities, each with its summary and its centroid.

    `chunks` stand in their order, document by document, `vectors` has a row for each. `kept` are
    the topics that the project has: they are followed, unless its size has doubled or halved since
    they were found.
    """
    if not chunks:
        return KnowledgeBatch((), (), (), stamp)

    points = points_of(vectors, [chunk.document_id for chunk in chunks])
    held = _levels_of(chunks, kept) if kept else None
    was = kept.clustered if kept else 0
    if held is None or not was / TIMES < len(chunks) < was * TIMES:
        levels, clustered = find_topics(points), len(chunks)
    else:
        levels, clustered = follow_changes(points, held), was

    communities = _communities(chunks, vectors, points, levels)
    return KnowledgeBatch((), (), tuple(communities), stamp, clustered=clustered)


def _levels_of(chunks: Sequence[ChunkRecord], kept: KeptTopics) -> Levels | None:
    """Return the levels that the project holds; None where no chunk is in a topic."""
    names: list[int | None] = [chunk.topic for chunk in chunks]
    levels: list[Labels] = []
    while True:
        known = sorted({name for name in names if name is not None})
        if not known:
            return tuple(levels) or None
        numbers = {name: number for number, name in enumerate(known)}
        levels.append(np.array([-1 if name is None else numbers[name] for name in names]))
        names = [kept.parents.get(name) for name in known]


def _communities(
    chunks: Sequence[ChunkRecord], vectors: Points, points: Points, levels: Levels
) -> Iterator[CommunityRecord]:
    """Yield the communities, level by level from the topics upwards."""
    topic_of = levels[0]
    members = [[int(place) for place in places] for places in _nearest_first(points, topic_of)]
    names = [_name([[chunks[place].id for place in places]]) for places in members]
    summaries = Summaries([[chunks[place] for place in places] for places in members])

    below = topic_of  # the community of this level that each chunk is in
    for level in range(len(levels)):
        above = levels[level + 1].tolist() if level + 1 < len(levels) else None
        parents = _names_above(names, above) if above else []
        centroids = means(vectors, below, len(names))
        for number, summary in enumerate(summaries.of_level()):
            held = tuple(chunks[place].id for place in members[number]) if not level else ()
            parent = parents[above[number]] if above else None
            yield _record(names[number], level, parent, summary, held, centroids[number])

        if above:
            summaries.rise(above)
            names, below = parents, levels[level + 1][below]


def _nearest_first(points: Points, topic_of: Labels) -> list[Labels]:
    """Return the places of each topic's chunks, the nearest to its centre first."""
    topics = count(topic_of)
    centres = means(points, topic_of, topics)
    near = np.einsum("ij,ij->i", points, centres[topic_of])
    order = np.lexsort((-near, topic_of))
    return np.split(order, np.searchsorted(topic_of[order], np.arange(1, topics)))


def _name(members: Sequence[Sequence[object]]) -> int:
    """Return a community's number, which is made of what is below it.

    A question that began before the knowledge was derived anew may name a community afterwards.
    Its number then means the same members, or none; a running number would mean other members.
    """
    told = "\x1d".join("\x1e".join(sorted(map(str, part))) for part in members)
    return int(hashlib.sha256(told.encode()).hexdigest()[:12], 16)


def _names_above(names: Sequence[int], above: Sequence[int]) -> list[int]:
    below: dict[int, list[int]] = {}
    for name, parent in zip(names, above, strict=True):
        below.setdefault(parent, []).append(name)
    return [_name([["group"], below[parent]]) for parent in sorted(below)]


def _record(  # noqa: PLR0913, PLR0917 - one argument a property
    name: int,
    level: int,
    parent: int | None,
    summary: Summary,
    chunk_ids: tuple[str, ...],
    centroid: Points,
) -> CommunityRecord:
    return CommunityRecord(
        name,
        level,
        parent,
        summary.title,
        summary.text,
        chunk_ids=chunk_ids,
        # What says nothing of itself has no vector: a search finds its chunks, and not it.
        centroid=tuple(centroid.tolist()) if summary.says else (),
    )
