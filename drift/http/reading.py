"""The read routes: what each may be asked, for whom, and what it answers.

A request is checked whole, and its caller's right on the project with it, before anything of a
project is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from drift.auth.caller import RIGHTS, Caller, Project
from drift.auth.quotas import QuotaLimit
from drift.contracts import parameters
from drift.contracts import reading as out
from drift.contracts.request import project_id_problem
from drift.core.deadline import Deadline
from drift.core.errors import (
    DocumentStoreError,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
)
from drift.core.logs import chain, log
from drift.http import http
from drift.http.cursors import KEY, NUMBER, TEXT, Kinds, ListName, cursor, position
from drift.http.route import Call, Handler
from drift.http.time_limits import READING_S
from drift.model.reading import Page, PageQuery
from drift.originals.names import original_name
from drift.ports import GraphReader

if TYPE_CHECKING:  # it loads what only a first request shall
    from drift.http.service import Service

MOST_PROJECTS = 500
_PAGE = 200
_STORE_S = 2.0

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What is asked of a read route, known to be right, and of a caller who is allowed to.

    `id` is that of the path, and `page` says which part of the list.
    """

    call: Call
    of: Project | None
    id: str
    listed: ListName
    page: PageQuery
    service: Service

    @property
    def project(self) -> Project:
        """The project; every route has one but the list of them."""
        if self.of is None:
            raise LookupError("This route is of no project.")
        return self.of

    def following(self, page: Page[_Found]) -> str | None:
        """Return the cursor of what follows a page; None where the list has ended."""
        return cursor(self.listed, page.last)


Answer = Callable[[ReadRequest, GraphReader, Deadline], Awaitable[BaseModel | Response]]


@dataclass(frozen=True, slots=True)
class ReadRoute:
    """A read route: how it is answered, and the types (`kinds`) of a position in its list."""

    path: str
    parameters: type[parameters.Parameters]
    shape: type[BaseModel] | None
    kinds: tuple[Kinds, ...]
    answer: Answer

    @property
    def is_of_project(self) -> bool:
        """Whether the id in its path is that of a project."""
        return self.path.startswith("projects/")

    @property
    def finds_by_id(self) -> bool:
        """Whether the id in its path is that of something a project holds."""
        return "{" in self.path and not self.is_of_project

    async def check(self, call: Call, service: Service) -> ReadRequest:
        """Return what is asked, where it is right and its caller may read the project."""
        query, project, id_ = call.query, None, ""
        if self.is_of_project:
            if problem := project_id_problem(call.id):
                raise InvalidRequestError((FieldProblem("project_id", problem),))
            project = call.caller.project(call.id)
        elif self.finds_by_id:
            id_ = call.id
            project = await service.project(call.caller, query.project_id)

        level = getattr(query, "level", None)
        owner = project.id if project else call.caller.name
        listed = ListName(self.path, owner, self.kinds, id_ if level is None else str(level))
        given = getattr(query, "cursor", None)
        after = None if given is None else position(listed, given)
        page = PageQuery(getattr(query, "limit", 0), after, getattr(query, "q", ""))

        return ReadRequest(call, project, id_, listed, page, service)

    def handler(self) -> Handler:
        """Return what reads for a call; the caller's right on the project is known before."""

        async def read(call: Call) -> Response:
            service = await call.service()
            asked = await self.check(call, service)
            await service.quotas.admit(call.caller)
            deadline, wanted = Deadline.after(READING_S), getattr(asked.call.query, "filter", None)
            reader = service.reads()
            if asked.of is not None:
                reader = (await service.seen(asked.of, wanted, deadline)).graph.reader
            found = await self.answer(asked, reader, deadline)
            return found if isinstance(found, Response) else http.read(found)

        read.__name__, read.__doc__ = self.answer.__name__, self.answer.__doc__
        return read


async def project_ids(caller: Caller, reader: GraphReader) -> list[str]:
    """Return the ids of the projects that a caller may read, the first MOST_PROJECTS."""
    deadline, page, found = Deadline.after(READING_S), PageQuery(_PAGE), list[str]()
    while True:
        part = await reader.projects(caller, page, deadline)
        found += part.rows
        if part.last is None or len(found) >= MOST_PROJECTS:
            return found[:MOST_PROJECTS]
        page = PageQuery(_PAGE, part.last)


def route(
    path: str, parameters: type[parameters.Parameters], shape: type[BaseModel] | None, *kinds: Kinds
) -> Callable[[Answer], ReadRoute]:
    """Make a route of the function that answers it, with its name, and its text as a summary."""
    return lambda answer: ReadRoute(path, parameters, shape, kinds, answer)


