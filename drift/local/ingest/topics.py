"""Pure: topics of a project, as clusters of its chunks' vectors in levels.

They stay where they are while the project changes: a chunk keeps its topic, a new one joins the
nearest. Source of the clustering: Dhillon and Modha, "Concept Decompositions" (2001), spherical
k-means, with the seeding of Arthur and Vassilvitskii, "k-means++" (2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]
Labels = NDArray[np.int64]
Levels = tuple[Labels, ...]
"""The topic of each chunk, then the group of each topic, then what is above each group. Numbers of
a level count from 0 without gaps; -1 marks a chunk or a community that has none yet."""

SMALLEST, LARGEST, MOST_KEPT = 4, 60, 90
"""Chunks of a topic when it is made, and how many it may have grown to before it is divided."""

WANTED, LEAST_WANTED, TOPICS_OF_A_SMALL_PROJECT = 36, 6, 12
"""Chunks of a topic that are aimed at: fewer where a project would have less than twelve topics."""

MOST_GROUPS = 40
"""Groups beyond which there is a level above them."""

_NEIGHBOUR = 0.125
_ROUNDS = 20
_NO_PROGRESS = 0.9
_SEED = 20240705


def points_of(vectors: Points, documents: Sequence[str]) -> Points:
    """Return what is clustered, a row a chunk: its direction from the mean of all.

    A chunk leans to those before and after it in its document. Chunks stand in their order, and
    `documents` are the ids of theirs.
    """
    points = _directions(vectors - vectors.mean(axis=0, keepdims=True))
    names = np.array(documents)
    follows = (names[1:] == names[:-1])[:, None]
    leaning = points.copy()
    leaning[1:] += _NEIGHBOUR * points[:-1] * follows
    leaning[:-1] += _NEIGHBOUR * points[1:] * follows
    return _directions(leaning)


def find_topics(points: Points) -> Levels:
    """Return the topics of a project that has none, and the levels above."""
    wanted = min(WANTED, max(LEAST_WANTED, len(points) // TOPICS_OF_A_SMALL_PROJECT))
    groups = _kmeans(points, math.isqrt(len(points) // wanted))
    topics = np.full(len(points), -1, dtype=np.int64)
    above: list[int] = []
    for group in range(count(groups)):
        places = np.flatnonzero(groups == group)
        parts = _divided(points[places], wanted)
        topics[places] = len(above) + parts
        above += [group] * count(parts)

    return _with_levels(points, *_without_small(points, topics, np.array(above)))


def follow_changes(points: Points, kept: Levels) -> Levels:
    """Return the topics after a change, where `kept` are those of the chunks that stayed.

    A topic that has grown too large is divided, one that is too small joins the nearest.
    """
    topics, above = _numbered(kept[0]), _above(kept)
    centres = means(points, topics, len(above))
    new = np.flatnonzero(topics < 0)
    topics[new] = _nearest(points[new], centres)

    for topic in np.flatnonzero(np.bincount(topics, minlength=len(above)) > MOST_KEPT):
        places = np.flatnonzero(topics == topic)
        parts = _divided(points[places], WANTED)
        topics[places] = np.where(parts == 0, topic, len(above) - 1 + parts)
        above = np.append(above, [above[topic]] * (count(parts) - 1))

    return _with_levels(points, *_without_small(points, topics, above), kept[2:])


def _above(kept: Levels) -> Labels:
    """Return the group of each topic that is left, in the order of `_numbered`; one where none is.

    Topics without a group share the number -1 of a single one.
    """
    left = np.unique(kept[0][kept[0] >= 0])
    return kept[1][left] if len(kept) > 1 else np.zeros(len(left), dtype=np.int64)


def _numbered(labels: Labels) -> Labels:
    """Return the labels without gaps between their numbers; -1 stays."""
    numbers = np.full(count(labels) + 1, -1, dtype=np.int64)
    left = np.unique(labels[labels >= 0])
    numbers[left] = np.arange(len(left))
    renumbered: Labels = numbers[labels]
    return renumbered


def _without_small(points: Points, topics: Labels, above: Labels) -> tuple[Labels, Labels]:
    """Return topics and groups after those that are too small have joined the nearest.

    That is one of their own group where there is another.
    """
    sizes = np.bincount(topics, minlength=len(above))
    centres = means(points, topics, len(above))
    for topic in np.argsort(sizes, kind="stable"):
        others = np.flatnonzero((sizes > 0) & (np.arange(len(sizes)) != topic))
        if not 0 < sizes[topic] < SMALLEST or not len(others):
            continue
        siblings = others[above[others] == above[topic]]
        others = siblings if len(siblings) else others
        joined = others[_nearest(centres[[topic]], centres[others])[0]]
        topics[topics == topic] = joined
        sizes[joined] += sizes[topic]
        sizes[topic] = 0

    left = np.flatnonzero(sizes > 0)
    return _numbered(topics), above[left]


def _with_levels(points: Points, topics: Labels, above: Labels, highest: Levels = ()) -> Levels:
    """Return the levels: one above the topics unless it is a single group, a third for many."""
    groups = _numbered(above)
    if count(groups) <= 1:
        return (topics,)
    if count(groups) <= MOST_GROUPS:
        return topics, groups
    if highest:
        return topics, groups, _numbered(highest[0][np.unique(above)])

    centres = means(points, groups[topics], count(groups))
    return topics, groups, _kmeans(centres, math.isqrt(count(groups)))


def _divided(points: Points, wanted: int) -> Labels:
    """Return the parts of a cluster, none over LARGEST."""
    parts = np.zeros(len(points), dtype=np.int64)
    waiting, made = [np.arange(len(points))], 0
    while waiting:
        places = waiting.pop()
        k = round(len(places) / wanted)
        if k <= 1 or len(points) > len(places) <= LARGEST:
            parts[places] = made
            made += 1
            continue

        labels = _kmeans(points[places], k)
        found = [places[labels == label] for label in range(count(labels))]
        if max(map(len, found)) > _NO_PROGRESS * len(places):
            # What is all alike has no parts: it is cut in its order.
            found = np.array_split(places, max(2, math.ceil(len(places) / LARGEST)))
        waiting += found

    return parts


def _kmeans(points: Points, k: int) -> Labels:
    """Return the cluster of each row, at most k of them."""
    if k <= 1 or len(points) <= 1:
        return np.zeros(len(points), dtype=np.int64)

    centres = _seeds(points, min(k, len(points)))
    labels = _nearest(points, centres)
    for _ in range(_ROUNDS):
        centres = means(points, labels, len(centres))
        found = _nearest(points, centres)
        if np.array_equal(found, labels):
            break
        labels = found

    return _numbered(labels)


def _seeds(points: Points, k: int) -> Points:
    """Return k rows far from each other, as k-means++ draws them, or fewer where all are alike."""
    chance = np.random.default_rng(_SEED)
    chosen = [int(chance.integers(len(points)))]
    far = 1 - points @ points[chosen[0]]
    while len(chosen) < k:
        weights = np.maximum(far, 0).astype(np.float64)
        if weights.sum() < 1e-3:  # noqa: PLR2004 - rounding errors of float32, over all rows
            break
        chosen.append(int(chance.choice(len(points), p=weights / weights.sum())))
        far = np.minimum(far, 1 - points @ points[chosen[-1]])

    return points[chosen]


def _nearest(points: Points, centres: Points) -> Labels:
    """Return the place of the nearest centre of each row."""
    return np.argmax(points @ centres.T, axis=1)


def means(points: Points, labels: Labels, k: int) -> Points:
    """Return the direction of the mean of each cluster; zero for an empty one."""
    order = np.argsort(labels, kind="stable")
    order = order[np.searchsorted(labels[order], 0) :]  # without those that have none
    bounds = np.searchsorted(labels[order], np.arange(k))
    means = np.zeros((k, points.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(np.diff(np.append(bounds, len(order))))
    if len(filled):
        means[filled] = np.add.reduceat(points[order], bounds[filled], axis=0)
    return _directions(means)


def _directions(rows: Points) -> Points:
    """Return the rows at length one; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def count(labels: Labels) -> int:
    """Return how many communities the labels name."""
    return int(np.max(labels, initial=-1)) + 1
