"""Pure: topics of a project, as clusters of its chunks' vectors in levels.

They stay where they are while the project changes: a chunk keeps its topic, a new one joins the
nearest. Source of the clustering: Dhillon and Modha, "Concept Decompositions" (2001), spherical
k-means, with the seeding of Arthur and Vassilvitskii, "k-means++" (2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drift.model.graph import Vector

Points = NDArray[np.float32]
Labels = NDArray[np.int64]
Levels = tuple[Labels, ...]
"""The topic of each chunk, then the group of each topic, then what is above each group. Numbers of
a level count from 0 without gaps; -1 marks a chunk or a community that has none yet."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A topic that the project has: the mean of the chunks that it was found of, and its group.

    It has `size` chunks now, and had as many as it `was` when it was last written.
    """

    mean: Points
    size: int
    was: int
    group: int


SMALLEST, LARGEST, MOST_KEPT = 4, 60, 90
"""Chunks of a topic when it is made, and how many it may have grown to before it is divided."""

WANTED, LEAST_WANTED, TOPICS_OF_A_SMALL_PROJECT = 36, 3, 20
"""Chunks of a topic that are aimed at: fewer where a project would have less than twenty topics."""

MOST_GROUPS = 40
"""Groups beyond which there is a level above them."""

_NEIGHBOUR = 0.125
"""How much a chunk leans to those beside it."""
_SHORT = 8
"""Chunks of a document or a folder to which each leans by half: more are about more things."""
_LOOSE = 0.6
"""Length of the mean of a topic's directions below which it is about several things."""
_NEAR = 0.5
"""Cosine from which a topic that is small joins another; what is like no other stays alone."""
_ROUNDS = 20
_NO_PROGRESS = 0.9
_SEED = 20240705


def points_of(vectors: Points, documents: Sequence[str], mean: Points | None = None) -> Points:
    """Return the rows to cluster, one a chunk: its direction from the mean of all, or from another.

    A chunk leans to those before and after it in its document, to the document and to its folder.
    Chunks stand in their order, and `documents` are the ids of theirs.
    """
    points = _directions(vectors - (vectors.mean(axis=0) if mean is None else mean))
    names = np.array(documents)
    follows = (names[1:] == names[:-1])[:, None]
    leaning = points.copy()
    leaning[1:] += _NEIGHBOUR * points[:-1] * follows
    leaning[:-1] += _NEIGHBOUR * points[1:] * follows
    leaning += _common(points, documents)
    leaning += _common(points, [one.rpartition("/")[0] for one in documents])
    return _directions(leaning)


def _common(points: Points, names: Sequence[str]) -> Points:
    """Return for each row the mean of those of its name, short where they differ or are many."""
    _, places, counts = np.unique(np.array(names), return_inverse=True, return_counts=True)
    sizes = counts.astype(np.float32)[:, None]
    sums = np.zeros((len(sizes), points.shape[1]), dtype=np.float32)
    np.add.at(sums, places, points)
    common: Points = (sums / sizes * _SHORT / (_SHORT + sizes))[places]
    return common


