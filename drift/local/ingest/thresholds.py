"""How near a node has to be to a question, measured when a project's texts have been indexed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drift.core.deadline import Deadline
from drift.core.errors import UpstreamError
from drift.local.say import Say
from drift.model.found_nodes import ScoreThreshold
from drift.nodes.measuring import nearness_of_unrelated
from drift.nodes.threshold import LEAST_TEXTS, pairs, reached
from drift.ports import Embedder, NodeFinder

PATIENCE_S = 120.0
SHARE = 0.99
COPIES = 0.98
"""Texts this near to each other are copies of one; what they share says nothing of the others."""


class ThresholdKeeper(Protocol):
    """Where the thresholds of projects stand; errors as for GraphWriter."""

    async def kept_threshold(self, project_id: str) -> ScoreThreshold | None:
        """Return what was measured of a project; None where nothing was."""
        ...

    async def keep_threshold(self, project_id: str, threshold: ScoreThreshold) -> None:
        """Keep what was measured; a project that nothing stands for keeps nothing."""
        ...


async def measure_and_keep(  # noqa: PLR0913, PLR0917 - what is measured, of what, and who is told
    finder: NodeFinder,
    embedder: Embedder | None,
    keeper: ThresholdKeeper,
    project_id: str,
    dimensions: int,
    model: str = "",
    *,
    has_changed: bool = True,
    say: Say = lambda _: None,
) -> ScoreThreshold | None:
    """Measure a project's threshold and keep it at the project; return what holds now.

    Whoever indexes texts calls this at the end. A failure costs no more than the threshold, which
    the first question then measures.

    Args:
        finder: samples the texts.
        embedder: embeds questions about something else; without it the first question measures.
        keeper: keeps the threshold.
        project_id: whose texts.
        dimensions: floats of a vector.
        model: the embedding model's name; empty where it is not known.
        has_changed: whether any text has changed; otherwise one that fits is kept as it is.
        say: is told of a failure.
    """
    try:
        kept = await keeper.kept_threshold(project_id)
        if kept and kept.is_whole and not has_changed and kept.fits(dimensions, model):
            return kept
        deadline = Deadline.after(PATIENCE_S)
        found = await _measure(finder, embedder, project_id, dimensions, deadline, model)
        await keeper.keep_threshold(project_id, found)
    except UpstreamError as error:
        say(f"The score threshold of project {project_id} was not measured: {error.detail}")
        return None
    return found


async def _measure(  # noqa: PLR0913, PLR0917 - what is measured, of what, and until when
    finder: NodeFinder,
    embedder: Embedder | None,
    project_id: str,
    dimensions: int,
    deadline: Deadline,
    model: str = "",
) -> ScoreThreshold:
    """Return the threshold of a project as its texts are now; errors as for finder and embedder.

    Without an embedder it is not known how near unrelated questions come.
    """
    sampled = await finder.sample(project_id, dimensions, pairs(), LEAST_TEXTS, deadline)
    score = measured(sampled.cosines, sampled.texts)
    lowest = floor(sampled.cosines, sampled.texts)
    nearest = None
    if embedder is not None and sampled.texts >= LEAST_TEXTS:
        nearest = await nearness_of_unrelated(finder, embedder, project_id, deadline)

    return ScoreThreshold(score, sampled.texts, dimensions, model, lowest, nearest)


def measured(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 99th percentile of the cosines of random pairs; None for too few texts.

    It is the smallest of them that at least 99 of 100 do not exceed. Pairs of copies do not count.
    """
    different = (cosine for cosine in cosines if cosine < COPIES)
    return reached(different, SHARE) if texts >= LEAST_TEXTS else None


def floor(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 1st percentile of the cosines of random pairs; None for too few texts.

    It is the largest of them that at least 99 of 100 reach.
    """
    highest = reached((-cosine for cosine in cosines), SHARE) if texts >= LEAST_TEXTS else None
    return None if highest is None else -highest
