"""Pure: the rankings to beat, and how sure the difference between two of them is."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

RESAMPLES = 2000
_SEED = 20240705
_RRF = 60


def reciprocal_ranks(*legs: Sequence[str]) -> list[str]:
    """Return the ids of all legs, best first by the sum of 1 / (60 + rank).

    Source: Cormack, Clarke, Büttcher, "Reciprocal rank fusion" (SIGIR 2009).
    """
    votes: defaultdict[str, float] = defaultdict(float)
    for leg in legs:
        for rank, id_ in enumerate(leg, start=1):
            votes[id_] += 1 / (_RRF + rank)
    return sorted(votes, key=lambda id_: (-votes[id_], id_))


def half_and_half(cosines: Mapping[str, float], bm25: Mapping[str, float]) -> list[str]:
    """Return the ids best first by half the scaled cosine and half the scaled BM25 score."""
    if not cosines:
        return []

    low, high = min(cosines.values()), max(cosines.values())
    greatest = max(bm25.values(), default=1.0)
    span = (high - low) or 1.0

    scores = {
        id_: (cosine - low) / span + bm25.get(id_, 0.0) / greatest
        for id_, cosine in cosines.items()
    }

    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def paired_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference by the percentile bootstrap over questions.

    It is the same on every run.

    Source: Efron, Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. An empty
    sequence gives (0, 0).
    """
    if not differences:
        return 0.0, 0.0
    chance = random.Random(_SEED)  # noqa: S311 - resampling, no secret
    size = len(differences)
    means = sorted(sum(chance.choices(differences, k=size)) / size for _ in range(RESAMPLES))
    return means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))]


def lead(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, list[float]]:
    """Return by how many points ours is ahead over the same questions, and the 95 % interval."""
    differences = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    return mean(differences), [percent(end) for end in paired_interval(differences)]


def mean(shares: Sequence[float]) -> float:
    """Return the mean of shares in percent, 0 of none."""
    return percent(sum(shares) / len(shares)) if shares else 0.0


def percent(share: float) -> float:
    """Return a share as a report has it."""
    return round(100 * share, 1)