def find_topics(points: Points) -> Levels:
    """Return the topics of a project that has none, and the levels above."""
    wanted = min(WANTED, max(LEAST_WANTED, len(points) // TOPICS_OF_A_SMALL_PROJECT))
    groups = _kmeans(points, math.isqrt(len(points) // wanted))
    topics = np.full(len(points), -1, dtype=np.int64)
    above: list[int] = []
    for group in range(count(groups)):
        places = np.flatnonzero(groups == group)
        parts = _divided(points[places], wanted, _LOOSE)
        topics[places] = len(above) + parts
        above += [group] * count(parts)

    return _with_levels(points, *_without_small(points, topics, np.array(above)))


def follow_changes(kept: Sequence[Kept], points: Points) -> tuple[Labels, list[int]]:
    """Return the topic that each new chunk joins, and for each topic the one that it is now.

    Places count the kept topics. A topic without chunks is gone and is none any more (-1); one that
    is too small joins the nearest, of its own group where there is another. `points` are the
    new chunks' `points_of`, from the `mean_of` all.
    """
    centres = _directions(np.array([one.mean for one in kept]) - mean_of(kept))
    sizes = np.array([one.size for one in kept])
    there = np.flatnonzero(sizes > 0)
    joined = there[_nearest(points, centres[there])]
    sizes = sizes + np.bincount(joined, minlength=len(kept))
    now = _join_small(sizes, np.array([one.group for one in kept]), centres)
    return now[joined], [int(one) for one in now]


def _join_small(sizes: Labels, groups: Labels, centres: Points) -> Labels:
    """Return the topic that each one is now; small ones join the nearest, of their group if any."""
    now: Labels = np.where(sizes > 0, np.arange(len(sizes)), -1)
    for topic in np.argsort(sizes, kind="stable"):
        others = np.flatnonzero((sizes > 0) & (np.arange(len(sizes)) != topic))
        if not 0 < sizes[topic] < SMALLEST or not len(others):
            continue
        siblings = others[groups[others] == groups[topic]]
        others = siblings if len(siblings) else others
        near = others[_nearest(centres[[topic]], centres[others])[0]]
        if centres[topic] @ centres[near] < _NEAR:
            continue
        now[now == topic] = near
        sizes[near] += sizes[topic]
        sizes[topic] = 0
    return now


def mean(rows: Sequence[Points | Vector], sizes: Sequence[int] | None = None) -> Points:
    """Return the mean of the rows, each of which stands for so many."""
    rows_mean: Points = np.average(np.array(rows, dtype=np.float32), axis=0, weights=sizes)
    return rows_mean.astype(np.float32)


def mean_of(kept: Sequence[Kept]) -> Points:
    """Return the mean of all chunks, of which each topic was the part that it was."""
    return mean([one.mean for one in kept], [one.was for one in kept])


def cosines(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> Points:
    """Return the cosine of each of some vectors and its partner; 0 for one without a direction."""
    a, b = np.array(ones), np.array(others)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray(np.einsum("ij,ij->i", a, b) / np.where(lengths, lengths, 1.0), np.float32)


def directions_from(vectors: Points, mean: Points) -> Points:
    """Return the directions of the rows from a mean."""
    return _directions(vectors - mean)


def divide(points: Points) -> Labels | None:
    """Return the parts of a topic that has grown too large; None for one that has not."""
    return _divided(points, WANTED) if len(points) > MOST_KEPT else None


def _numbered(labels: Labels) -> Labels:
    """Return the labels without gaps between their numbers; -1 stays."""
    numbers = np.full(count(labels) + 1, -1, dtype=np.int64)
    left = np.unique(labels[labels >= 0])
    numbers[left] = np.arange(len(left))
    renumbered: Labels = numbers[labels]
    return renumbered


def _without_small(points: Points, topics: Labels, above: Labels) -> tuple[Labels, Labels]:
    """Return topics and groups after small ones have joined the nearest, of their group if any."""
    sizes = np.bincount(topics, minlength=len(above))
    now = _join_small(sizes, above, means(points, topics, len(above)))
    return _numbered(now[topics]), above[np.flatnonzero(sizes > 0)]


def _with_levels(points: Points, topics: Labels, above: Labels) -> Levels:
    """Return the levels: one above the topics unless it is a single group, a third for many."""
    groups = _numbered(above)
    if count(groups) <= 1:
        return (topics,)
    if count(groups) <= MOST_GROUPS:
        return topics, groups

    centres = means(points, groups[topics], count(groups))
    return topics, groups, _kmeans(centres, math.isqrt(count(groups)))


def _is_loose(points: Points, least: float) -> bool:
    """Tell whether so many rows for two topics are too different to be one; zeros are all alike."""
    is_for_two = len(points) >= 2 * SMALLEST and points.any()
    return bool(is_for_two and np.linalg.norm(points.mean(axis=0)) < least)


def _divided(points: Points, wanted: int, loose: float = 0.0) -> Labels:
    parts = np.zeros(len(points), dtype=np.int64)
    waiting, made = [np.arange(len(points))], 0
    while waiting:
        places = waiting.pop()
        is_loose = _is_loose(points[places], loose)
        k = max(round(len(places) / wanted), 1 + is_loose)
        found = [places]
        if k > 1 and (is_loose or len(places) > LARGEST or len(places) == len(points)):
            labels = _kmeans(points[places], k)
            found = [places[labels == label] for label in range(count(labels))]
            if max(map(len, found)) > _NO_PROGRESS * len(places):
                # What is all alike has no parts: it is cut in its order, where it is too large.
                found = np.array_split(places, math.ceil(len(places) / LARGEST))
        if len(found) > 1:
            waiting += found
        else:
            parts[places] = made
            made += 1

    return parts


def _kmeans(points: Points, k: int) -> Labels:
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
