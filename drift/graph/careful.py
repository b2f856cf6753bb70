"""Searches over vectors of which some may not be comparable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neo4j import EagerResult

from drift.core.deadline import Deadline
from drift.core.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    GraphVectorsError,
)
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.odd_nodes import OddNodes

COLD_TIMEOUT_S = 30.0
"""For a statement that the server has not seen: planning and compiling it takes seconds."""


class CarefulReads:
    """Runs statements with a parameter `careful`: whether every number of a vector is looked at.

    Belongs to one graph store, and is shared by all its requests.
    """

    def __init__(self, connection: Connection) -> None:
        """Read over this connection; no statement is known to the server yet."""
        self._connection = connection
        self._warm: set[str] = set()
        self.odd = OddNodes()

    async def read(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> EagerResult:
        """Run a statement.

        Where a vector of the project cannot be compared, it is run again with a look at every
        number.
        """
        try:
            result = await self._read(text, parameters, deadline)
        except (GraphTimeoutError, GraphMisconfiguredError):
            raise
        except GraphUnavailableError:
            self._warm.clear()
            raise
        self._warm.add(text)
        return result

    async def _read(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> EagerResult:
        timeout_s = READ_TIMEOUT_S if text in self._warm else COLD_TIMEOUT_S
        project_id = parameters["asked"]["project_id"]
        if not self.odd.need_care(project_id):
            try:
                values = {**parameters, "careful": False}
                return await self._connection.read(text, values, min(timeout_s, deadline.require()))
            except GraphVectorsError:
                self.odd.take_care(project_id)

        values = {**parameters, "careful": True}
        return await self._connection.read(text, values, min(timeout_s, deadline.require()))
