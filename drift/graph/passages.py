"""PassageReader on Neo4j: one round trip for all passages of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any

from neo4j import Record

from drift.contracts.evidence import Surroundings
from drift.core.deadline import Deadline
from drift.graph.careful import CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import passages as statement
from drift.graph.cypher import whole as whole_statement
from drift.graph.cypher.schema import Schema
from drift.graph.inventory import Probe
from drift.graph.node_rows import score_threshold
from drift.graph.parameters import BOUNDS as SEARCH_BOUNDS
from drift.graph.parameters import stored_ids
from drift.graph.reader import Neo4jReader
from drift.graph.rows import communities, community_id
from drift.model.allowed import Allowed
from drift.model.graph import Vector, WholeEvidence, WholeQuery
from drift.model.passages import MOST_PASSAGES, MOST_WITNESSES, Passage, Passages, PassagesQuery
from drift.model.reading import AboutProject
from drift.telemetry import parts

BOUNDS: Mapping[str, int] = {
    # Entities of a chunk, those of the fewest mentions first; one with more mentions is not one.
    "rarest": 10,
    "most_mentions": 200,
    "most_witnesses": MOST_WITNESSES,
    "longest_time": 40,
    # Of what is around: entities and communities of a chunk, and of all of them.
    "mentions_each": 50,
    "most_entities": 30,
    "most_communities": 10,
}

WHOLE_BOUNDS: Mapping[str, int] = {
    "most_known": 10_000,
    "most_topics": 48,
    # Chunks of a topic that are compared with the question, and the nearest of these.
    "compared_of_topic": 200,
    "passages_of_topic": 10,
}

_text, _whole = cache(statement.passages), cache(whole_statement.whole)
_around = cache(statement.around)


class Neo4jPassages:
    """Reads over the connection of whoever made it; building it opens nothing."""

    def __init__(
        self, connection: Connection, schema: Schema, probe_of: Callable[[Vector], Probe]
    ) -> None:
        """Read a graph of this schema; `probe_of` knows the vectors of the question's model."""
        self._reads = CarefulReads(connection)
        self.reader = Neo4jReader(connection, schema)
        self._probe_of = probe_of

    def within(self, allowed: Allowed) -> Neo4jPassages:
        """Return what reads these documents alone, and what is made of them alone."""
        bound = copy(self)
        bound.reader = self.reader.within(allowed)
        return bound

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself."""
        with parts.round_trip():
            return await self.reader.about(project_id, deadline)

    async def whole(self, query: WholeQuery, deadline: Deadline) -> WholeEvidence:
        """Return the topics of the project; DeadlineError when the time is used up."""
        values = {
            **SEARCH_BOUNDS,
            **WHOLE_BOUNDS,
            "asked": {"project_id": query.project_id, "located": query.located},
            "vector": list(query.vector),
            "dimensions": len(query.vector),
        }
        with parts.round_trip():
            async with deadline.enforced():
                [row] = await self._read(_whole, query.vector, values, deadline)
        return WholeEvidence(communities(row), row["known"])

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return what is known of these chunks; DeadlineError when the time is used up."""
        if not query.chunk_ids:
            return Passages()

        values = {
            **BOUNDS,
            "asked": _asked(query),
            "vector": list(query.vector),
            "dimensions": len(query.vector),
        }
        with parts.round_trip():
            async with deadline.enforced():
                records = await self._read(_text, query.vector, values, deadline)

        threshold = score_threshold(records[0]["threshold"]) if records else None
        found = (_passage(record) for record in records if record["is_there"])
        return Passages(tuple(found), threshold)

    async def around(self, query: PassagesQuery, deadline: Deadline) -> Surroundings:
        """Return what these chunks mention and are in; DeadlineError when the time is used up."""
        values = {**BOUNDS, "asked": _asked(query)}
        with parts.round_trip():
            async with deadline.enforced():
                [row] = await self._read(_around, query.vector, values, deadline)
        for one in row["communities"]:
            one["id"] = community_id(one["id"])
        return Surroundings.model_validate(row.data())

    async def _read(
        self,
        text: Callable[[Schema], str],
        vector: Vector,
        values: Mapping[str, Any],
        deadline: Deadline,
    ) -> list[Record]:
        schema = await self._probe_of(vector).schema()
        if allowed := self.reader.bound:
            schema, values = schema.filtered, allowed.bounding(values)
        return (await self._reads.read(text(schema), values, deadline)).records


def _asked(query: PassagesQuery) -> dict[str, Any]:
    ids = list(dict.fromkeys(query.chunk_ids))[:MOST_PASSAGES]
    chunks = [{"id": one, "ids": stored_ids(one)} for one in ids]
    return {"project_id": query.project_id, "chunks": chunks}


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
    # A smaller number counts seconds: as milliseconds it would be before 1974.
    from_here_milliseconds = 1e11
    if isinstance(stored, bool) or stored is None:
        return None
    if isinstance(stored, int | float):
        return _in_range(stored if stored >= from_here_milliseconds else 1000 * stored)

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
    year_10000 = 253_402_300_800_000
    return int(number) if 0 < number < year_10000 else None
