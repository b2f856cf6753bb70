"""The three indexes of the searches, as the database lists them now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher.schema import Schema
from drift.graph.indexes import (
    NAMES_INDEX,
    PREPARE,
    IndexNames,
    WantedIndex,
    displaced,
    failed,
    read_server_and_indexes,
    standing,
    wrong_dimensions,
)
from drift.model.health import GraphHealth, Index, Lack


@dataclass(frozen=True, slots=True)
class Inventory:
    """All indexes of the database, beside the names that are configured."""

    server: str
    names: IndexNames
    indexes: tuple[Index, ...]

    @property
    def wanted(self) -> tuple[WantedIndex, WantedIndex, WantedIndex]:
        """What a search asks: communities by vector, chunks by vector, chunks by their words."""
        names = self.names
        return (
            WantedIndex(
                names.community,
                "vector",
                "__Community__",
                ("embedding",),
                "COMMUNITY_VECTOR_INDEX_NAME",
            ),
            WantedIndex(
                names.chunk, "vector", "__Chunk__", ("embedding",), "CHUNK_VECTOR_INDEX_NAME"
            ),
            WantedIndex(
                names.fulltext, "fulltext", "__Chunk__", ("text",), "CHUNK_FULLTEXT_INDEX_NAME"
            ),
        )

    @property
    def serving(self) -> tuple[Index | None, Index | None, Index | None]:
        """What serves each of them, None where nothing does."""
        community, chunk, fulltext = self.wanted
        return self._serving(community), self._serving(chunk), self._serving(fulltext)

    def _serving(self, wanted: WantedIndex) -> Index | None:
        return standing(wanted, self.indexes).serving

    def covers_text(self, properties: Iterable[str]) -> bool:
        """Tell whether the full-text index answers and holds all of these properties."""
        *_, fulltext = self.serving
        if fulltext is None or not fulltext.online:
            return False
        return set(properties) <= set(fulltext.properties)

    def covers_names(self, properties: Iterable[str]) -> bool:
        """Tell whether the index of titles answers and holds all of these properties."""
        wanted = WantedIndex(NAMES_INDEX, "fulltext", "__Entity__", tuple(properties))
        serving = self._serving(wanted)
        return serving is not None and serving.online

    @property
    def filters_by_project(self) -> bool:
        """True when the chunk index was made with `project_id` as a filter property."""
        _, chunk, _ = self.serving
        return chunk is not None and chunk.online and "project_id" in chunk.properties

    @property
    def is_complete(self) -> bool:
        """True when all three configured indexes exist and are online."""
        return all(index is not None and index.online for index in self.serving)

    @property
    def missing(self) -> tuple[str, ...]:
        """Configured names under which nothing serves."""
        pairs = zip(self.wanted, self.serving, strict=True)
        return tuple(wanted.name for wanted, index in pairs if index is None)

    def health(self, schema: Schema) -> GraphHealth:
        """Return the same for a health check, as far as searches of this schema ask for it."""
        present = tuple(index for index in self.serving if index is not None)
        broken = tuple(failed(index) for index in self.indexes if self._is_broken(index))
        lacks = tuple(self._lacks(schema))
        return GraphHealth(self.server, present, self.missing, lacks, broken=broken)

    def _is_broken(self, index: Index) -> bool:
        """Tell whether an index that searches may be planned over can never answer."""
        is_ours = any(label.startswith("__") for label in index.labels)
        is_needed = index.kind == "range" or index in self.serving[:2]
        return index.has_failed and is_ours and is_needed

    def _lacks(self, schema: Schema) -> Iterator[Lack]:
        if not self.covers_text(schema.text_properties):
            *_, fulltext = self.serving
            name = self.names.fulltext
            problem = _shortcoming(name, fulltext, schema.text_properties)
            yield Lack(name, problem, "no chunk is found by its words alone")
        if not self.covers_names(schema.name_properties):
            yield Lack(NAMES_INDEX, f"{NAMES_INDEX} is missing", "names are found only whole")

    def require_dimensions(self, wanted: int) -> None:
        """Check that the vector indexes there are hold vectors of `wanted` floats.

        Raises:
            GraphMisconfiguredError: naming the index, its dimensions, the wanted ones and what to
                do.
        """
        for index in self.serving:
            if index is not None and index.has_other_dimensions(wanted):
                raise GraphMisconfiguredError(wrong_dimensions(index, wanted))

    def require_vector_indexes(self) -> None:
        """Check that both vector indexes exist on the right label and are online.

        Raises:
            GraphMisconfiguredError: naming the index that is missing, or stands elsewhere, and what
                to do.
        """
        for wanted in self.wanted:
            if wanted.kind == "vector" and (sentence := self._lack(wanted)):
                raise GraphMisconfiguredError(sentence)

    def _lack(self, wanted: WantedIndex) -> str:
        """Return why a vector index cannot be asked, and what to do; nothing where it can."""
        there = standing(wanted, self.indexes)
        if there.serving is not None:
            if there.serving.online:
                return ""
            if there.serving.has_failed:
                return f"{failed(there.serving)}."
            return (
                f"The vector index {wanted.name} is not online yet: wait until it is built, then "
                f"{PREPARE}."
            )

        if there.namesake is not None and there.namesake.kind == wanted.kind:
            return (
                f"The vector index {wanted.name} does not cover `embedding` of {wanted.label}: set "
                f"{wanted.setting} to another name, or drop it and {PREPARE}."
            )
        if there.rival is not None:
            return displaced(wanted, there.rival)
        return f"The vector index {wanted.name} does not exist: {PREPARE}."


def _shortcoming(name: str, index: Index | None, properties: Iterable[str]) -> str:
    """Return why a full-text index that should hold these properties is not asked."""
    if index is None:
        return f"{name} is missing"
    if index.has_failed:
        return f"{name} is in state FAILED, and has to be dropped first (`DROP INDEX {name}`)"
    if not index.online:
        return f"{name} is not online"
    absent = ", ".join(sorted(set(properties) - set(index.properties)))
    return f"{name} does not hold `{absent}`"


async def take_inventory(
    connection: Connection, names: IndexNames, timeout_s: float = READ_TIMEOUT_S
) -> Inventory:
    """Return what SHOW INDEXES says, in one round trip; errors as for any read."""
    server, indexes = await read_server_and_indexes(connection, timeout_s)
    return Inventory(server, names, indexes)
