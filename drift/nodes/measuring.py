"""A project's threshold, measured with its first question where ingestion has measured none."""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TLRUCache

from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, GraphTimeoutError, UpstreamError
from drift.core.logs import log
from drift.model.found_nodes import NodesQuery
from drift.nodes.ports import NodeFinder
from drift.nodes.threshold import LEAST_TEXTS, UNRELATED, pairs, unrelated
from drift.ports import Embedder
from drift.telemetry import parts

KEPT_S = 3600.0
AGAIN_S = 60.0
"""After how long it is tried again where a server failed; what was too slow is so for an hour."""
MAX_PROJECTS = 1000
PATIENCE_S = 10.0
"""What a question waits for it at most; without it no threshold is kept to."""


async def nearness_of_unrelated(
    finder: NodeFinder, embedder: Embedder, project_id: str, deadline: Deadline
) -> float | None:
    """Return how near unrelated questions come to a project's nodes; None where none was found."""
    vectors = (await embedder.embed(UNRELATED, deadline)).vectors
    queries = [NodesQuery(project_id, vector, limit=1) for vector in vectors]
    found = [await finder.nearest_nodes(query, deadline) for query in queries]
    return unrelated(one.nodes[0].score for one in found if one.nodes)


class Measuring:
    """What a process has measured, by project; it belongs to one finder."""

    def __init__(
        self, finder: NodeFinder, embedder: Embedder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with nothing measured; `clock` gives seconds."""
        self._finder = finder
        self._embedder = embedder
        self._known = TLRUCache[tuple[str, int], tuple[float | None, float]](
            MAX_PROJECTS, lambda _key, measured, now: now + measured[1], clock
        )

    async def score(self, project_id: str, dimensions: int, deadline: Deadline) -> float | None:
        """Return the project's threshold; None of too few texts, or where it cannot be measured.

        That costs the threshold, and never the question; DeadlineError when its own time is used
        up.
        """
        key = (project_id, dimensions)
        known = self._known.get(key)
        if known is None:
            with parts.measured():  # no caller's quota pays for what serves all of them
                known = await self._measured(project_id, dimensions, deadline)
            self._known[key] = known
        return known[0]

    async def _measured(
        self, project_id: str, dimensions: int, deadline: Deadline
    ) -> tuple[float | None, float]:
        """Return the threshold, and for how many seconds it holds."""
        patience = Deadline.after(min(PATIENCE_S, deadline.require()))
        finder, score = self._finder, None
        try:
            # One pair: a question needs the number of texts, and no cosines of theirs.
            found = await finder.sample(project_id, dimensions, pairs(1), LEAST_TEXTS, patience)
            if found.texts >= LEAST_TEXTS:
                score = await nearness_of_unrelated(finder, self._embedder, project_id, patience)
        except UpstreamError as error:
            deadline.require()
            log.warning("rag_threshold_unmeasured", extra={"reason": error.detail})
            is_slow = isinstance(error, GraphTimeoutError | DeadlineError)
            return None, KEPT_S if is_slow else AGAIN_S

        log.info("rag_threshold_measured", extra={"texts": found.texts, "threshold": score})
        return score, KEPT_S
