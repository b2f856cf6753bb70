"""The indexes of the searches as the database lists them, and what the server can do with them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.statements import CYPHER_25
from drift.graph.indexes import (
    NAMES_INDEX,
    PREPARE,
    IndexNames,
    WantedIndex,
    displaced,
    failed,
    find_index,
    read_server_and_indexes,
    wrong_dimensions,
)
from drift.model.health import GraphHealth, Index, Lack


@dataclass(frozen=True, slots=True)
class Inventory:
    """All indexes of the database, and whether its server takes a SEARCH with a filter."""

    server: str
    names: IndexNames
    schema: Schema
    indexes: tuple[Index, ...]
    can_search: bool = False

    @property
    def wanted(self) -> tuple[WantedIndex, WantedIndex, WantedIndex]:
        """What a search asks: communities by vector, chunks by vector, chunks by their words."""
        vector = (self.schema.vector,)
        of_communities, of_chunks = ("__Community__", vector), ("__Chunk__", vector)
        return (
            WantedIndex(
                self.names.community, "vector", *of_communities, "COMMUNITY_VECTOR_INDEX_NAME"
            ),
            WantedIndex(self.names.chunk, "vector", *of_chunks, "CHUNK_VECTOR_INDEX_NAME"),
            WantedIndex(
                self.names.fulltext, "fulltext", "__Chunk__", ("text",), "CHUNK_FULLTEXT_INDEX_NAME"
            ),
        )

    @property
    def serving(self) -> tuple[Index | None, Index | None, Index | None]:
        """What serves each of them, None where nothing does."""
        community, chunk, fulltext = self.wanted
        return self._serving(community), self._serving(chunk), self._serving(fulltext)

    def _serving(self, wanted: WantedIndex) -> Index | None:
        return find_index(wanted, self.indexes).serving

    @property
    def text_problem(self) -> str:
        """Why the full-text index is not asked; empty where it is."""
        name, index = self.names.fulltext, self.serving[-1]
        if index is None:
            return f"{name} is missing"
        if index.has_failed:
            return f"{name} is in state FAILED, and has to be dropped first (`DROP INDEX {name}`)"
        if not index.online:
            return f"{name} is not online"

        absent = ", ".join(sorted(self.schema.text_properties - set(index.properties)))
        return f"{name} does not hold `{absent}`" if absent else ""

    @property
    def covers_names(self) -> bool:
        """True when the index of titles answers and holds what the schema searches."""
        properties = tuple(self.schema.name_properties)
        serving = self._serving(WantedIndex(NAMES_INDEX, "fulltext", "__Entity__", properties))
        return serving is not None and serving.online

    @property
    def search_index(self) -> str | None:
        """The chunk index where it is searched inside one project."""
        _, chunk, _ = self.serving
        return chunk.name if chunk is not None and self.searches(chunk) else None

    def searches(self, index: Index) -> bool:
        """Tell whether an index is searched inside one project: `project_id` is its filter."""
        return self.can_search and index.online and "project_id" in index.properties

    @property
    def is_complete(self) -> bool:
        """True when all three configured indexes exist and are online."""
        return all(index is not None and index.online for index in self.serving)

    @property
    def missing(self) -> tuple[str, ...]:
        """Configured names under which nothing serves."""
        pairs = zip(self.wanted, self.serving, strict=True)
        return tuple(wanted.name for wanted, index in pairs if index is None)

    def health(self) -> GraphHealth:
        """Return the same for a health check, as far as searches of the schema ask for it."""
        present = tuple(index for index in self.serving if index is not None)
        broken = tuple(failed(index) for index in self.indexes if self._is_broken(index))
        lacks = []
        if problem := self.text_problem:
            lacks.append(Lack(self.names.fulltext, problem, "no chunk is found by its words alone"))
        if not self.covers_names:
            cost = "names are found only whole"
            lacks.append(Lack(NAMES_INDEX, f"{NAMES_INDEX} is missing", cost))

        return GraphHealth(self.server, present, self.missing, tuple(lacks), broken=broken)

    def _is_broken(self, index: Index) -> bool:
        """Tell whether an index that searches may be planned over can never answer."""
        is_ours = any(label.startswith("__") for label in index.labels)
        is_needed = index.kind == "range" or index in self.serving[:2]
        return index.has_failed and is_ours and is_needed

    def require_dimensions(self, wanted: int) -> None:
        """Raise GraphMisconfiguredError for a vector index of another length, with what to do."""
        for index in self.serving:
            if index is not None and index.has_other_dimensions(wanted):
                raise GraphMisconfiguredError(wrong_dimensions(index, wanted))

    def require_vector_indexes(self) -> None:
        """Raise GraphMisconfiguredError for one that is not there or not online."""
        for wanted in self.wanted:
            if wanted.kind == "vector" and (sentence := self._lack(wanted)):
                raise GraphMisconfiguredError(sentence)

    def _lack(self, wanted: WantedIndex) -> str:
        """Return why a vector index cannot be asked, and what to do; nothing where it can."""
        there = find_index(wanted, self.indexes)
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


class Probe:
    """Looks at the indexes with the first search, and again while some that matter are missing."""

    def __init__(self, connection: Connection, names: IndexNames, schema: Schema) -> None:
        """Remember what to ask; nothing is asked yet."""
        self._connection = connection
        self._names = names
        self._schema = schema
        self._known: Inventory | None = None
        self._fresh_until = 0.0

    async def inventory(self, is_settled: Callable[[Inventory], bool]) -> Inventory:
        """Return what is known, or look. What is missing may be created any moment."""
        known = self._known
        if known is None or (time.monotonic() > self._fresh_until and not is_settled(known)):
            looked = await self.look()
            can_search = self._schema.has_projects and await self._speaks_cypher_25()
            known = self._known = replace(looked, can_search=can_search)
            self._fresh_until = time.monotonic() + 30

        return known

    async def look(self, timeout_s: float = READ_TIMEOUT_S) -> Inventory:
        """Return what SHOW INDEXES says now, in one round trip."""
        server, indexes = await read_server_and_indexes(self._connection, timeout_s)
        return Inventory(server, self._names, self._schema, indexes)

    def forget(self) -> None:
        """Look again with the next search."""
        self._known = None

    async def _speaks_cypher_25(self) -> bool:
        with suppress(GraphMisconfiguredError):
            await self._connection.read(CYPHER_25, {})
            return True
        return False
