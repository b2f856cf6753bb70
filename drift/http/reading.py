"""The read routes: what each may be asked, for whom, and what it answers.

A request is checked whole, and its caller's right on the project with it, before anything is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from drift.auth.caller import Caller, Project
from drift.contracts import reading as out
from drift.core.deadline import Deadline
from drift.core.errors import NotFoundError
from drift.http import http, reading_out
from drift.http.cursors import KEY, NUMBER, TEXT, ListName, cursor, position
from drift.http.http import Reply
from drift.http.query import LISTS, TEXTS, Bounds, Query, path_id, project_of_path
from drift.model.reading import PageQuery
from drift.ports import GraphReader

PROJECTS = "projects"
PROJECT = "projects/{id}"
DOCUMENTS = "projects/{id}/documents"
COMMUNITIES = "projects/{id}/communities"
DOCUMENT = "documents/{*id}"
CHUNK = "chunks/{*id}"
ENTITY = "entities/{*id}"

DEADLINE_S = 30.0

Answer = Callable[[GraphReader, Deadline], Awaitable[BaseModel]]
"""What is left to do when a request is known to be right, and its caller to be allowed."""

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Asked:
    """A GET request: who sends it, its path as it was sent, and its query."""

    caller: Caller
    path: bytes
    query: bytes


Route = Callable[[Asked], Answer]


async def reply(answer: Answer, reader: GraphReader) -> Reply:
    """Read what was asked for, and return it as HTTP."""
    body = await answer(reader, Deadline.after(DEADLINE_S))
    return http.read(body)


# ------------------------------------------------------------------------------------------ lists
def projects(asked: Asked) -> Answer:
    """List the projects that the caller may read."""
    query = Query(asked.query, ("limit", "cursor"))
    listed = ListName(PROJECTS, asked.caller.name, (TEXT,))
    page = _page(query, listed, LISTS)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.ProjectsPage:
        found = await reader.projects(asked.caller, page, deadline)
        items = [out.ProjectItem(id=id_) for id_ in found.rows]
        return out.ProjectsPage(projects=items, next=cursor(listed, found.last))

    return answer


def documents(asked: Asked) -> Answer:
    """List a project's documents."""
    project = _project_of_path(asked, DOCUMENTS)
    listed = ListName(DOCUMENTS, project.id, (KEY,))
    page = _page(Query(asked.query, ("limit", "cursor")), listed, LISTS)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.DocumentsPage:
        found = await reader.documents(project, page, deadline)
        rows = [reading_out.document(row) for row in found.rows]
        return out.DocumentsPage(documents=rows, next=cursor(listed, found.last))

    return answer


def communities(asked: Asked) -> Answer:
    """List a project's communities, of one level or of all."""
    project = _project_of_path(asked, COMMUNITIES)
    query = Query(asked.query, ("limit", "cursor", "level"))
    level = query.level()
    listed = ListName(COMMUNITIES, project.id, (KEY,), "" if level is None else str(level))
    page = _page(query, listed, TEXTS)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.CommunitiesPage:
        found = await reader.communities(project, level, page, deadline)
        rows = [reading_out.community(row) for row in found.rows]
        return out.CommunitiesPage(communities=rows, next=cursor(listed, found.last))

    return answer


# ---------------------------------------------------------------------------------- single things
def project(asked: Asked) -> Answer:
    """Count what a project holds."""
    project = _project_of_path(asked, PROJECT)
    Query(asked.query, ())

    async def answer(reader: GraphReader, deadline: Deadline) -> out.ProjectOut:
        return reading_out.project(await reader.overview(project, deadline))

    return answer


def document(asked: Asked) -> Answer:
    """Read a document, with a page of its chunks."""
    query = Query(asked.query, ("project_id", "limit", "cursor"))
    id_ = path_id(asked.path, DOCUMENT)
    project = _project(asked, query)
    listed = ListName(DOCUMENT, project.id, (NUMBER, TEXT), id_)
    page = _page(query, listed, LISTS)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.DocumentRead:
        found = _held(await reader.document(project, id_, page, deadline))
        return reading_out.document_read(found, cursor(listed, found.chunks.last))

    return answer


def chunk(asked: Asked) -> Answer:
    """Read a chunk, with what stands before and after it."""
    query = Query(asked.query, ("project_id",))
    id_ = path_id(asked.path, CHUNK)
    project = _project(asked, query)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.ChunkRead:
        return reading_out.chunk_read(_held(await reader.chunk(project, id_, deadline)))

    return answer


def entity(asked: Asked) -> Answer:
    """Read an entity, with its relations and the chunks that mention it."""
    query = Query(asked.query, ("project_id", "limit"))
    id_ = path_id(asked.path, ENTITY)
    limit = query.limit(TEXTS)
    project = _project(asked, query)

    async def answer(reader: GraphReader, deadline: Deadline) -> out.EntityRead:
        return reading_out.entity_read(_held(await reader.entity(project, id_, limit, deadline)))

    return answer


def _page(query: Query, listed: ListName, bounds: Bounds) -> PageQuery:
    """Return which page is wanted.

    Raises:
        InvalidRequestError: naming each parameter that is wrong.
    """
    limit, given = query.limit(bounds), query.cursor()
    query.check()
    return PageQuery(limit, None if given is None else position(listed, given))


def _project(asked: Asked, query: Query) -> Project:
    """Return the project that the query names, or the caller's only one."""
    named = query.project_id()
    query.check()
    return asked.caller.project(named)


def _project_of_path(asked: Asked, route: str) -> Project:
    return asked.caller.project(project_of_path(asked.path, route))


def _held(found: _Found | None) -> _Found:
    if found is None:
        raise NotFoundError("The project holds nothing under this id.")
    return found
