"""What exact scoring finds on the synthetic graph, to compare an index or a statement with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from drift.local.evals.graph.synthetic import SyntheticProject
from drift.model.graph import Vector


@lru_cache(maxsize=4096)
def nearest_chunks(
    project: SyntheticProject,
    vector: Vector,
    most: int,
    level: int = 0,
    below: frozenset[int] | None = None,
) -> tuple[str, ...]:
    """Return the ids of the `most` chunks with the greatest cosine, best first.

    With `below`, only chunks below these communities of `level`.
    """
    places = np.arange(project.chunks)
    if below is not None:
        places = places[np.isin(project.below(level), list(below))]
    scores = project.vectors[places] @ np.asarray(vector, np.float32)
    return tuple(f"c{place}" for place in places[np.argsort(-scores, kind="stable")[:most]])


@lru_cache(maxsize=4096)
def nearest_communities(project: SyntheticProject, vector: Vector, level: int) -> tuple[int, ...]:
    """Return the numbers of a level's communities, the nearest to the vector first."""
    scores = project.community_vectors[level] @ np.asarray(vector, np.float32)
    return tuple(int(number) for number in np.argsort(-scores, kind="stable"))


def share(found: Sequence[str], exact: Sequence[str]) -> float:
    """Return the part (0..1) of the exact ranking that was found."""
    return len(set(found) & set(exact)) / len(exact) if exact else 1.0
