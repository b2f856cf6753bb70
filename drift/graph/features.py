"""What a server and its indexes can do: probed once, never guessed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher import statements
from drift.graph.cypher.schema import Schema
from drift.graph.indexes import IndexNames
from drift.graph.inventory import Inventory, take_inventory

_REPROBE_S = 30.0


@dataclass(frozen=True, slots=True)
class Features:
    """What the server can do, and the statements that follow from it.

    `searches` says that the chunk index is searched inside one project, `covers_text` that the
    full-text index holds what the schema searches, `covers_names` that the index of titles does.
    """

    inventory: Inventory
    searches: bool
    covers_text: bool
    covers_names: bool
    primer: str
    followup: str
    positions: str
    stale_at: float


class Probe:
    """Belongs to one graph store; its first question is asked with the first search."""

    def __init__(self, connection: Connection, names: IndexNames, schema: Schema) -> None:
        """Remember what to ask; nothing is asked yet."""
        self._connection = connection
        self._names = names
        self._schema = schema
        self._features: Features | None = None

    async def features(self) -> Features:
        """Return what is known, or find it out; errors as for any read."""
        features = self._features
        if features is None or time.monotonic() > features.stale_at:
            features = self._features = await self._find_out()
        return features

    def forget(self) -> None:
        """Find it out again with the next search."""
        self._features = None

    async def _find_out(self) -> Features:
        inventory = await take_inventory(self._connection, self._names)
        can_filter = self._schema.has_projects and inventory.filters_by_project
        searches = can_filter and await self._can_search()
        index = self._names.chunk if searches else None

        # What is missing may be created any moment; what is there stays.
        covers_names = inventory.covers_names(self._schema.name_properties)
        is_settled = inventory.is_complete and covers_names
        stale_at = float("inf") if is_settled else time.monotonic() + _REPROBE_S
        return Features(
            inventory,
            searches,
            inventory.covers_text(self._schema.text_properties),
            covers_names,
            statements.primer(index, self._schema),
            statements.followup(index, self._schema),
            statements.positions(self._schema),
            stale_at,
        )

    async def _can_search(self) -> bool:
        probe = statements.probe_search(self._names.chunk)
        values = {"vector": [], "asked": {"project_id": ""}, "fetch": 1}
        try:
            await self._connection.read(probe, values)
        except GraphMisconfiguredError:
            return False
        return True
