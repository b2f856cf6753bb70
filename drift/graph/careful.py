"""Searches over vectors of which some may not be comparable."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from cachetools import TTLCache
from neo4j import EagerResult

from drift.core.deadline import Deadline
from drift.core.errors import GraphTimeoutError, GraphUnavailableError, GraphVectorsError
from drift.graph.connection import READ_TIMEOUT_S, Connection

COLD_TIMEOUT_S = 30.0
"""For a statement that the server has not seen: planning and compiling it takes seconds."""

CAREFUL_S = 600.0


class CarefulReads:
    """Runs statements with a parameter `careful`: whether every number of a vector is looked at.

    It remembers projects that want care, for all requests of a graph store.
    """

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        """Read over this connection, whose server knows no statement yet; `clock` gives seconds."""
        self._connection = connection
        self._warm: set[str] = set()
        self._careful = TTLCache[str, bool](1000, CAREFUL_S, clock)

    async def read(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> EagerResult:
        """Run a statement, and again with care where a vector of the project is not comparable."""
        project_id = parameters["asked"]["project_id"]
        if project_id not in self._careful:
            try:
                return await self._read(text, {**parameters, "careful": False}, deadline)
            except GraphVectorsError:
                self._careful[project_id] = True
        return await self._read(text, {**parameters, "careful": True}, deadline)

    async def _read(self, text: str, values: Mapping[str, Any], deadline: Deadline) -> EagerResult:
        timeout_s = READ_TIMEOUT_S if text in self._warm else COLD_TIMEOUT_S
        try:
            within_s = min(timeout_s, deadline.require())
            with self._connection.outcomes.noted(deadline, text):
                result = await self._connection.read(text, values, within_s)
        except GraphTimeoutError:
            raise
        except GraphUnavailableError:
            self._warm.clear()
            raise
        self._warm.add(text)
        return result
