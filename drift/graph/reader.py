"""GraphReader on Neo4j: one round trip for each thing that is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neo4j import Record

from drift.auth.caller import Caller, Project
from drift.auth.ranges import next_id, readable_ranges
from drift.contracts.attributes import MOST_CHARACTERS, FilterKey
from drift.contracts.filter import Filter
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    CommunityOut,
    DocumentOut,
    EntityRead,
    HeldDocument,
    ProjectOut,
)
from drift.core import source_uri
from drift.core.deadline import Deadline
from drift.core.errors import FieldProblem, InvalidRequestError
from drift.graph import reading_rows as rows
from drift.graph.careful import COLD_TIMEOUT_S
from drift.graph.connection import Connection
from drift.graph.cypher import overview, reading, said
from drift.graph.cypher.schema import DEFAULT, Schema
from drift.graph.parameters import stored_ids
from drift.graph.rows import text_of
from drift.model.allowed import Allowed
from drift.model.attributes import MOST_METADATA
from drift.model.reading import (
    MOST_KINDS,
    MOST_NAMED,
    MOST_TOLD,
    AboutProject,
    Page,
    PageQuery,
    about_id,
)

MAX_RANGES = 200
"""Of ids, that one statement looks at."""
LOOKED_AT = 1000
"""Edges of an entity, of either kind, that are looked at."""
MOST_SIZED = 1000
"""Documents of a project whose size a list tells."""
MENTIONED = 50
"""Entities that are told of a chunk."""

_BOUNDS: Mapping[str, Any] = {
    "longest_metadata": 10_000,
    "longest_uri": source_uri.MOST_CHARACTERS,
    "most_parents": 10,
    "looked_at": LOOKED_AT,
    "most_sized": MOST_SIZED,
    "beginning": 200,  # characters of a chunk that mentions an entity
    "no_place": 2**62,  # where chunks without a place stand
    "most_named": MOST_NAMED,
    "most_told": MOST_TOLD,
    "most_kinds": MOST_KINDS,
    "most_questions": 12,
    "most_metadata": MOST_METADATA,
    "longest_value": MOST_CHARACTERS,
    "most_documents": 10_000,  # of which keys of filters are told
}


@dataclass(frozen=True, slots=True)
class Neo4jReader:
    """Reads over the connection of whoever made it; in V1 the whole database is one project."""

    connection: Connection
    schema: Schema = DEFAULT
    bound: Allowed | None = None

    async def allowed(self, project_id: str, asked_for: Filter, deadline: Deadline) -> Allowed:
        """Return what a filter leaves of a project.

        Raises:
            InvalidRequestError: the graph is one of others, whose documents say nothing to ask for.
        """
        if not self.schema.has_projects:
            problem = "cannot be used here: the documents of this graph have no attributes"
            raise InvalidRequestError((FieldProblem("filter", problem),))
        asked = {"project_id": project_id, "conditions": asked_for.conditions()}
        [row] = await self._read(said.allowed, asked, deadline)
        return Allowed(dict.fromkeys(row["documents"], True), row["chunks"], row["of"])

    def within(self, allowed: Allowed) -> Neo4jReader:
        """Return what reads these documents alone, and what is made of them alone."""
        return replace(self, schema=self.schema.filtered, bound=allowed)

    async def projects(self, caller: Caller, page: PageQuery, deadline: Deadline) -> Page[str]:
        """Return the ids of projects that the caller may read.

        Where the database is one project, those that the caller names: it answers to any name.
        """
        first = str(page.after[0]) if page.after else ""
        ranges = readable_ranges(caller, first)
        if not self.schema.has_projects:
            named = [one.only for one in ranges if one.only is not None]
            return _page_of_ids(named, page.limit)

        looked_at, left = ranges[:MAX_RANGES], ranges[MAX_RANGES:]
        spans = [{"first": one.first, "end": one.end, "only": one.only} for one in looked_at]
        records = await self._read(
            lambda _: reading.PROJECTS, {"ranges": spans}, deadline, page.limit
        )
        found = _page_of_ids([record["id"] for record in records], page.limit)

        return Page(found.rows, (left[0].first,)) if left and found.last is None else found

    async def sizes(
        self, project_ids: Sequence[str], deadline: Deadline
    ) -> Mapping[str, tuple[int, int]]:
        """Return the documents and chunks of those that have 1 to MOST_SIZED documents."""
        if not self.schema.has_projects or not project_ids:
            return {}
        records = await self._read(lambda _: said.SIZES, {"ids": list(project_ids)}, deadline)
        counts = {record["id"]: (record["documents"], record["chunks"]) for record in records}
        return {id_: both for id_, both in counts.items() if 0 < both[0] <= MOST_SIZED}

    async def overview(self, project: Project, deadline: Deadline) -> ProjectOut:
        """Return what the project holds, counted."""
        records = await self._read(overview.overview, {"project_id": project.id}, deadline)
        return rows.project(project.id, records[0])

    async def filter_keys(self, project: Project, deadline: Deadline) -> tuple[FilterKey, ...]:
        """Return what a filter may ask for in the project, with the commonest values of each."""
        if not self.schema.has_projects:
            return ()
        named = {"project_id": project.id}
        records = await self._read(said.filter_keys, named, deadline)
        return tuple(FilterKey.model_validate(record.data()) for record in records)

    async def version(self, project: Project, deadline: Deadline) -> str | None:
        """Return what changes with every write of the project; None where that cannot be told."""
        records = await self._read(reading.version, {"project_id": project.id}, deadline)
        return ":".join(str(value) for value in records[0].values()) if records else None

    async def documents(
        self, project: Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentOut]:
        """Return a page of the project's documents, by id."""
        asked = _listed(project.id, page)
        records = await self._read(reading.documents, asked, deadline, page.limit)
        return rows.page(records, page.limit, lambda row: rows.document(row["document"]))

    async def communities(
        self, project: Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityOut]:
        """Return a page of the project's communities, by id; of one level, or of all."""
        asked = _listed(project.id, page, level)
        records = await self._read(reading.communities, asked, deadline, page.limit)
        return rows.page(records, page.limit, lambda row: rows.community(row["community"]))

    async def document(
        self, project: Project, document_id: str, page: PageQuery, deadline: Deadline
    ) -> tuple[HeldDocument, Page[ChunkItem]] | None:
        """Return a document with a page of its chunks, in their order."""
        at, key = page.after or (-1, "")
        asked = {**_named(project, document_id), "at": at, "key": key}
        found = await self._read(reading.document, asked, deadline, page.limit)
        return rows.document_read(found[0], page.limit) if found else None

    async def chunk(self, project: Project, chunk_id: str, deadline: Deadline) -> ChunkRead | None:
        """Return a chunk with its text, its document, and what it mentions and stands beside."""
        asked = _named(project, chunk_id)
        found = await self._read(reading.chunk, asked, deadline, MENTIONED)
        if not found and chunk_id == about_id(project.id):
            return ChunkRead.of_project(await self.about(project.id, deadline))
        return rows.chunk_read(found[0], MENTIONED) if found else None

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself."""
        asked = _listed(project_id, PageQuery(MOST_NAMED))
        records = await self._read(overview.about, asked, deadline, MOST_NAMED)
        return rows.about(project_id, records[0])

    async def largest(self, project: Project, deadline: Deadline) -> list[str]:
        """Return what the largest communities are called or about, of the first 10,000."""
        most = 10_000
        asked = _listed(project.id, PageQuery(most))
        records = await self._read(overview.largest, asked, deadline, most)
        return [text_of(row["title"]) or text_of(row["summary"]) for row in records]

    async def entity(
        self, project: Project, entity_id: str, limit: int, deadline: Deadline
    ) -> EntityRead | None:
        """Return an entity with its weightiest relations, and chunks that mention it."""
        found = await self._read(reading.entity, _named(project, entity_id), deadline, limit)
        return rows.entity_read(found[0], limit) if found else None

    async def _read(
        self,
        text: Callable[[Schema], str],
        asked: Mapping[str, Any],
        deadline: Deadline,
        limit: int = 0,
    ) -> Sequence[Record]:
        """Run a statement; it is asked for a row more than `limit`, which tells of a next page."""
        values = {**_BOUNDS, "asked": asked, "limit": limit + 1}
        values = self.bound.bounding(values) if self.bound else values
        async with deadline.enforced():
            timeout_s = min(COLD_TIMEOUT_S, deadline.require())
            statement = text(self.schema)
            with self.connection.outcomes.noted(deadline, statement):
                return (await self.connection.read(statement, values, timeout_s)).records


def _named(project: Project, id_: str) -> dict[str, Any]:
    return {"project_id": project.id, "id": id_, "ids": stored_ids(id_)}


def _listed(project_id: str, page: PageQuery, level: int | None = None) -> dict[str, Any]:
    """Return what a list is asked: behind which text and which number; texts come first."""
    key = page.after[0] if page.after else ""
    is_text = isinstance(key, str)
    text, number = (key, float("-inf")) if is_text else (None, key)
    behind = {"text": text, "number": number}
    return {"project_id": project_id, "level": level, "words": page.words, **behind}


def _page_of_ids(ids: Sequence[str], limit: int) -> Page[str]:
    if len(ids) <= limit:
        return Page(tuple(ids))
    return Page(tuple(ids[:limit]), (next_id(ids[limit - 1]),))
