"""What is measured on the synthetic graph, statement by statement: ours, and those of others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.evals.graph.exact import nearest_chunks, nearest_communities, share
from drift.local.evals.graph.library import LIBRARY, Library
from drift.local.evals.graph.rivals import (
    TOP_CHUNKS,
    TOP_COMMUNITIES,
    Rival,
    RivalQuestion,
    published,
)
from drift.local.evals.graph.synthetic import Query, SyntheticProject
from drift.local.evals.graph.watched import WatchedConnection, db_hits
from drift.model.graph import Evidence, FollowupQuery, PrimerEvidence, PrimerQuery
from drift.search.ranking import ranked

SAMPLES = 3
"""Chunks that the primer shows of a community."""
RUN_TIMEOUT_S = 60.0
_NO_WORDS = "?"
"""A question that only its vector answers: its candidates are the ranking by vector alone."""


class Outcome(NamedTuple):
    """What came of one run of a statement.

    `found` is in order, `rows` were returned, `trips` statements were sent; `db_hits` is there
    where it was profiled.
    """

    found: Sequence[str]
    rows: int
    trips: int = 1
    db_hits: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One statement: `run` asks a question, profiled or not.

    `recall` is the part (0..1) of the exact ranking that it finds.
    """

    name: str
    run: Callable[[Query, bool], Awaitable[Outcome]]
    recall: Callable[[Query], Awaitable[float | None]]


# --------------------------------------------------------------------------------------------- ours
@dataclass(frozen=True, slots=True)
class Ours:
    """The search's two statements over a watched connection, asked of one project."""

    graph: Neo4jGraph
    connection: WatchedConnection
    project: SyntheticProject

    def trials(self) -> list[Trial]:
        """Return the primer, and the follow-up inside the communities that it would choose."""
        return [Trial("primer", self._primer, self._primer_recall), self.followup("followup")]

    def followup(self, name: str) -> Trial:
        """Return the follow-up alone."""
        return Trial(name, self._followup, self._recall)

    async def _primer(self, query: Query, profiled: bool) -> Outcome:
        before = self._watch(profiled)
        found = await self.graph.primer(self._primer_query(query), Deadline.after(RUN_TIMEOUT_S))
        return self._run([str(community.id) for community in found.communities], before)

    async def _followup(self, query: Query, profiled: bool) -> Outcome:
        before = self._watch(profiled)
        found = await self._ask(query, query.text)
        return self._run([chunk.id for chunk in found.chunks], before)

    async def _primer_recall(self, query: Query) -> float:
        found = await self.graph.primer(self._primer_query(query), Deadline.after(RUN_TIMEOUT_S))
        return share(_pairs(found), exact_samples(self.project, query))

    async def _recall(self, query: Query) -> float:
        await self._ask(query, _NO_WORDS)
        rows = self.connection.last.records[0]["candidates"]
        ranked = sorted(rows, key=lambda row: (-row["similarity"], row["id"]))
        exact = nearest_chunks(self.project, query.vector, TOP_CHUNKS)
        return share([row["id"] for row in ranked[:TOP_CHUNKS]], exact)

    async def _ask(self, query: Query, text: str) -> Evidence:
        scope = tuple(number for _, number in exact_communities(self.project, query))
        asked = FollowupQuery(self.project.project_id, text, query.vector, scope)
        return ranked(await self.graph.followup(asked, Deadline.after(RUN_TIMEOUT_S)))

    def _primer_query(self, query: Query) -> PrimerQuery:
        return PrimerQuery(self.project.project_id, query.text, query.vector, TOP_COMMUNITIES)

    def _watch(self, profiled: bool) -> int:
        self.connection.profiling = profiled
        return self.connection.trips

    def _run(self, found: Sequence[str], trips_before: int) -> Outcome:
        self.connection.profiling = False
        plan = self.connection.last.summary.profile
        return Outcome(found, len(found), self.connection.trips - trips_before, db_hits(plan))


def exact_communities(project: SyntheticProject, query: Query) -> list[tuple[int, int]]:
    """Return what the primer should choose, as (level, id).

    The highest levels come first, until half of the places are filled.
    """
    known: list[tuple[int, int]] = []
    level = len(project.widths)
    while level and len(known) < (TOP_COMMUNITIES + 1) // 2:
        level -= 1
        known += [(level, number) for number in nearest_communities(project, query.vector, level)]
    return [
        (level, project.community_id(level, number)) for level, number in known[:TOP_COMMUNITIES]
    ]


def exact_samples(project: SyntheticProject, query: Query) -> list[str]:
    """Return what the primer should show, as `community/chunk`.

    Those are the nearest chunks below each of its communities.
    """
    pairs = []
    for level, id_ in exact_communities(project, query):
        number = id_ - project.community_id(level, 0)
        own = nearest_chunks(project, query.vector, SAMPLES, level, frozenset({number}))
        pairs += [f"{id_}/{chunk}" for chunk in own]
    return pairs


def _pairs(found: PrimerEvidence) -> list[str]:
    return [
        f"{community.id}/{sample.id}"
        for community in found.communities
        for sample in community.samples
    ]


# ------------------------------------------------------------------------------------------- others
@dataclass(frozen=True, slots=True)
class Others:
    """The statements of others over the same connection, asked of one project.

    `library` is None when it is not installed.
    """

    connection: WatchedConnection
    names: IndexNames
    project: SyntheticProject
    library: Library | None

    def trials(self) -> list[Trial]:
        """Return a trial for each statement, and one for the library."""
        own = [
            Trial(rival.name, partial(self._run, rival), partial(self._recall, rival))
            for rival in published(self.names.chunk)
        ]
        return own + [
            Trial(
                name, partial(self._run_library, repaired), partial(self._recall_library, repaired)
            )
            for name, repaired in ((Library.name, False), (f"{Library.name}_repaired", True))
        ]

    def _question(self, query: Query) -> RivalQuestion:
        return RivalQuestion(self.project, query, self.names.community)

    async def _run(self, rival: Rival, query: Query, profiled: bool) -> Outcome:
        self.connection.profiling = profiled
        try:
            result = await self.connection.read(
                rival.text, self._question(query).parameters, RUN_TIMEOUT_S
            )
        finally:
            self.connection.profiling = False
        rows = result.records
        found = (
            rival.found([row.data() for row in rows], self._question(query)) if rival.found else []
        )
        return Outcome(found, len(rows), 1, db_hits(result.summary.profile))

    async def _recall(self, rival: Rival, query: Query) -> float | None:
        if rival.exact is None:
            return None
        return share(
            (await self._run(rival, query, profiled=False)).found,
            rival.exact(self._question(query)),
        )

    async def _run_library(self, repaired: bool, query: Query, profiled: bool) -> Outcome:
        if self.library is None:
            raise GraphMisconfiguredError(f"{LIBRARY} is not installed: pip install neo4j-graphrag")
        question = self._question(query)
        found = await asyncio.to_thread(
            self.library.search, question, repaired=repaired, profiled=profiled
        )
        return Outcome(found, len(found), 1, db_hits(self.library.last.summary.profile))

    async def _recall_library(self, repaired: bool, query: Query) -> float:
        exact = nearest_chunks(self.project, query.vector, TOP_CHUNKS)
        return share((await self._run_library(repaired, query, profiled=False)).found, exact)
