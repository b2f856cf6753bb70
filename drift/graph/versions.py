"""Whose vectors a graph holds: no two embedding models meet in one index.

`embedding` holds the vectors of the first model. Each version beside it has a property and indexes
of its own, and is listed by `(:__DriftFormat__ {id: 'drift'})`, with the number of the format that
the graph is of. A project's node has that number too, since projects move between graphs.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher import versions as statements
from drift.graph.cypher.clauses import FORMAT
from drift.graph.cypher.schema import FIRST_VECTOR, Schema
from drift.graph.vector_models import other_models

READS = FORMAT + 1
"""The last format that is read: a release adds to what the one before reads, and takes nothing."""

LEARNED_S = 60.0
"""How long it may not be known that a version has become whole."""


def is_version_name(name: str) -> bool:
    """Tell whether a version can be called so: as models are, and not as vectors without one."""
    # The two that no graph lists: the vectors without a version, and those of the local model.
    is_taken = name.casefold() in {"first", "local"}
    return bool(re.fullmatch(r"\w[\w.:/@+-]{0,99}", name)) and not is_taken


@dataclass(frozen=True, slots=True)
class VectorVersion:
    """Vectors of one model, and whether every text has one, or how many have (`built`)."""

    name: str = "first"
    model: str = ""
    dimensions: int = 0
    state: Literal["building", "whole"] = "whole"
    built: str = ""

    def __str__(self) -> str:
        """Return what tells it from a version of another graph."""
        return f"{self.name} of {self.model} with {self.dimensions} floats"

    def named(self, first: str) -> str:
        """Return the name of a property or an index, by what it is called for the first vectors."""
        if self.name == FIRST.name:
            return first
        # Names that stand in properties as they are; other properties of ours begin otherwise.
        if re.fullmatch(r"(?!model|hash|version|local.)[a-z][a-z0-9_]{0,30}", self.name):
            return f"{first}_{self.name}"
        # Names that read alike differ in the number, with which none begins that stands as it is.
        number = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:6])
        return f"{first}_{number}_{re.sub('[^a-z0-9]+', '_', self.name.lower())}"

    @property
    def vector(self) -> str:
        """The property of a node's vector."""
        return self.named(FIRST_VECTOR)

    def vector_in(self, schema: Schema) -> str:
        """Return the property of a node's vector in a graph that is built like this."""
        return self.named(schema.first_vector)

    def is_of(self, model: str, dimensions: int) -> bool:
        """Tell whether a model makes such vectors; one without a name is not known."""
        is_same = bool(model) and not other_models([self.model], model)
        return is_same and self.dimensions == dimensions


FIRST, LOCAL = VectorVersion(), VectorVersion("local")


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """What a graph says of itself: the `number` of its format, None for nothing, and versions.

    `newest` is the highest number that the graph or a project in it says.
    """

    number: int | None = None
    versions: tuple[VectorVersion, ...] = ()
    newest: int = 0

    def of(self, model: str, dimensions: int) -> VectorVersion:
        """Return the whole version of a model, the newest of several; else the first vectors."""
        own = [v for v in self.versions if v.state == "whole" and v.is_of(model, dimensions)]
        return own[-1] if own else FIRST

    def notes(self, used: VectorVersion) -> list[str]:
        """Return what to tell of the versions, of which one is used."""
        told = [f"vectors of version {used.name} are used"] if used != FIRST else []
        building = (one for one in self.versions if one.state == "building")
        return told + [f"version {one.name} is being built: {one.built}" for one in building]

    def left_behind(self, used: VectorVersion) -> list[str]:
        """Return what to run for other versions, once texts have changed under this one."""
        return [
            f"Texts that changed have no vector of version {one.name}: `drift reindex "
            f"--model-version {one.name}` with {one.model} gives them one."
            for one in self.versions
            if one.name != used.name
        ]


class OwnVectors:
    """Which vectors of a graph are those of one model, asked once in a while, or `fixed`."""

    def __init__(
        self,
        connection: Connection,
        model: str = "",
        dimensions: int = 0,
        every_s: float = LEARNED_S,
        *,
        fixed: VectorVersion | None = None,
    ) -> None:
        """Name the model and the length of its vectors; nothing is asked yet."""
        self._fixed = fixed
        self._connection = connection
        self.model, self.dimensions = model, dimensions
        self._every_s = every_s
        self._said: GraphFormat | None = None
        self._ask_at = 0.0

    async def said(self) -> GraphFormat:
        """Return what the graph says of itself; errors as for any read."""
        if self._said is None or time.monotonic() >= self._ask_at:
            self._ask_at = time.monotonic() + self._every_s  # others go on with what is known
            self._said = await read_format(self._connection)
        return self._said

    async def version(self) -> VectorVersion:
        """Return the version of the model; the first vectors where it has none, or no name.

        GraphMisconfiguredError where a release later than the next one wrote the graph.
        """
        if self._fixed or not self.model:
            return self._fixed or FIRST
        said = await self.said()
        if said.newest > READS:
            raise GraphMisconfiguredError(
                f"{newer(said.newest)} and reads {READS}: use a newer release."
            )
        return said.of(self.model, self.dimensions)

    def forget(self) -> None:
        """Ask again the next time."""
        self._said = None


async def read_format(connection: Connection) -> GraphFormat:
    """Return what the graph says of itself; errors as for any read."""
    found = await connection.read(statements.STORED, {})
    row = found.records[0]
    stored: Mapping[str, Any] = row["stored"] or {}
    number, listed = stored.get("format"), stored.get("versions")
    versions = tuple(filter(None, map(_version, listed if isinstance(listed, list) else [])))
    numbers = [one for one in (number, row["newest"]) if isinstance(one, int)]
    known = number if isinstance(number, int) else None
    return GraphFormat(known, versions, max(numbers, default=0))


async def read_known_format(connection: Connection) -> GraphFormat:
    """Return the same for whoever writes; GraphMisconfiguredError for that of a newer release."""
    said = await read_format(connection)
    require_known(said.newest)
    return said


def require_known(number: object) -> None:
    """Raise GraphMisconfiguredError for a format of a newer release, which is not written."""
    if isinstance(number, int) and number > FORMAT:
        raise GraphMisconfiguredError(f"{newer(number)}: nothing was written. Use a newer release.")


def newer(number: int) -> str:
    """Return the clause about a format of a newer release."""
    return f"The graph is of format {number}, and this release knows formats up to {FORMAT}"


async def keep_version(connection: Connection, one: VectorVersion, *, gone: bool = False) -> None:
    """List a version as it is now, or, once it is `gone`, no more; one write."""
    entry = json.dumps({"name": one.name, "property": one.vector, **asdict(one)})
    values = {"head": entry[: entry.index(",") + 1], "entries": [] if gone else [entry]}
    await connection.write(statements.KEEP_VERSION, values)


async def keep_format(connection: Connection) -> None:
    """Say that the graph is of the format of this release, unless something older is in it."""
    await connection.write(statements.KEEP_FORMAT, {"format": FORMAT})


def _version(entry: object) -> VectorVersion | None:
    """Return what an entry says; None for one that is damaged."""
    with suppress(ValueError, TypeError, KeyError):
        read = json.loads(str(entry))
        model, dimensions = str(read["model"]), int(read["dimensions"])
        if is_version_name(read["name"]):
            built = str(read.get("built", ""))
            return VectorVersion(read["name"], model, dimensions, read["state"], built)
    return None
