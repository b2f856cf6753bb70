"""The indexes that are wanted, those that the database lists, and which of these serve."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher import search as statements
from drift.graph.cypher.index_creation import Kind, creations
from drift.graph.cypher.legs import EARLIER, PERSONAL
from drift.graph.versions import VectorVersion
from drift.model.health import Index

PREPARE = "run `python -m drift prepare`"

NAMES_INDEX = "drift_entity_names"
"""Of the titles of entities, by their words; a graph without it is searched by whole titles."""

ENTITY_INDEX, NODE_INDEX = "drift_entity_index", "drift_own_node_index"
"""Of the vectors of entities, and of people's own nodes."""
EARLIER_NODE_INDEX = "drift_node_index"
"""Of people's own nodes as an earlier release labelled them."""


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of the indexes, plain identifiers: they are no parameters in Cypher."""

    community: str = "graphrag_comm_index"
    chunk: str = "graphrag_chunk_index"
    fulltext: str = "graphrag_chunk_fulltext"
    entity: str = ENTITY_INDEX
    nodes: str = NODE_INDEX
    documents: str = "document_embedding"

    def __post_init__(self) -> None:
        """Refuse what could not stand in a statement."""
        for name in (self.community, self.chunk, self.fulltext):
            if not (name.isascii() and name.isidentifier()):
                raise ValueError(f"An index name must be a plain identifier, not {name!r}.")

    def of_vectors(self, ours: str) -> tuple[str, str]:
        """Return the index of a label's vectors, by that of DEFAULT, and the setting for it."""
        return {
            "__Community__": (self.community, "COMMUNITY_VECTOR_INDEX_NAME"),
            "__Chunk__": (self.chunk, "CHUNK_VECTOR_INDEX_NAME"),
            "__Entity__": (self.entity, ""),
            "Document": (self.documents, ""),
            PERSONAL: (self.nodes, ""),
            EARLIER: (EARLIER_NODE_INDEX, ""),
        }[ours]

    def of(self, version: VectorVersion) -> IndexNames:
        """Return the names of the indexes of a version's vectors, beside the same full text."""
        community, chunk = version.named(self.community), version.named(self.chunk)
        entity, nodes = version.named(self.entity), version.named(self.nodes)
        documents = version.named(self.documents)
        return IndexNames(community, chunk, self.fulltext, entity, nodes, documents)


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """A constraint or index that should be there, named by a `setting` where one does.

    A vector index is about the first of its properties; the others are its filters. It is created
    over the `optional` properties too, and an index without them serves as well. One that `yields`
    is not wanted where another index has its place.
    """

    name: str
    kind: Kind
    label: str
    properties: tuple[str, ...]
    setting: str = ""
    optional: tuple[str, ...] = ()
    yields: bool = False

    @property
    def statements(self) -> tuple[str, ...]:
        """Ways to create it, the best first; older servers refuse the first ones."""
        return creations(self.name, self.kind, self.label, (*self.properties, *self.optional))

    @property
    def place(self) -> str:
        """What is needed and where: `RANGE index on :A(b, c)`, or `key on :A(b, c)`."""
        what = "key" if self.kind == "constraint" else f"{self.kind.upper()} index"
        return f"{what} on :{self.label}({', '.join(self.properties)})"

    def is_served_by(self, index: Index) -> bool:
        """Tell whether the index does what is wanted.

        One of vectors or words does so only under the wanted name; filters may be missing.
        """
        if self.label not in index.labels:
            return False

        is_named = (index.kind, index.name) == (self.kind, self.name)
        match self.kind:
            case "vector":
                return is_named and index.properties[:1] == self.properties[:1]
            case "fulltext":
                return is_named and set(self.properties) <= set(index.properties)
            case "range" | "constraint":
                is_key = index.is_unique or self.kind == "range"
                return is_key and self._is_over_the_same(index)

    def is_displaced_by(self, index: Index) -> bool:
        """Tell whether the index keeps the wanted one from being created, as far as places go."""
        if index.labels != (self.label,):
            return False
        match self.kind:
            case "vector":
                return index.kind == "vector" and index.properties[:1] == self.properties[:1]
            case "fulltext":
                is_over_words = index.kind == "fulltext"
                return is_over_words and set(index.properties) == {*self.properties, *self.optional}
            case "range" | "constraint":
                return self._is_over_the_same(index)

    def _is_over_the_same(self, index: Index) -> bool:
        return index.kind == "range" and index.properties == self.properties


