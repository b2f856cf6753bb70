"""The constraints and indexes of a graph: created where they are missing, and described."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drift.core.errors import GraphMisconfiguredError
from drift.graph.cypher.statements import CYPHER_25
from drift.graph.indexes import read_indexes
from drift.local.ingest.neo4j.ddl import SchemaObject
from drift.local.ingest.neo4j.schema import create, missing, wait_until_online, warnings
from drift.local.prepare.changes import Changes
from drift.model.health import Index

_OLDER = (
    "a server before 2026.06 refuses the two options of quantisation: it gets the index without "
    "them"
)


class SchemaSteps:
    """Creates what is missing of the wanted constraints and indexes, kind by kind."""

    def __init__(
        self, changes: Changes, wanted: Sequence[SchemaObject], dimensions: int, wait_s: float
    ) -> None:
        """Create for vectors of `dimensions` floats; wait up to `wait_s` seconds for each kind."""
        self._changes = changes
        self._wanted = wanted
        self._dimensions = dimensions
        self._wait_s = wait_s

    async def create(self, *kinds: str) -> None:
        """Create what is missing of these kinds and wait until all of them are online."""
        connection, report = self._changes.connection, self._changes.report
        wanted = [w for w in self._wanted if w.kind in kinds]
        absent = missing(wanted, await read_indexes(connection))
        if report.dry_run:
            for w in absent:
                await self._write_down(w)
            report.created += [w.name for w in absent]
            return
        if absent:
            self._changes.say(f"Creating {', '.join(w.name for w in absent)} ...")
        report.created += [w.name for w in absent if await create(connection, w, self._dimensions)]
        await wait_until_online(
            connection, wanted, self._dimensions, self._wait_s, self._changes.say
        )

    async def _write_down(self, wanted: SchemaObject) -> None:
        best, *_, oldest = (*wanted.statements, wanted.statements[-1])
        text = best if best == oldest or await self._speaks_cypher_25() else oldest
        parameters = {"dimensions": self._dimensions} if "$dimensions" in text else {}
        self._changes.write_down(text, parameters, _OLDER if "quantization" in text else "")

    async def _speaks_cypher_25(self) -> bool:
        try:
            await self._changes.connection.read(CYPHER_25, {})
        except GraphMisconfiguredError:
            return False
        return True

    async def describe(self) -> None:
        """Add the indexes as they are now to the report, and what could be better about them."""
        stored = await read_indexes(self._changes.connection)
        serving = (next((s for s in stored if w.is_served_by(s)), None) for w in self._wanted)
        self._changes.report.indexes += [_described(s) for s in serving if s is not None]
        can_filter = await self._speaks_cypher_25()
        self._changes.report.problems += warnings(self._wanted, stored, can_filter=can_filter)


def _described(index: Index) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": index.name,
        "type": index.kind.upper(),
        "labels": list(index.labels),
        "properties": list(index.properties),
        "state": index.state,
    }
    return about | ({"dimensions": index.dimensions} if index.kind == "vector" else {})
