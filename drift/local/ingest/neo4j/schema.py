"""Constraints and indexes: which are missing, which stand in the way, how they come online."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

from drift.core.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    UpstreamError,
)
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.indexes import (
    PREPARE,
    WantedIndex,
    create_best,
    displaced,
    failed,
    find_index,
    read_indexes,
    wrong_dimensions,
)
from drift.local.say import Say
from drift.model.health import Index

ONLINE_WAIT_S = 600.0
_MOST_SAID = 300
_LOOK_EVERY_S = (0.05, 0.1, 0.2, 0.5, 1.0)


def missing(wanted: Iterable[WantedIndex], stored: Sequence[Index]) -> tuple[WantedIndex, ...]:
    """Return the parts that nothing in the database serves."""
    return tuple(w for w in wanted if not any(w.is_served_by(s) for s in stored))


def obstacles(
    wanted: Iterable[WantedIndex], stored: Sequence[Index], dimensions: int
) -> tuple[str, ...]:
    """Return a sentence for everything that has to be dropped or renamed first."""
    return tuple(dict.fromkeys(o for w in wanted if (o := _obstacle(w, stored, dimensions))))


def _obstacle(wanted: WantedIndex, stored: Sequence[Index], dimensions: int) -> str:
    """Return what is wrong with what stands where an index is wanted; nothing if it is fine."""
    there = find_index(wanted, stored)
    if there.serving is not None:
        return _flaw(there.serving, dimensions)

    if there.namesake is not None:
        rename = (
            f"set {wanted.setting} to another name"
            if wanted.setting
            else "create it again under another name"
        )
        return (
            f"{wanted.name} is the name of a {there.namesake.place}, where a {wanted.place} is "
            f"needed: drop it, or {rename}, and {PREPARE}."
        )

    if there.rival is None:
        return ""

    if wanted.yields:
        return _flaw(there.rival, dimensions)

    if wanted.kind == "constraint":
        return (
            f"The index {there.rival.name} stands where a {wanted.place} is needed: drop that "
            f"index and {PREPARE}."
        )

    return displaced(wanted, there.rival)


def _flaw(index: Index, dimensions: int) -> str:
    if index.has_other_dimensions(dimensions):
        return wrong_dimensions(index, dimensions)

    if index.kind == "vector" and (index.similarity or "cosine").lower() != "cosine":
        return (
            f"The vector index {index.name} compares by {index.similarity}, not by cosine: drop it "
            f"and {PREPARE}."
        )

    if index.has_failed:
        return f"{failed(index)}."
    return ""


async def create_missing(
    connection: Connection, wanted: Iterable[WantedIndex], dimensions: int
) -> list[str]:
    """Create what nothing in the database serves, and name it; errors as for `create`."""
    absent = missing(wanted, await read_indexes(connection))
    return [one.name for one in absent if await create(connection, one, dimensions)]


async def create(connection: Connection, wanted: WantedIndex, dimensions: int) -> bool:
    """Create an index or constraint in the best form that the server knows.

    False when it was there. Errors name what was to be created and what the server said.
    """
    try:
        return await create_best(connection, wanted, dimensions)
    except (GraphMisconfiguredError, GraphUnavailableError) as error:
        raise type(error)(_refused(wanted, error)) from error.__cause__


def _refused(wanted: WantedIndex, error: UpstreamError) -> str:
    """Return the sentence about what could not be created, with the server's own words."""
    said = str(getattr(error.__cause__, "message", None) or "").strip()
    words = f" The server said: {said[:_MOST_SAID]}" if said else ""
    return f"{wanted.name}, a {wanted.place}, could not be created. {error.detail}{words}"


async def wait_until_online(
    connection: Connection,
    wanted: Sequence[WantedIndex],
    dimensions: int,
    wait_s: float = ONLINE_WAIT_S,
    say: Say = lambda _: None,
) -> tuple[Index, ...]:
    """Wait until all that is wanted is there and online; return every index.

    GraphMisconfiguredError names what failed, is missing, or is late; GraphTimeoutError and
    GraphUnavailableError where the server does not answer, or was silent until then.
    """
    give_up, looks = time.monotonic() + wait_s, 0
    told: dict[str, float] = {}
    while True:
        began = time.monotonic()
        try:
            stored = await read_indexes(connection)
        except (GraphTimeoutError, GraphUnavailableError):
            now = time.monotonic()
            # At the end of building a big vector index a server may not list its indexes for
            # minutes; a dead one refuses at once.
            if not looks or now - began < READ_TIMEOUT_S or now >= give_up:
                raise
            continue

        if problem := " ".join(obstacles(wanted, stored, dimensions)):
            raise GraphMisconfiguredError(problem)

        if absent := missing(wanted, stored):
            raise GraphMisconfiguredError(
                f"{', '.join(w.name for w in absent)} should be there and is not: another process "
                f"dropped it; {PREPARE}."
            )

        building = [s for s in stored if not s.online and any(w.is_served_by(s) for w in wanted)]
        if not building:
            return stored
        if time.monotonic() >= give_up:
            raise GraphMisconfiguredError(unfinished(building, wait_s))

        tenths = {s.name: s.percent // 10 for s in building}
        if tenths != told and looks >= len(_LOOK_EVERY_S):
            say(f"Waiting for {_percentages(building)} ...")
            told = tenths

        await asyncio.sleep(_LOOK_EVERY_S[min(looks, len(_LOOK_EVERY_S) - 1)])
        looks += 1


def unfinished(building: Sequence[Index], waited_s: float) -> str:
    """Return the sentence about indexes that are still being built."""
    return (
        f"Not online after {waited_s:g} s: {_percentages(building)}. The server goes on building: "
        f"{PREPARE} again later, or with a longer --wait."
    )


def _percentages(building: Iterable[Index]) -> str:
    return ", ".join(f"{s.name} ({s.percent:.0f} %)" for s in building)


def warnings(
    wanted: Iterable[WantedIndex], stored: Sequence[Index], *, can_filter: bool
) -> tuple[str, ...]:
    """Return a sentence for what works, but not as well as it could."""
    sentences = []
    for w in wanted:
        serving = next((s for s in stored if w.is_served_by(s)), None)
        if (
            serving
            and w.kind == "vector"
            and can_filter
            and not set(w.properties) <= set(serving.properties)
        ):
            sentences.append(
                f"The vector index {w.name} was made without `project_id` as a filter, so projects "
                f"beyond the exact limit are searched less well: drop it and {PREPARE}."
            )

        if w.properties in {("project_id", "id"), ("project_id", "community")}:
            sentences += [
                f"The constraint behind {s.name} makes `{w.properties[1]}` of {w.label} unique "
                f"over all projects: two projects "
                "that share ids cannot both be stored; drop the constraint if they should."
                for s in stored
                if s.is_unique and s.labels == (w.label,) and s.properties == w.properties[1:]
            ]

    return tuple(sentences)
