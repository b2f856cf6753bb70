"""A connection that counts statements, keeps the last result and can have the server profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.graph.connection import READ_TIMEOUT_S, Connection

PATIENCE_S = 120.0
"""A slow statement is a result, and one that is profiled is planned anew."""


class WatchedConnection(Connection):
    """A connection with a memory: `trips` statements were read, `last` is the newest result.

    `profiling` adds plans to results.
    """

    profiling = False
    trips = 0
    last: Any = None

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> Any:  # noqa: ANN401 - the driver's result
        """Run a statement as `Connection.read` does, and remember it."""
        self.trips += 1
        statement = f"PROFILE {text}" if self.profiling else text
        self.last = await super().read(statement, parameters, max(timeout_s, PATIENCE_S))
        return self.last


def db_hits(plan: Mapping[str, Any] | None) -> int | None:
    """Return the database hits of a profiled plan, all its operators together.

    None without a plan.
    """
    if plan is None:
        return None
    return int(plan.get("dbHits", 0)) + sum(
        db_hits(child) or 0 for child in plan.get("children", ())
    )
