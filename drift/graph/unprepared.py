"""What a graph holds that no search sees, because it was not prepared.

A pipeline knows IN_PROJECT edges; a search finds nodes by the properties that `prepare` sets.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from contextlib import suppress

from drift.core.errors import GraphMisconfiguredError, UpstreamError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher import unprepared as statements
from drift.graph.cypher.schema import Schema
from drift.graph.parameters import stored_ids
from drift.model.health import Lack

LOOKED_AT = 10_000
"""Edges of a project, and communities, that are looked at when a search found nothing."""

COUNTED_NODES = 1_000_000
"""Labels with more nodes are not counted: that would take longer than a health check may."""

COUNTED_AGAIN_S = 600.0
LOOKED_AGAIN_S = 60.0
"""After how long it is counted again: sooner where there was something to mend."""


def prepare_project(project_id: str, *, embed: bool = False) -> str:
    """Return what to run for a project, as one clause."""
    more = " --embed" if embed else ""
    return f"run `python -m drift prepare --project {shlex.quote(project_id)}{more}`"


def not_embedded(project_id: str, dimensions: int) -> GraphMisconfiguredError:
    """Return the error of a project that has chunks, and none that a search can compare."""
    prepare = prepare_project(project_id, embed=True)
    return GraphMisconfiguredError(
        f"The project has chunks, but none with an embedding of {dimensions} floats and a text: "
        f"{prepare}, with the model of the questions."
    )


async def require_empty(
    connection: Connection, schema: Schema, project_id: str, timeout_s: float
) -> None:
    """Check that a project in which nothing was found holds nothing.

    Raises:
        GraphMisconfiguredError: when it does, and no search can see it.
        GraphUnavailableError, GraphTimeoutError: as for any read.
    """
    text = statements.HIDDEN if schema.has_projects else statements.HIDDEN_V1
    asked = {"project_id": project_id, "project_ids": stored_ids(project_id)}
    found = await connection.read(
        text, {"asked": asked, "most": LOOKED_AT}, min(READ_TIMEOUT_S, timeout_s)
    )
    row = found.records[0]

    if row["hidden"] and schema.has_projects:
        raise GraphMisconfiguredError(
            f"The project's nodes were not prepared for searches, since they have no `project_id` "
            f"of their own: {prepare_project(project_id)}."
        )
    if row["hidden"]:
        raise GraphMisconfiguredError(
            "The graph was not prepared for searches, since its chunks have no label: run `python "
            "-m drift prepare`."
        )
    if row["communities"]:
        raise GraphMisconfiguredError(
            "The project has communities, but no chunks, and no community with an embedding of the "
            f"right length and a summary: {prepare_project(project_id, embed=True)}."
        )


class Unseen:
    """Counts the nodes that no search sees, and does so seldom."""

    def __init__(
        self, connection: Connection, schema: Schema, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Count through the connection; `clock` gives seconds. Nothing is counted yet."""
        self._connection = connection
        self._schema = schema
        self._clock = clock
        self._lacks: tuple[Lack, ...] = ()
        self._again_at = float("-inf")

    async def lacks(self, timeout_s: float) -> tuple[Lack, ...]:
        """Return a sentence for each label with such nodes; what was known if counting fails."""
        if not self._schema.has_projects or self._clock() < self._again_at:
            return self._lacks

        self._again_at = self._clock() + COUNTED_AGAIN_S
        # A count is no reason to call a server down that answers.
        with suppress(UpstreamError):
            found = await self._connection.read(
                statements.UNSEEN, {"most": COUNTED_NODES}, timeout_s
            )
            counts = {label: found.records[0][label] for label in statements.LABELS}
            self._lacks = tuple(
                Lack(label, _without_project(label, nodes - seen), "no request finds them")
                for label, (nodes, seen) in counts.items()
                if seen < nodes <= COUNTED_NODES
            )
            self._again_at = self._clock() + (LOOKED_AGAIN_S if self._lacks else COUNTED_AGAIN_S)
        return self._lacks


def _without_project(label: str, nodes: int) -> str:
    verb = "has" if nodes == 1 else "have"
    return f"{nodes:,} of the {label} nodes {verb} no `project_id`"
