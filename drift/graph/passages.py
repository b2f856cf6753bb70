"""PassageReader on Neo4j: one round trip for all passages of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any

from drift.core.deadline import Deadline
from drift.graph.careful import CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import passages as statement
from drift.graph.cypher.schema import Schema
from drift.graph.inventory import Probe
from drift.graph.node_rows import score_threshold
from drift.graph.parameters import stored_ids
from drift.graph.reader import Neo4jReader
from drift.model.graph import Vector
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
_YEAR_10000 = 253_402_300_800_000


_text = cache(statement.passages)


class Neo4jPassages:
    """Reads over the connection of whoever made it; building it opens nothing."""

    def __init__(
        self, connection: Connection, schema: Schema, probe_of: Callable[[Vector], Probe]
    ) -> None:
        """Read a graph of this schema; `probe_of` knows the vectors of the question's model."""
        self._reads = CarefulReads(connection)
        self._reader = Neo4jReader(connection, schema)
        self._probe_of = probe_of

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself."""
        with parts.round_trip():
            return await self._reader.about(project_id, deadline)

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return what is known of these chunks; DeadlineError when the time is used up."""
        ids = list(dict.fromkeys(query.chunk_ids))[:MOST_PASSAGES]
        if not ids:
            return Passages()

        values = {
            **BOUNDS,
            "asked": {
                "project_id": query.project_id,
                "chunks": [{"id": one, "ids": stored_ids(one)} for one in ids],
            },
            "vector": list(query.vector),
            "dimensions": len(query.vector),
        }
        with parts.round_trip():
            async with deadline.enforced():
                text = _text(await self._probe_of(query.vector).schema())
                records = (await self._reads.read(text, values, deadline)).records

        threshold = score_threshold(records[0]["threshold"]) if records else None
        found = (_passage(record) for record in records if record["is_there"])
        return Passages(tuple(found), threshold)


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
        return _in_range(stored if stored >= _FROM_HERE_MILLISECONDS else 1000 * stored)

    native = stored.to_native() if hasattr(stored, "to_native") else stored
    if isinstance(native, str):
        try:
            native = datetime.fromisoformat(native.strip())
        except ValueError:
            return None
    if isinstance(native, date) and not isinstance(native, datetime):
        native = datetime.combine(native, time(), UTC)
    if not isinstance(native, datetime):
        return None

    aware = native if native.tzinfo else native.replace(tzinfo=UTC)
    return _in_range(1000 * aware.timestamp())


def _in_range(number: float) -> int | None:
    return int(number) if 0 < number < _YEAR_10000 else None
