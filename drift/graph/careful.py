"""Searches over vectors of which some may not be comparable."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cachetools import TTLCache
from neo4j import EagerResult

from drift.core.deadline import Deadline
from drift.core.errors import GraphTimeoutError, GraphUnavailableError, GraphVectorsError
from drift.core.logs import log
from drift.graph.connection import READ_TIMEOUT_S, Connection

COLD_TIMEOUT_S = 30.0
"""For a statement that the server has not seen: planning and compiling it takes seconds."""

REPEATED_S = 3600.0
"""A project is named in the log at most this often, however often it is asked."""
CAREFUL_S = 600.0
MAX_PROJECTS = 1000


class CarefulReads:
    """Runs statements with a parameter `careful`: whether every number of a vector is looked at.

    It remembers projects with nodes that a search cannot use, for all requests of a graph store.
    """

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        """Read over this connection, whose server knows no statement yet; `clock` gives seconds."""
        self._connection = connection
        self._warm: set[str] = set()
        self._named = TTLCache[str, bool](MAX_PROJECTS, REPEATED_S, clock)
        self._careful = TTLCache[str, bool](MAX_PROJECTS, CAREFUL_S, clock)

    def left_out(self, project_id: str, nodes: Mapping[str, Sequence[object]]) -> None:
        """Say in one line how many nodes of each label are left out, and the ids of some."""
        left = {label: list(dict.fromkeys(map(str, ids))) for label, ids in nodes.items() if ids}
        if not left or project_id in self._named:
            return

        self._named[project_id] = True
        counts = ", ".join(f"{len(ids)} {label}" for label, ids in left.items())
        examples = ", ".join(id_ for ids in left.values() for id_ in ids[:3])
        log.warning("graph_nodes_left_out", extra={"nodes": counts, "examples": examples})

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