@dataclass(frozen=True, slots=True)
class FoundIndex:
    """What is there of a wanted index: what is `serving`, or else has its name or its place."""

    serving: Index | None
    namesake: Index | None
    rival: Index | None


def find_index(wanted: WantedIndex, stored: Sequence[Index]) -> FoundIndex:
    """Return which of the stored indexes serves, or stands in the way of, a wanted one."""
    serving = next((index for index in stored if wanted.is_served_by(index)), None)
    if serving is not None:
        return FoundIndex(serving, None, None)

    return FoundIndex(
        None,
        next((index for index in stored if index.name == wanted.name), None),
        next((index for index in stored if wanted.is_displaced_by(index)), None),
    )


def unyielding(wanted: Sequence[WantedIndex], stored: Sequence[Index]) -> tuple[WantedIndex, ...]:
    """Return what is still wanted beside the stored indexes."""
    return tuple(
        one for one in wanted if not (one.yields and find_index(one, stored).rival is not None)
    )


def wrong_dimensions(index: Index, wanted: int) -> str:
    """Return the sentence about a vector index of another length, and what to do."""
    return (
        f"The vector index {index.name} has {index.dimensions} dimensions, but {wanted} are "
        f"wanted: set VECTOR_INDEX_DIMENSIONS and the embedding model to fit it, or drop the index "
        f"and {PREPARE}."
    )


def failed(index: Index) -> str:
    """Return the clause about an index that will never be online, and what to do."""
    thing = "CONSTRAINT" if index.is_unique else "INDEX"
    return (
        f"{index.name} ({index.place}) is in state FAILED and will never answer: drop it (`DROP "
        f"{thing} {index.name}`), then {PREPARE}"
    )


def displaced(wanted: WantedIndex, rival: Index) -> str:
    """Return the sentence about an index that is missing while another has its place."""
    kind = "full-text" if wanted.kind == "fulltext" else wanted.kind
    rename = f"set {wanted.setting} to {rival.name}, or " if wanted.setting else ""
    return (
        f"The {kind} index {wanted.name} does not exist, and {rival.name} stands in its place on "
        f"{wanted.label}: {rename}drop that index and {PREPARE}."
    )


def project_key(project_id: str) -> str:
    """Return the word that stands for `project_id` in the full-text index.

    An analyser cuts most ids into words that other projects share (`team-2` is found inside
    `team-2-b`); a hash stays whole. It makes a project's chunks findable; the exact `project_id`
    behind it keeps projects apart.
    """
    return "p" + hashlib.sha256(project_id.encode()).hexdigest()[:24]


async def speaks_cypher_25(connection: Connection) -> bool:
    """Tell whether the server understands the newer language; errors as for any read."""
    with suppress(GraphMisconfiguredError):
        await connection.read(statements.CYPHER_25, {})
        return True
    return False


async def create_best(connection: Connection, wanted: WantedIndex, dimensions: int) -> bool:
    """Create it in the best form that the server knows; False when it was there."""
    for place, text in enumerate(wanted.statements, 1):
        values = {"dimensions": dimensions} if "$dimensions" in text else {}
        try:
            counters = (await connection.write(text, values)).summary.counters
        except GraphMisconfiguredError:
            if place == len(wanted.statements):
                raise
        else:
            return counters.indexes_added + counters.constraints_added > 0
    return False


async def read_indexes(connection: Connection) -> tuple[Index, ...]:
    """Return every index on nodes, by name; errors as for any read."""
    return (await read_server_and_indexes(connection))[1]


async def read_server_and_indexes(
    connection: Connection, timeout_s: float = READ_TIMEOUT_S
) -> tuple[str, tuple[Index, ...]]:
    """Return how the server calls itself, and every index on nodes, in one round trip."""
    result = await connection.read(statements.SHOW_INDEXES, {}, timeout_s)
    indexes = tuple(
        Index(**{**row, "labels": tuple(row["labels"]), "properties": tuple(row["properties"])})
        for row in result.records
    )

    return result.summary.server.agent, indexes