@route("projects", parameters.PageParameters, out.ProjectsPage, TEXT)
async def read_projects(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.ProjectsPage:
    """The projects that the caller may read."""
    found = await reader.projects(asked.call.caller, asked.page, deadline)
    whole = [id_ for id_ in found.rows if _reads_whole(asked.call.caller, id_)]
    sizes = await reader.sizes(whole, deadline)
    items = []
    for id_ in found.rows:
        documents, chunks = sizes.get(id_, (None, None))
        items.append(out.ProjectItem(id=id_, documents=documents, chunks=chunks))
    return out.ProjectsPage(projects=tuple(items), next=asked.following(found))


def _reads_whole(caller: Caller, project_id: str) -> bool:
    """Tell whether a caller reads all of a project: a count would tell of what it may not."""
    return caller.filter_of(project_id, "read") is None


@route("projects/{id}", parameters.Parameters, out.ProjectRead)
async def read_project(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.ProjectRead:
    """What a project holds, counted, and what the caller may do with it."""
    project = asked.project
    rights = tuple(right for right in RIGHTS if project.caller.may(project.id, right))
    held = await reader.overview(project, deadline)
    keys = await reader.filter_keys(project, deadline)
    return out.ProjectRead(**dict(held), rights=rights, filter_keys=keys)


@route("projects/{id}/documents", parameters.DocumentsParameters, out.DocumentsPage, KEY)
async def read_documents(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.DocumentsPage:
    """A project's documents."""
    found = await reader.documents(asked.project, asked.page, deadline)
    return out.DocumentsPage(documents=found.rows, next=asked.following(found))


@route("projects/{id}/communities", parameters.CommunityParameters, out.CommunitiesPage, KEY)
async def read_communities(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.CommunitiesPage:
    """A project's communities, with levels, sizes and summaries."""
    level = getattr(asked.call.query, "level", None)
    found = await reader.communities(asked.project, level, asked.page, deadline)
    return out.CommunitiesPage(communities=found.rows, next=asked.following(found))


@route("documents/{*id}", parameters.DocumentParameters, out.DocumentRead, NUMBER, TEXT)
async def read_document(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.DocumentRead:
    """A document, with its chunks in their order."""
    document, chunks = held(await reader.document(asked.project, asked.id, asked.page, deadline))
    content = await _content(asked, document)
    following = asked.following(chunks)
    return out.DocumentRead(**dict(document), content=content, chunks=chunks.rows, next=following)


async def _content(asked: ReadRequest, document: out.HeldDocument) -> out.ContentOut | None:
    """Return what is kept of a document, nothing of one that is off.

    A store that does not answer costs no more than that, and two seconds.
    """
    name = original_name(asked.project.id, document.key, document.content_hash)
    store = None if document.off else asked.service.graph.originals
    try:
        async with asyncio.timeout(_STORE_S):
            size = await store.size(name) if store else None
    except (DocumentStoreError, TimeoutError) as error:
        log.warning("document_store_failed", extra={"cause": chain(error)})
        return None
    return None if size is None else out.ContentOut(type=content_type(document), size=size)


def content_type(document: out.HeldDocument) -> str:
    """Return the media type of a document's file."""
    told = (document.media_type or "").lower()
    return told if re.fullmatch(r"[a-z0-9.+-]+/[a-z0-9.+-]+", told) else "application/octet-stream"


@route("chunks/{*id}", parameters.ProjectParameters, out.ChunkRead)
async def read_chunk(asked: ReadRequest, reader: GraphReader, deadline: Deadline) -> out.ChunkRead:
    """A chunk, with its text, its document and what stands before and after it."""
    return held(await reader.chunk(asked.project, asked.id, deadline))


@route("entities/{*id}", parameters.EntityParameters, out.EntityRead)
async def read_entity(
    asked: ReadRequest, reader: GraphReader, deadline: Deadline
) -> out.EntityRead:
    """An entity, with its relations and the chunks that mention it."""
    return held(await reader.entity(asked.project, asked.id, asked.page.limit, deadline))


def held(found: _Found | None) -> _Found:
    """Return what a project holds under an id; NotFoundError for nothing."""
    if found is None:
        raise NotFoundError("The project holds nothing under this id.")
    return found


ROUTES = (
    read_projects,
    read_project,
    read_documents,
    read_communities,
    read_document,
    read_chunk,
    read_entity,
)


# ------------------------------------------------------------------------------------------ quota
async def read_usage(call: Call) -> Response:
    """What the caller has used of its quota; asking counts for none.

    The limits of the key, and what is used of them; null where it has none.
    """
    caller, quotas = call.caller, (await call.service()).quotas
    used, is_of_all = await quotas.used(caller)
    now = datetime.now(UTC)
    quota = out.QuotaRead(
        caller=caller.name,
        counted="together" if is_of_all else "alone",
        **{limit.name: _limit(limit, now) for limit in used},
    )

    return http.read(quota)


def _limit(limit: QuotaLimit, now: datetime) -> out.LimitRead | None:
    if limit.most is None:
        return None
    left = max(0, limit.most - limit.used)
    # to the nearest second: the clock of Redis is not quite this one
    free_at = (now + timedelta(seconds=limit.free_in_s + 0.5)).replace(microsecond=0)
    return out.LimitRead(limit=limit.most, used=limit.used, left=left, free_at=free_at)
