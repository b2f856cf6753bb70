"""GraphReader on Neo4j: one round trip for each thing that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neo4j import Record

from drift.auth.caller import Caller, Project
from drift.auth.ranges import IdRange, next_id, readable_ranges
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    CommunityOut,
    DocumentOut,
    EntityRead,
    ProjectOut,
)
from drift.core import source_uri
from drift.core.deadline import Deadline
from drift.graph import reading_rows as rows
from drift.graph.connection import Connection
from drift.graph.cypher import reading
from drift.graph.cypher.schema import DEFAULT, Schema
from drift.graph.parameters import stored_keys
from drift.model.reading import (
    MOST_NAMED,
    MOST_TOLD,
    AboutProject,
    Page,
    PageQuery,
    Position,
    about_id,
)

TIMEOUT_S = 30.0
"""For a statement that the server has not seen: planning and compiling it takes seconds."""
MAX_RANGES = 200
"""Of ids, that one statement looks at."""
MOST_LOOKED_AT = 10_000
"""Communities of which the largest are told."""
LOOKED_AT = 1000
"""Edges of an entity, of either kind, that are looked at."""
MENTIONED = 50
"""Entities that are told of a chunk."""
BEGINNING = 200
"""Characters that are told of a chunk that mentions an entity."""
_NO_PLACE = 2**62
"""Where chunks without a place stand."""

_BOUNDS: Mapping[str, Any] = {
    "longest_metadata": 10_000,
    "longest_uri": source_uri.MOST_CHARACTERS,
    "most_parents": 10,
    "looked_at": LOOKED_AT,
    "beginning": BEGINNING,
    "no_place": _NO_PLACE,
    "most_named": MOST_NAMED,
    "most_told": MOST_TOLD,
}


class Neo4jReader:
    """Reads over the connection of whoever made it; building it opens nothing."""

    def __init__(self, connection: Connection, schema: Schema = DEFAULT) -> None:
        """Read a graph of this schema; in V1 the whole database is one project, of any name."""
        self._connection = connection
        self._schema = schema

    async def projects(self, caller: Caller, page: PageQuery, deadline: Deadline) -> Page[str]:
        """Return the ids of projects that the caller may read.

        Where the database is one project, those that the caller names: it answers to any name.
        """
        first = str(page.after[0]) if page.after else ""
        ranges = readable_ranges(caller, first)
        if not self._schema.has_projects:
            named = [one.only for one in ranges if one.only is not None]
            return _page_of_ids(named, page.limit)

        looked_at, left = ranges[:MAX_RANGES], ranges[MAX_RANGES:]
        records = await self._read(
            reading.PROJECTS, {"ranges": [_asked(one) for one in looked_at]}, deadline, page.limit
        )
        found = _page_of_ids([record["id"] for record in records], page.limit)
        return Page(found.rows, (left[0].first,)) if left and found.last is None else found

    async def overview(self, project: Project, deadline: Deadline) -> ProjectOut:
        """Return what the project holds, counted."""
        records = await self._read(
            reading.overview(self._schema), {"project_id": project.id}, deadline
        )
        return rows.project(project.id, records[0])

    async def version(self, project: Project, deadline: Deadline) -> str | None:
        """Return what changes with every write of the project; None where that cannot be told."""
        records = await self._read(
            reading.version(self._schema), {"project_id": project.id}, deadline
        )
        return ":".join(str(value) for value in records[0].values()) if records else None

    async def documents(
        self, project: Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentOut]:
        """Return a page of the project's documents, by id."""
        asked = {"project_id": project.id, **_behind(page.after)}
        records = await self._read(reading.documents(self._schema), asked, deadline, page.limit)
        return rows.page(records, page.limit, lambda row: rows.document(row["document"]))

    async def communities(
        self, project: Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityOut]:
        """Return a page of the project's communities, by id; of one level, or of all."""
        asked = {"project_id": project.id, "level": level, **_behind(page.after)}
        records = await self._read(reading.communities(self._schema), asked, deadline, page.limit)
        return rows.page(records, page.limit, lambda row: rows.community(row["community"]))

    async def document(
        self, project: Project, document_id: str, page: PageQuery, deadline: Deadline
    ) -> tuple[DocumentOut, Page[ChunkItem]] | None:
        """Return a document with a page of its chunks, in their order."""
        at, key = page.after or (-1, "")
        found = await self._one(
            reading.document(self._schema),
            {**_named(project, document_id), "at": at, "key": key},
            deadline,
            page.limit,
        )
        return rows.document_read(found, page.limit) if found else None

    async def chunk(self, project: Project, chunk_id: str, deadline: Deadline) -> ChunkRead | None:
        """Return a chunk with its text, its document, and what it mentions and stands beside."""
        found = await self._one(
            reading.chunk(self._schema), _named(project, chunk_id), deadline, MENTIONED
        )
        if found is None and chunk_id == about_id(project.id):
            return ChunkRead.of_project(await self.about(project.id, deadline))
        return rows.chunk_read(found, MENTIONED) if found else None

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself."""
        asked = {"project_id": project_id, "level": None, **_behind(None)}
        records = await self._read(reading.about(self._schema), asked, deadline, MOST_LOOKED_AT)
        return rows.about(project_id, records[0])

    async def entity(
        self, project: Project, entity_id: str, limit: int, deadline: Deadline
    ) -> EntityRead | None:
        """Return an entity with its weightiest relations, and chunks that mention it."""
        found = await self._one(
            reading.entity(self._schema), _named(project, entity_id), deadline, limit
        )
        return rows.entity_read(found, limit) if found else None

    async def _one(
        self, text: str, asked: Mapping[str, Any], deadline: Deadline, limit: int = 0
    ) -> Record | None:
        records = await self._read(text, asked, deadline, limit)
        return records[0] if records else None

    async def _read(
        self, text: str, asked: Mapping[str, Any], deadline: Deadline, limit: int = 0
    ) -> Sequence[Record]:
        """Run a statement; it is asked for a row more than `limit`, which tells of a next page."""
        values = {**_BOUNDS, "asked": asked, "limit": limit + 1}
        async with deadline.enforced():
            timeout_s = min(TIMEOUT_S, deadline.require())
            return (await self._connection.read(text, values, timeout_s)).records


def _named(project: Project, id_: str) -> dict[str, Any]:
    return {"project_id": project.id, "id": id_, "ids": stored_keys(id_)}


def _behind(after: Position | None) -> dict[str, Any]:
    """Return behind which text and which number rows are wanted; texts come before numbers."""
    key = after[0] if after else ""
    if isinstance(key, str):
        return {"text": key, "number": float("-inf")}
    return {"text": None, "number": key}


def _asked(one: IdRange) -> dict[str, str | None]:
    return {"first": one.first, "end": one.end, "only": one.only}


def _page_of_ids(ids: Sequence[str], limit: int) -> Page[str]:
    """Return the page, and where the next one begins."""
    if len(ids) <= limit:
        return Page(tuple(ids))
    return Page(tuple(ids[:limit]), (next_id(ids[limit - 1]),))
