"""PassageReader on Neo4j: one round trip for all passages of an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any

from drift.core.deadline import Deadline
from drift.graph.careful import CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import passages as statement
from drift.graph.cypher.schema import DEFAULT, Schema
from drift.graph.node_rows import score_threshold
from drift.graph.parameters import stored_keys
from drift.graph.reader import Neo4jReader
from drift.model.passages import MOST_PASSAGES, MOST_WITNESSES, Passage, Passages, PassagesQuery
from drift.model.reading import AboutProject
from drift.telemetry import parts

BOUNDS: Mapping[str, int] = {
    # Entities of a chunk, those of the fewest mentions first; one with more mentions is not one.
    "rarest": 10,
    "most_mentions": 200,
    "most_witnesses": MOST_WITNESSES,
    "longest_time": 40,
}
_FROM_HERE_MILLISECONDS = 1e11
"""A smaller number counts seconds: as milliseconds it would be before 1974."""
_MOST_MILLISECONDS = 253_402_300_800_000
"""The year 10000."""


class Neo4jPassages:
    """Reads over the connection of whoever made it; building it opens nothing."""

    def __init__(self, connection: Connection, schema: Schema = DEFAULT) -> None:
        """Read a graph of this schema."""
        self._reads = CarefulReads(connection)
        self._reader = Neo4jReader(connection, schema)
        self._schema = schema

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself; errors as for `passages`."""
        with parts.round_trip():
            return await self._reader.about(project_id, deadline)

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return what is known of these chunks; one that is not there is left out.

        Raises:
            GraphUnavailableError, GraphTimeoutError, GraphMisconfiguredError: as in drift.ports.
            DeadlineError: when the time is used up.
        """
        ids = list(dict.fromkeys(query.chunk_ids))[:MOST_PASSAGES]
        if not ids:
            return Passages()

        values = {
            **BOUNDS,
            "asked": {
                "project_id": query.project_id,
                "chunks": [{"id": one, "keys": stored_keys(one)} for one in ids],
            },
            "vector": list(query.vector),
            "dimensions": len(query.vector),
        }
        with parts.round_trip():
            async with deadline.enforced():
                records = (await self._reads.read(_text(self._schema), values, deadline)).records

        threshold = score_threshold(records[0]["threshold"]) if records else None
        found = (_passage(record) for record in records if record["is_there"])
        return Passages(tuple(found), threshold)


@lru_cache(maxsize=2)
def _text(schema: Schema) -> str:
    return statement.passages(schema)


def _passage(row: Mapping[str, Any]) -> Passage:
    score = row["similarity"]
    # Of a chunk without a document, or with fewer than two names, nobody can say the same.
    is_counted = row["has_document"] and row["named"] > 1
    return Passage(
        row["id"],
        2 * score - 1 if score is not None and math.isfinite(score) else None,
        next((ms for ms in map(milliseconds, row["times"] or ()) if ms is not None), None),
        tuple(row["witnesses"]) if is_counted else None,
    )


def milliseconds(stored: object) -> int | None:
    """Return a stored time in milliseconds since 1970; None for what is no time after that.

    Numbers count milliseconds or seconds, texts are ISO 8601, and times without a zone are UTC.
    """
    if isinstance(stored, bool) or stored is None:
        return None
    if isinstance(stored, int | float):
        return _of_number(float(stored))

    native = stored.to_native() if hasattr(stored, "to_native") else stored
    if isinstance(native, str):
        native = _read(native.strip())
    if isinstance(native, date) and not isinstance(native, datetime):
        native = datetime.combine(native, time(), UTC)
    if not isinstance(native, datetime):
        return None

    aware = native if native.tzinfo else native.replace(tzinfo=UTC)
    return _of_number(1000 * aware.timestamp(), are_milliseconds=True)


def _of_number(number: float, *, are_milliseconds: bool = False) -> int | None:
    if not math.isfinite(number):
        return None
    if not are_milliseconds and number < _FROM_HERE_MILLISECONDS:
        number *= 1000
    return int(number) if 0 < number < _MOST_MILLISECONDS else None


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
