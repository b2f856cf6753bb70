"""Which constraints and indexes are there, which stand in the way, and how the missing ones come to be online."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from drift.adapters.neo4j.connection import READ_TIMEOUT_S, Connection
from drift.adapters.neo4j.indexes import PREPARE, displaced, wrong_dimensions
from drift.errors import GraphMisconfiguredError, GraphTimeoutError, GraphUnavailableError
from drift.offline.writing.neo4j.ddl import SHOW_SCHEMA, SchemaObject

ONLINE_WAIT_S = 600.0
_LOOK_EVERY_S = (0.05, 0.1, 0.2, 0.5, 1.0)

Tell = Callable[[str], None]
"""Takes one sentence about what is going on."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """One index on nodes as SHOW INDEXES lists it; `unique` when it belongs to a constraint."""

    name: str
    type: str
    state: str
    percent: float
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    unique: bool = False
    dimensions: int | None = None
    similarity: str | None = None

    @property
    def place(self) -> str:
        """What it is and where: `RANGE index on :A(b, c)`."""
        return f"{self.type} index on :{'|'.join(self.labels)}({', '.join(self.properties)})"

    def serves(self, wanted: SchemaObject) -> bool:
        """Tell whether it does what is wanted; a vector or full-text index only by its name."""
        if wanted.label not in self.labels:
            return False
        if wanted.kind == "vector":
            return (self.type, self.name, self.properties[:1]) == (
                "VECTOR",
                wanted.name,
                ("embedding",),
            )
        if wanted.kind == "fulltext":
            return (self.type, self.name) == ("FULLTEXT", wanted.name) and set(
                wanted.properties
            ) <= set(self.properties)
        fits = self.type == "RANGE" and self.properties == wanted.properties
        return fits and (self.unique or wanted.kind == "range")

    def displaces(self, wanted: SchemaObject) -> bool:
        """Tell whether it makes IF NOT EXISTS do nothing, or fail, though it does not serve."""
        if self.labels != (wanted.label,):
            return False
        if wanted.kind == "vector":
            return self.type == "VECTOR" and self.properties[:1] == ("embedding",)
        if wanted.kind == "fulltext":
            return self.type == "FULLTEXT" and set(self.properties) == set(wanted.properties)
        return self.type == "RANGE" and self.properties == wanted.properties


async def read_schema(connection: Connection) -> tuple[StoredIndex, ...]:
    """Return every index on nodes, by name; errors as for any read."""
    records = (await connection.read(SHOW_SCHEMA, {})).records
    return tuple(
        StoredIndex(
            name=r["name"],
            type=r["type"],
            state=r["state"],
            percent=r["percent"] or 0.0,
            labels=tuple(r["labels"] or ()),
            properties=tuple(r["properties"] or ()),
            unique=r["unique"],
            dimensions=r["dimensions"],
            similarity=r["similarity"],
        )
        for r in records
    )


def missing(
    wanted: Iterable[SchemaObject], stored: Sequence[StoredIndex]
) -> tuple[SchemaObject, ...]:
    """Return what nothing in the database serves."""
    return tuple(w for w in wanted if not any(s.serves(w) for s in stored))


def obstacles(
    wanted: Iterable[SchemaObject], stored: Sequence[StoredIndex], dimensions: int
) -> tuple[str, ...]:
    """Return a sentence for everything that has to be dropped or renamed first, each naming it and what to do."""
    return tuple(dict.fromkeys(o for w in wanted if (o := _obstacle(w, stored, dimensions))))


def _obstacle(wanted: SchemaObject, stored: Sequence[StoredIndex], dimensions: int) -> str:
    serving = next((s for s in stored if s.serves(wanted)), None)
    if serving is not None:
        return _flaw(serving, dimensions) if wanted.kind == "vector" else _failure(serving)
    rename = (
        f"set {wanted.setting} to another name"
        if wanted.setting
        else "create it again under another name"
    )
    if namesake := next((s for s in stored if s.name == wanted.name), None):
        return f"{wanted.name} is the name of a {namesake.place}, where {_place(wanted)} is needed: drop it, or {rename}, and {PREPARE}."
    rival = next((s for s in stored if s.displaces(wanted)), None)
    if rival is None:
        return ""
    if wanted.kind == "constraint":
        return f"The index {rival.name} stands where {_place(wanted)} is needed: drop that index and {PREPARE}."
    kind = "full-text" if wanted.kind == "fulltext" else wanted.kind
    return displaced(kind, wanted.name, rival.name, wanted.label, wanted.setting)


def _place(wanted: SchemaObject) -> str:
    what = "a key" if wanted.kind == "constraint" else f"a {wanted.kind.upper()} index"
    return f"{what} on :{wanted.label}({', '.join(wanted.properties)})"


def _failure(index: StoredIndex) -> str:
    return (
        f"The index {index.name} failed while it was built: drop it and {PREPARE}."
        if index.state == "FAILED"
        else ""
    )


def _flaw(index: StoredIndex, dimensions: int) -> str:
    if index.dimensions is not None and index.dimensions != dimensions:
        return wrong_dimensions(index.name, index.dimensions, dimensions)
    if (index.similarity or "cosine").lower() != "cosine":
        return f"The vector index {index.name} compares by {index.similarity}, not by cosine: drop it and {PREPARE}."
    return _failure(index)


async def create(connection: Connection, wanted: SchemaObject, dimensions: int) -> bool:
    """Create one constraint or index in the best form that the server knows.

    False when it was there.

    Raises:
        GraphMisconfiguredError: when the server refuses every form.
    """
    *newer, oldest = wanted.statements
    for text in newer:
        try:
            return await _creates(connection, text, dimensions)
        except GraphMisconfiguredError:
            continue  # the server does not know this form; the next one is older
    return await _creates(connection, oldest, dimensions)


async def _creates(connection: Connection, text: str, dimensions: int) -> bool:
    parameters = {"dimensions": dimensions} if "$dimensions" in text else {}
    counters = (await connection.write(text, parameters)).summary.counters
    return counters.indexes_added + counters.constraints_added > 0


async def wait_until_online(
    connection: Connection,
    wanted: Sequence[SchemaObject],
    dimensions: int,
    wait_s: float = ONLINE_WAIT_S,
    tell: Tell = lambda _: None,
) -> tuple[StoredIndex, ...]:
    """Wait until all that is wanted is there and online; return every index.

    Raises:
        GraphMisconfiguredError: naming what failed, is missing, or is not online after `wait_s`
            seconds, and what to do.
        GraphTimeoutError, GraphUnavailableError: the server does not answer, or was silent until
        `wait_s` seconds were over.
    """
    give_up, looks = time.monotonic() + wait_s, 0
    told: dict[str, float] = {}
    while True:
        began = time.monotonic()
        try:
            stored = await read_schema(connection)
        except (GraphTimeoutError, GraphUnavailableError):
            now = time.monotonic()
            # at the end of building a big vector index a server may not list its indexes for
            # minutes; a dead one refuses at once
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
        building = [s for s in stored if s.state != "ONLINE" and any(s.serves(w) for w in wanted)]
        if not building:
            return stored
        if time.monotonic() >= give_up:
            raise GraphMisconfiguredError(unfinished(building, wait_s))
        tenths = {s.name: s.percent // 10 for s in building}
        if tenths != told and looks >= len(_LOOK_EVERY_S):
            tell(f"Waiting for {_percentages(building)} ...")
            told = tenths
        await asyncio.sleep(_LOOK_EVERY_S[min(looks, len(_LOOK_EVERY_S) - 1)])
        looks += 1


def unfinished(building: Sequence[StoredIndex], waited_s: float) -> str:
    """Return the sentence about indexes that are still being built."""
    return (
        f"Not online after {waited_s:g} s: {_percentages(building)}. The server goes on building: "
        f"{PREPARE} again later, "
        "or with a longer --wait."
    )


def _percentages(building: Iterable[StoredIndex]) -> str:
    return ", ".join(f"{s.name} ({s.percent:.0f} %)" for s in building)


def warnings(
    wanted: Iterable[SchemaObject], stored: Sequence[StoredIndex], *, can_filter: bool
) -> tuple[str, ...]:
    """Return a sentence for what works, but not as well as it could."""
    found = []
    for w in wanted:
        serving = next((s for s in stored if s.serves(w)), None)
        if (
            serving
            and w.kind == "vector"
            and can_filter
            and not set(w.properties) <= set(serving.properties)
        ):
            found.append(
                f"The vector index {w.name} was made without `project_id` as a filter, so projects "
                f"beyond the exact limit are "
                f"searched less well: drop it and {PREPARE}."
            )
        if w.properties in {("project_id", "id"), ("project_id", "community")}:
            found += [
                f"The constraint behind {s.name} makes `{w.properties[1]}` of {w.label} unique "
                f"over all projects: two projects "
                "that share ids cannot both be stored; drop the constraint if they should."
                for s in stored
                if s.unique and s.labels == (w.label,) and s.properties == w.properties[1:]
            ]
    return tuple(found)
