"""How near a node has to be to a question, measured when a project's texts have been indexed."""

from __future__ import annotations

from collections.abc import Sequence

from drift.core.deadline import Deadline
from drift.core.errors import UpstreamError
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.say import Say
from drift.model.found_nodes import ScoreThreshold
from drift.nodes.measuring import nearness_of_unrelated
from drift.nodes.ports import NodeFinder
from drift.nodes.threshold import LEAST_TEXTS, pairs, reached
from drift.ports import Embedder

PATIENCE_S = 120.0
SHARE = 0.99
COPIES = 0.98
"""Texts this near to each other are copies of one; what they share says nothing of the others."""


async def measure_and_keep(  # noqa: PLR0913, PLR0917 - what is measured, of what, and who is told
    finder: NodeFinder,
    embedder: Embedder | None,
    keeper: Neo4jWriter,
    project_id: str,
    dimensions: int,
    model: str = "",
    *,
    say: Say = lambda _: None,
) -> ScoreThreshold | None:
    """Measure a project's threshold and keep it at the project; return what holds now.

    Whoever indexes texts calls this at the end; where nothing was written since, one that fits is
    kept as it is. Without an embedder the first question measures how near unrelated questions
    come. A failure costs no more than the threshold, which is told.
    """
    try:
        kept, written_at = await keeper.kept_threshold(project_id)
        is_of_now = written_at is not None and kept is not None and kept.written_at == written_at
        if kept and is_of_now and kept.is_whole and kept.fits(dimensions, model):
            return kept
        deadline = Deadline.after(PATIENCE_S)
        sampled = await finder.sample(project_id, dimensions, pairs(), LEAST_TEXTS, deadline)
        score = measured(sampled.cosines, sampled.texts)
        lowest = floor(sampled.cosines, sampled.texts)
        nearest = None
        if embedder is not None and sampled.texts >= LEAST_TEXTS:
            nearest = await nearness_of_unrelated(finder, embedder, project_id, deadline)
        found = ScoreThreshold(score, sampled.texts, dimensions, model, lowest, nearest, written_at)
        await keeper.keep_threshold(project_id, found)
    except UpstreamError as error:
        say(f"The score threshold of project {project_id} was not measured: {error.detail}")
        return None
    return found


def measured(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 99th percentile of the cosines, without copies; None for too few texts."""
    different = (cosine for cosine in cosines if cosine < COPIES)
    return reached(different, SHARE) if texts >= LEAST_TEXTS else None


def floor(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 1st percentile of the cosines of random pairs; None for too few texts."""
    highest = reached((-cosine for cosine in cosines), SHARE) if texts >= LEAST_TEXTS else None
    return None if highest is None else -highest
