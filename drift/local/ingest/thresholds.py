"""How near a node has to be to a question, measured when a project's texts have been indexed."""

from __future__ import annotations

from typing import Protocol

from drift.core.deadline import Deadline
from drift.core.errors import UpstreamError
from drift.local.say import Say
from drift.model.found_nodes import ScoreThreshold
from drift.nodes.measuring import measure
from drift.ports import Embedder, NodeFinder

PATIENCE_S = 120.0


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
        found = await measure(finder, embedder, project_id, dimensions, deadline, model)
        await keeper.keep_threshold(project_id, found)
    except UpstreamError as error:
        say(f"The score threshold of project {project_id} was not measured: {error.detail}")
        return None
    return found
