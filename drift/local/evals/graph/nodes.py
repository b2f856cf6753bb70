"""The search of nodes of every kind on the synthetic graph, and the sample for its threshold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.local.evals.graph.exact import share
from drift.local.evals.graph.synthetic import Query, SyntheticProject
from drift.local.evals.graph.trials import RUN_TIMEOUT_S, Outcome, Trial
from drift.local.evals.graph.watched import WatchedConnection, db_hits
from drift.model.found_nodes import CHUNK, COMMUNITY, NodesQuery
from drift.nodes.threshold import LEAST_TEXTS, pairs
from drift.ports import NodeFinder

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Nodes:
    """What is asked of one project's nodes, over a watched connection."""

    finder: NodeFinder
    connection: WatchedConnection
    project: SyntheticProject

    def trials(self) -> list[Trial]:
        """Return the search with what is around each node, and the sample of 2,000 pairs."""
        return [
            Trial("nodes", self._nearest, self._recall),
            Trial("nodes_sample", self._sample, _no_recall),
        ]

    async def _nearest(self, query: Query, profiled: bool) -> Outcome:
        return await self._watched(profiled, lambda: self._found(query))

    async def _sample(self, _query: Query, profiled: bool) -> Outcome:
        async def sampled() -> Sequence[str]:
            found = await self.finder.sample(
                self.project.project_id,
                self.project.dims,
                pairs(),
                LEAST_TEXTS,
                Deadline.after(RUN_TIMEOUT_S),
            )
            return ["pair"] * len(found.cosines)

        return await self._watched(profiled, sampled)

    async def _watched(
        self, profiled: bool, ask: Callable[[], Awaitable[Sequence[str]]]
    ) -> Outcome:
        before, self.connection.profiling = self.connection.trips, profiled
        try:
            found = await ask()
        finally:
            self.connection.profiling = False
        plan: Any = self.connection.last.summary.profile
        return Outcome(found, len(found), self.connection.trips - before, db_hits(plan))

    async def _recall(self, query: Query) -> float:
        return share(await self._found(query), self._exact(query))

    async def _found(self, query: Query) -> list[str]:
        asked = NodesQuery(self.project.project_id, query.vector, limit=SHOWN)
        found = await self.finder.nearest_nodes(asked, Deadline.after(RUN_TIMEOUT_S))
        return [f"{node.node_type} {node.id}" for node in found.nodes]

    def _exact(self, query: Query) -> list[str]:
        """Return the nearest chunks and communities; the entities of the graph have no vectors."""
        vector = np.asarray(query.vector, np.float32)
        chunks = self.project.vectors @ vector
        scored = [(float(chunks[n]), f"{CHUNK} c{n}") for n in np.argsort(-chunks)[:SHOWN]]
        for level, vectors in enumerate(self.project.community_vectors):
            scored += [
                (float(score), f"{COMMUNITY} {self.project.community_id(level, number)}")
                for number, score in enumerate(vectors @ vector)
            ]
        return [name for _, name in sorted(scored, reverse=True)[:SHOWN]]


async def _no_recall(_query: Query) -> None:
    """Return None: nothing is ranked."""
