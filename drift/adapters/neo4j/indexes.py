"""What the database says about the configured indexes.

Which exist, are online, have which dimensions, can be searched how.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from drift.adapters.neo4j.connection import READ_TIMEOUT_S, Connection
from drift.adapters.neo4j.cypher import statements
from drift.errors import GraphMisconfiguredError
from drift.values.health import GraphHealth, IndexState

PREPARE = "run `python -m drift prepare`"


def wrong_dimensions(name: str, found: int, wanted: int) -> str:
    """Return the sentence about a vector index of another length, and what to do."""
    return (
        f"The vector index {name} has {found} dimensions, but {wanted} are wanted: set "
        f"VECTOR_INDEX_DIMENSIONS and the "
        f"embedding model to fit it, or drop the index and {PREPARE}."
    )


def displaced(kind: str, name: str, rival: str, label: str, setting: str) -> str:
    """Return the sentence about an index that is missing while another stands in its place, and what to do."""
    return (
        f"The {kind} index {name} does not exist, and {rival} stands in its place on {label}: set "
        f"{setting} to {rival}, or "
        f"drop that index and {PREPARE}."
    )


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of the three indexes.

    Plain identifiers, since Cypher takes no parameter where they stand.
    """

    community: str = "graphrag_comm_index"
    chunk: str = "graphrag_chunk_index"
    fulltext: str = "graphrag_chunk_fulltext"

    def __post_init__(self) -> None:
        """Refuse what could not stand in a statement."""
        for name in (self.community, self.chunk, self.fulltext):
            if not (name.isascii() and name.isidentifier()):
                raise ValueError(f"An index name must be a plain identifier, not {name!r}.")


@dataclass(frozen=True, slots=True)
class Index:
    """One vector or full-text index as SHOW INDEXES lists it."""

    name: str
    kind: Literal["vector", "fulltext"]
    online: bool
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    dimensions: int | None


@dataclass(frozen=True, slots=True)
class Inventory:
    """All vector and full-text indexes of the database, beside the names that are configured."""

    server: str
    names: IndexNames
    indexes: tuple[Index, ...]

    def find(self, name: str, kind: str) -> Index | None:
        """Return the index of that name and kind, or None."""
        return next((i for i in self.indexes if i.name == name and i.kind == kind), None)

    @property
    def community(self) -> Index | None:
        """The configured vector index over communities.

        None also when it stands on another label.
        """
        return self._over("__Community__", self.find(self.names.community, "vector"))

    @property
    def chunk(self) -> Index | None:
        """The configured vector index over chunks; None also when it stands on another label."""
        return self._over("__Chunk__", self.find(self.names.chunk, "vector"))

    @property
    def fulltext(self) -> Index | None:
        """The configured full-text index over chunks; None also when it stands on another label."""
        return self._over("__Chunk__", self.find(self.names.fulltext, "fulltext"))

    @staticmethod
    def _over(label: str, index: Index | None) -> Index | None:
        return index if index is not None and label in index.labels else None

    def covers_text(self, properties: Iterable[str]) -> bool:
        """Tell whether the full-text index answers and holds all of these properties."""
        index = self.fulltext
        return index is not None and index.online and set(properties) <= set(index.properties)

    @property
    def filters_by_project(self) -> bool:
        """True when the chunk index was made with `project_id` as a filter property."""
        return (
            self.chunk is not None and self.chunk.online and "project_id" in self.chunk.properties
        )

    @property
    def is_complete(self) -> bool:
        """True when all three configured indexes exist and are online."""
        return all(
            index is not None and index.online
            for index in (self.community, self.chunk, self.fulltext)
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Configured names that no index of the right kind on the right label has."""
        found = (
            (self.names.community, self.community),
            (self.names.chunk, self.chunk),
            (self.names.fulltext, self.fulltext),
        )
        return tuple(name for name, index in found if index is None)

    def health(self) -> GraphHealth:
        """Return the same for a health check."""
        present = (i for i in (self.community, self.chunk, self.fulltext) if i is not None)
        states = tuple(IndexState(i.name, i.kind, i.online, i.dimensions) for i in present)
        return GraphHealth(self.server, states, self.missing)

    def require_dimensions(self, wanted: int) -> None:
        """Check that the vector indexes there are hold vectors of `wanted` floats.

        Raises:
            GraphMisconfiguredError: naming the index, its dimensions, the wanted ones and what to
                do.
        """
        for index in (self.community, self.chunk):
            if index is not None and index.dimensions is not None and index.dimensions != wanted:
                raise GraphMisconfiguredError(
                    wrong_dimensions(index.name, index.dimensions, wanted)
                )

    def require_vector_indexes(self) -> None:
        """Check that both vector indexes exist on the right label and are online.

        Raises:
            GraphMisconfiguredError: naming the index that is missing, or stands elsewhere, and what
                to do.
        """
        for name, label, setting in (
            (self.names.community, "__Community__", "COMMUNITY_VECTOR_INDEX_NAME"),
            (self.names.chunk, "__Chunk__", "CHUNK_VECTOR_INDEX_NAME"),
        ):
            self._require(name, label, setting)

    def _require(self, name: str, label: str, setting: str) -> None:
        index = self.find(name, "vector")
        rival = next(
            (
                i
                for i in self.indexes
                if i.kind == "vector" and label in i.labels and i.properties[:1] == ("embedding",)
            ),
            None,
        )
        if index is None and rival is not None:
            raise GraphMisconfiguredError(displaced("vector", name, rival.name, label, setting))
        if index is None:
            raise GraphMisconfiguredError(f"The vector index {name} does not exist: {PREPARE}.")
        if label not in index.labels or "embedding" not in index.properties:
            raise GraphMisconfiguredError(
                f"The vector index {name} does not cover `embedding` of {label}: set {setting} to "
                f"another name, or drop it and {PREPARE}."
            )
        if not index.online:
            raise GraphMisconfiguredError(
                f"The vector index {name} is not online yet: wait until it is built, then "
                f"{PREPARE}."
            )


async def take_inventory(
    connection: Connection, names: IndexNames, timeout_s: float = READ_TIMEOUT_S
) -> Inventory:
    """Return what SHOW INDEXES says, in one round trip; errors as for any read."""
    result = await connection.read(statements.SHOW_INDEXES, {}, timeout_s)
    agent = result.summary.server.agent
    return Inventory(agent, names, tuple(_index(record.data()) for record in result.records))


def _index(row: dict[str, object]) -> Index:
    dimensions = row["dimensions"]
    return Index(
        name=str(row["name"]),
        kind="vector" if row["type"] == "VECTOR" else "fulltext",
        online=row["state"] == "ONLINE",
        labels=_strings(row["labels"]),
        properties=_strings(row["properties"]),
        dimensions=dimensions if isinstance(dimensions, int) else None,
    )


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(v) for v in value) if isinstance(value, list) else ()
