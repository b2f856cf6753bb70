"""The indexes of the searches as the database lists them, and what the server can do with them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from drift.core.deadline import task_group
from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.search import EDGE_TYPES
from drift.graph.indexes import (
    NAMES_INDEX,
    PREPARE,
    IndexNames,
    WantedIndex,
    failed,
    find_index,
    read_server_and_indexes,
    speaks_cypher_25,
    wrong_dimensions,
)
from drift.graph.mapping import GraphMapping, is_name, is_theirs
from drift.graph.versions import LEARNED_S, OwnVectors
from drift.model.health import GraphHealth, Index, Lack

MOST_TYPES = 50
"""Types of relations that are named in a statement: more make it long to plan."""

_T = TypeVar("_T")


@dataclass(frozen=True)
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
        chunk, setting = self.schema.named("__Chunk__"), "CHUNK_FULLTEXT_INDEX_NAME"
        words = WantedIndex(
            self.names.fulltext,
            "fulltext",
            chunk,
            (self.schema.text,),
            setting,
            yields=is_theirs(chunk),
        )
        return self.of_vectors("__Community__"), self.of_vectors("__Chunk__"), words

    def of_vectors(self, ours: str) -> WantedIndex:
        """Return what a search by vector asks, of nodes with a label of this project's."""
        name, setting = self.names.of_vectors(ours)
        label, properties = self.schema.named(ours), (self.schema.vector,)
        return WantedIndex(name, "vector", label, properties, setting, yields=is_theirs(label))

    @property
    def asked(self) -> IndexNames:
        """The names of the indexes that serve, where those of others do."""
        community, chunk, words = (
            index.name if index else wanted.name
            for index, wanted in zip(self.serving, self.wanted, strict=True)
        )
        return replace(self.names, community=community, chunk=chunk, fulltext=words)

    @cached_property
    def serving(self) -> tuple[Index | None, Index | None, Index | None]:
        """What serves each of them, None where nothing does."""
        community, chunk, fulltext = self.wanted
        return self._serving(community), self._serving(chunk), self._serving(fulltext)

    def _serving(self, wanted: WantedIndex) -> Index | None:
        there = find_index(wanted, self.indexes)
        return there.serving or (there.rival if wanted.yields else None)

    @cached_property
    def text_problem(self) -> str:
        """Why the full-text index is not asked; empty where it is."""
        name, index = self.asked.fulltext, self.serving[-1]
        if index is None:
            return f"{name} is missing"
        if index.has_failed:
            return f"{name} is in state FAILED, and has to be dropped first (`DROP INDEX {name}`)"
        if not index.online:
            return f"{name} is not online"

        absent = ", ".join(sorted(self.schema.text_properties - set(index.properties)))
        return f"{name} does not hold `{absent}`" if absent else ""

    @cached_property
    def covers_names(self) -> bool:
        """True when the index of titles answers and holds what the schema searches."""
        properties = tuple(self.schema.name_properties)
        serving = self._serving(
            WantedIndex(NAMES_INDEX, "fulltext", self.schema.named("__Entity__"), properties)
        )
        return serving is not None and serving.online

    @property
    def is_settled(self) -> bool:
        """True when nothing is missing that `prepare` would make for a search."""
        may_find = not self.schema.titled_label or self.finds_titles
        return self.is_complete and self.covers_names and may_find

    @cached_property
    def finds_titles(self) -> bool:
        """True when documents are found by their titles."""
        properties = ("project_id", "title_key") if self.schema.has_projects else ("title_key",)
        wanted = WantedIndex("", "range", self.schema.titled_label, properties)
        index = find_index(wanted, self.indexes).serving
        return index is not None and index.online

    @property
    def has_words(self) -> bool:
        """True when chunks and names are found by their words."""
        return self.covers_names and not self.text_problem

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

        pairs = zip(self.wanted, self.serving, strict=True)
        missing = tuple(wanted.name for wanted, index in pairs if index is None)
        return GraphHealth(self.server, present, missing, tuple(lacks), broken=broken)

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
        for wanted, index in zip(self.wanted[:2], self.serving, strict=False):
            if index is None or not index.online:
                raise GraphMisconfiguredError(
                    f"The vector index {wanted.name}, over `{wanted.properties[0]}` of "
                    f"{wanted.label}, {'is not online' if index else 'does not exist'}: {PREPARE}, "
                    "which says what stands in its way."
                )


class Probe:
    """Looks at the indexes with the first search, and again while some that matter are missing.

    Which of them are searched says the version of the vectors that are the own.
    """

    def __init__(
        self, own: OwnVectors, connection: Connection, names: IndexNames, schema: Schema
    ) -> None:
        """Remember what to ask; nothing is asked yet."""
        self._own = own
        self._connection = connection
        self._names = names
        self._schema = schema
        self._known: Inventory | None = None
        self._fresh_until = 0.0
        self._mapping, self._mapped_until = schema.mapping, 0.0

    async def schema(self) -> Schema:
        """Return the schema, with the property of the own vectors and the types of relations."""
        version, mapping = await self._own.version(), await self._named()
        return replace(self._schema, vector=version.named(self._schema.vector), mapping=mapping)

    async def _named(self) -> GraphMapping:
        """Return the mapping with its relations named, where they may be of any type but some.

        Without names the server goes along all edges of a node, and a hub has many mentions.
        """
        if not self._schema.mapping.relation and time.monotonic() >= self._mapped_until:
            self._mapped_until = time.monotonic() + LEARNED_S
            found = await self._connection.read(EDGE_TYPES, {})
            types = [row["type"] for row in found.records]
            relations = [one for one in types if one not in self._schema.not_relations]
            if len(relations) <= MOST_TYPES and all(map(is_name, relations)):
                self._mapping = replace(self._schema.mapping, relation="|".join(relations))
            else:
                self._mapping = self._schema.mapping
        return self._mapping

    async def inventory(self, is_settled: Callable[[Inventory], bool]) -> Inventory:
        """Return what is known, or look. What is missing may be created any moment."""
        known = self._known
        if known is not None and known.schema != await self.schema():
            known = None
        if known is None or (time.monotonic() > self._fresh_until and not is_settled(known)):
            looked = await self.look()
            can_search = self._schema.has_projects and await speaks_cypher_25(self._connection)
            known = self._known = replace(looked, can_search=can_search)
            self._fresh_until = time.monotonic() + 30

        return known

    async def as_it_is(self, search: Callable[[], Awaitable[_T]]) -> _T:
        """Return what a search finds, made again where what was known of the graph is not so now.

        Errors as those of the search.
        """
        known = self._known
        try:
            return await search()
        except GraphMisconfiguredError:
            if known is None:
                raise
            self.forget()
            if replace(await self.look(), can_search=known.can_search) == known:
                self._known = known  # the error is of one project, and others go on
                raise
        return await search()

    async def look(self, timeout_s: float = READ_TIMEOUT_S) -> Inventory:
        """Return what SHOW INDEXES says now; which vectors are the own is asked beside it."""
        async with task_group() as group:
            looking = group.create_task(read_server_and_indexes(self._connection, timeout_s))
            names, schema = self._names.of(await self._own.version()), await self.schema()
        server, indexes = looking.result()
        return Inventory(server, names, schema, indexes)

    def forget(self) -> None:
        """Look again with the next search."""
        self._known = None
        self._own.forget()
