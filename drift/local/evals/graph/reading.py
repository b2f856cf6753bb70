"""The statements of the read routes on the synthetic graph, each asked of rows chosen by chance."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.local.evals.graph.records import CHUNKS_A_DOCUMENT
from drift.local.evals.graph.report import READ
from drift.local.evals.graph.synthetic import Query, SyntheticProject
from drift.local.evals.graph.trials import RUN_TIMEOUT_S, Outcome, Trial
from drift.local.evals.graph.watched import WatchedConnection, db_hits
from drift.model.reading import PageQuery
from drift.ports import GraphReader

LISTED = PageQuery(50)
TEXTS = PageQuery(20)
"""As many rows as the routes give where nothing is said."""
HUB = "e-1"
"""The entity that every second chunk mentions."""

Read = Callable[[Deadline], Awaitable[Any]]


@dataclass(slots=True)
class Reading:
    """What is read of one project, over a watched connection."""

    reader: GraphReader
    connection: WatchedConnection
    project: SyntheticProject
    _chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - which rows are read

    def trials(self) -> list[Trial]:
        """Return a trial for each route, for a page far behind, and for the hub."""
        reader, project = self.reader, EVERYBODY.project(self.project.project_id)
        ways: dict[str, Read] = {
            "projects": partial(reader.projects, EVERYBODY, LISTED),
            "project": partial(reader.overview, project),
            "documents": partial(reader.documents, project, LISTED),
            "documents_behind": lambda deadline: reader.documents(
                project, PageQuery(LISTED.limit, (self._document(),)), deadline
            ),
            "communities": partial(reader.communities, project, None, TEXTS),
            "document": lambda deadline: reader.document(
                project, self._document(), LISTED, deadline
            ),
            "chunk": lambda deadline: reader.chunk(project, f"c{self._place()}", deadline),
            "entity": lambda deadline: reader.entity(
                project, self._entity(), TEXTS.limit, deadline
            ),
            "entity_hub": partial(reader.entity, project, HUB, TEXTS.limit),
        }
        return [
            Trial(f"{READ}{name}", partial(self._run, read), _no_recall)
            for name, read in ways.items()
        ]

    async def _run(self, read: Read, _query: Query, profiled: bool) -> Outcome:
        before, self.connection.profiling = self.connection.trips, profiled
        try:
            found = await read(Deadline.after(RUN_TIMEOUT_S))
        finally:
            self.connection.profiling = False
        if found is None:
            raise LookupError("The synthetic project lacks what was read.")

        rows: Sequence[Any] = getattr(found, "rows", (found,))
        plan = self.connection.last.summary.profile
        return Outcome([], len(rows), self.connection.trips - before, db_hits(plan))

    def _place(self) -> int:
        return self._chance.randrange(self.project.chunks)

    def _document(self) -> str:
        return f"d{self._place() // CHUNKS_A_DOCUMENT}"

    def _entity(self) -> str:
        return f"e{self._chance.randrange(self.project.entities)}"


async def _no_recall(_query: Query) -> None:
    """Return None: nothing is ranked."""
