"""The schema of the ingestion, created by whoever comes first.

Several processes may begin on one empty database.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

from drift.core.errors import GraphMisconfiguredError, GraphUnavailableError, UpstreamError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT, FIRST_VECTOR
from drift.graph.indexes import IndexNames, WantedIndex, read_indexes, unyielding
from drift.local.ingest.neo4j.ddl import (
    FORMER_KEYS,
    drop_constraint,
    drop_index,
    wanted_indexes,
)
from drift.local.ingest.neo4j.schema import create, missing, obstacles, wait_until_online
from drift.model.health import Index

_AGAIN_AFTER_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pauses between attempts while another process creates the same: servers refuse the second in many
words."""


async def ensure_schema(
    connection: Connection,
    names: IndexNames,
    dimensions: int,
    wait_s: float,
    vector: str = FIRST_VECTOR,
) -> tuple[str, ...]:
    """Create the missing parts, to be read by this vector, wait until it is online, and name it.

    GraphMisconfiguredError names what stands in the way, failed, or is not online in time.
    """
    whole = wanted_indexes(DEFAULT, names, vector)
    created: list[str] = []
    give_up = time.monotonic() + wait_s
    for pause in (*_AGAIN_AFTER_S, None):
        stored = await read_indexes(connection)
        wanted = unyielding(whole, stored)
        is_settled = pause is None or not _under_way(wanted, stored)
        keys = _keys_of_one_generation(wanted, stored)
        if is_settled and (reasons := [*obstacles(wanted, stored, dimensions), *keys]):
            raise GraphMisconfiguredError(" ".join(reasons))

        failures = await _create(connection, wanted, stored, dimensions, created)
        if not failures:
            break
        if pause is None:
            raise failures[0]

        await asyncio.sleep(pause)

    await wait_until_online(connection, wanted, dimensions, max(0.0, give_up - time.monotonic()))
    return tuple(created)


async def _create(
    connection: Connection,
    wanted: Sequence[WantedIndex],
    stored: Sequence[Index],
    dimensions: int,
    created: list[str],
) -> list[UpstreamError]:
    """Create the missing parts; return the failures, where another process may have been faster."""
    former = {s.name for s in stored if s.is_unique} & FORMER_KEYS
    for name in sorted(former):
        await connection.write(drop_constraint(name), {})

    for name in former_texts(wanted, stored):
        await connection.write(drop_index(name), {})
        former.add(name)

    failures: list[UpstreamError] = []
    for one in missing(wanted, [s for s in stored if s.name not in former]):
        try:
            if await create(connection, one, dimensions):
                created.append(one.name)
        except (GraphMisconfiguredError, GraphUnavailableError) as failure:
            failures.append(failure)

    if not failures and missing(wanted, await read_indexes(connection)):
        failures.append(
            GraphMisconfiguredError("Another process is changing the indexes: run this again.")
        )

    return failures


def _keys_of_one_generation(wanted: Sequence[WantedIndex], stored: Sequence[Index]) -> list[str]:
    ranges = [w for w in wanted if w.kind == "range"]
    return [
        f"The constraint behind {s.name} allows each {w.properties[1]} of {w.label} once, and new "
        f"knowledge is written beside the old: drop that constraint."
        for w in ranges
        for s in stored
        if s.is_unique
        and s.name not in FORMER_KEYS
        and s.labels == (w.label,)
        and s.properties in {w.properties, w.properties[1:]}
    ]


def _under_way(wanted: Sequence[WantedIndex], stored: Sequence[Index]) -> bool:
    """Tell whether somebody is creating a constraint: its index is listed first, of nobody yet."""
    return any(
        w.kind == "constraint"
        and s.name == w.name
        and s.properties == w.properties
        and not s.is_unique
        for w in wanted
        for s in stored
    )


_FORMER_TEXTS = {"text", "project_key", "heading"}
"""What the full-text index of chunks held in earlier versions, and what nothing else makes."""


def former_texts(wanted: Sequence[WantedIndex], stored: Iterable[Index]) -> list[str]:
    """Return the names of full-text indexes of an earlier version: they lack documents' names."""
    names = {one.name for one in wanted if one.kind == "fulltext"}
    return [
        one.name
        for one in stored
        if one.kind == "fulltext"
        and one.name in names
        and one.labels == ("__Chunk__",)
        and set(one.properties) == _FORMER_TEXTS
    ]
