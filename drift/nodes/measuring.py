"""A project's threshold, measured beside its first question where ingestion has measured none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cachetools import TLRUCache

from drift.core.deadline import Deadline, task_group
from drift.core.errors import DeadlineError, GraphTimeoutError, UpstreamError
from drift.core.logs import log
from drift.core.shared_build import SharedBuild
from drift.model.found_nodes import FoundNodes, NodesQuery
from drift.model.graph import Vector
from drift.nodes.ports import NodeFinder
from drift.nodes.threshold import LEAST_TEXTS, UNRELATED, pairs, unrelated
from drift.ports import Embedder
from drift.telemetry import parts

KEPT_S = 3600.0
AGAIN_S = 60.0
"""The wait after a failed server; a measurement that was too slow waits for an hour."""
PATIENCE_S = 1.0
"""The longest wait of a question; without a threshold all nodes are near enough."""
AT_ONCE = 4
"""Searches in flight of one measurement; projects are measured one after another."""


async def nearness_of_unrelated(
    finder: NodeFinder, embedder: Embedder, project_id: str, deadline: Deadline
) -> float | None:
    """Return how near unrelated questions come to a project's nodes; None where none was found."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def nearest(vector: Vector) -> FoundNodes:
        async with slots:
            return await finder.nearest_nodes(NodesQuery(project_id, vector, limit=1), deadline)

    vectors = (await embedder.embed(UNRELATED, deadline)).vectors
    async with task_group() as group:
        asked = [group.create_task(nearest(vector)) for vector in vectors]
    found = [task.result() for task in asked]
    return unrelated(one.nodes[0].score for one in found if one.nodes)


@dataclass(frozen=True, slots=True)
class Measured:
    """A project's threshold, None of too few texts; `is_known` tells that from one not measured."""

    score: float | None = None
    is_known: bool = False
    kept_s: float = KEPT_S


class Measuring:
    """The thresholds that a process has measured, by project; it belongs to one finder."""

    def __init__(
        self, finder: NodeFinder, embedder: Embedder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with nothing measured; `clock` gives seconds."""
        self._finder = finder
        self._embedder = embedder
        self._known = TLRUCache[tuple[str, int], Measured](
            1000, lambda _key, measured, now: now + measured.kept_s, clock
        )
        self._builds = dict[tuple[str, int], SharedBuild[Measured]]()
        self._turn = asyncio.Lock()

    async def score(self, project_id: str, dimensions: int, deadline: Deadline) -> Measured:
        """Return the project's threshold as far as it is known, after a short wait at most.

        A measurement is shared by all questions meanwhile, and goes on beside their answers. Its
        failure costs no question; DeadlineError when the question's own time is used up.
        """
        key, left = (project_id, dimensions), deadline.require()
        if known := self._known.get(key):
            return known

        build = self._builds.setdefault(key, SharedBuild(partial(self._kept, *key)))
        task = build.start()
        await asyncio.wait({task}, timeout=min(PATIENCE_S, left))
        deadline.require()
        return task.result() if task.done() else Measured()

    async def _kept(self, project_id: str, dimensions: int) -> Measured:
        """Measure a project, and keep that."""
        key = (project_id, dimensions)
        try:
            async with self._turn:
                with parts.measured():  # no caller's quota pays for what serves all of them
                    found = await self._measured(project_id, dimensions)
            self._known[key] = found
            return found
        finally:
            del self._builds[key]

    async def _measured(self, project_id: str, dimensions: int) -> Measured:
        # a minute beside the answers, which do not wait for it
        deadline, finder, score = Deadline.after(60.0), self._finder, None
        try:
            # One pair: a question needs the number of texts, and no cosines of theirs.
            found = await finder.sample(project_id, dimensions, pairs(1), LEAST_TEXTS, deadline)
            if found.texts >= LEAST_TEXTS:
                score = await nearness_of_unrelated(finder, self._embedder, project_id, deadline)
        except UpstreamError as error:
            log.warning("rag_threshold_unmeasured", extra={"reason": error.detail})
            is_slow = isinstance(error, GraphTimeoutError | DeadlineError)
            return Measured(kept_s=KEPT_S if is_slow else AGAIN_S)

        log.info("rag_threshold_measured", extra={"texts": found.texts, "threshold": score})
        return Measured(score, is_known=True)
