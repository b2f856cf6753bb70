"""The routes that index documents one by one; the right to write is known before all else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from drift.auth.caller import Caller, Project
from drift.contracts.documents import MEGABYTE, IndexedOut, NewDocument, RawDocument
from drift.contracts.parameters import Parameters
from drift.core.deadline import Deadline
from drift.core.errors import (
    FieldProblem,
    IngestError,
    InvalidRequestError,
    LeaseLostError,
    ProjectBusyError,
    ProjectHeldError,
    UnsupportedMediaTypeError,
)
from drift.http import http
from drift.http.asgi import read_body
from drift.http.query import parse_query
from drift.http.route import Call
from drift.http.time_limits import DOCUMENT_S
from drift.model.attributes import Attributes

if TYPE_CHECKING:  # they load what only a first request shall
    from drift.http.service import Service
    from drift.indexing.documents import SourceDocument
    from drift.indexing.indexer import Indexer

DOCUMENTS = "documents"
DOCUMENT = "documents/{*id}"

FILE = "application/octet-stream"
RAW = {"text/markdown": ".md", "text/plain": "", FILE: ""}
"""Bodies that are a document themselves, with the ending that counts where the id has none."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A document as it was sent, whatever form that had; no `attributes` let those of it stay."""

    id: str
    content: bytes
    title: str = ""
    source_uri: str = ""
    default: str = ""
    is_file: bool = False
    attributes: Attributes | None = None


async def add_document(call: Call) -> Response:
    """Have a project hold a document, of which the next question knows.

    What became of the document; the same again is `unchanged`, and nothing is written. As
    text/markdown or text/plain the body is the document itself, with `id` and `project_id` in the
    query; as application/octet-stream it is a file of the kind that the id ends with.
    """
    service = await call.service()
    project, given = await _given(call, service)
    async with _indexing(call.caller, project, service) as indexer:
        done = await indexer.add(await _read(given, service), given.content)

    return http.read(IndexedOut(project_id=project.id, **asdict(done)))


async def change_document(call: Call) -> Response:
    """Have questions see a document no more, or again; it stays stored with its vectors.

    The document is so.
    """
    service = await call.service()
    project = await _project(call, service, call.query.project_id)
    async with _indexing(call.caller, project, service) as indexer:
        await indexer.switch(call.id, on=not call.body.off)

    return Response(status_code=HTTPStatus.NO_CONTENT, media_type=http.JSON)


async def remove_document(call: Call) -> Response:
    """Take a document out of a project, with its chunks.

    The document is gone.
    """
    service = await call.service()
    project = await _project(call, service, call.query.project_id)
    async with _indexing(call.caller, project, service) as indexer:
        await indexer.remove(call.id)

    return Response(status_code=HTTPStatus.NO_CONTENT, media_type=http.JSON)


async def _given(call: Call, service: Service) -> tuple[Project, _Given]:
    """Return the project and the document; no large body is read before what can be known."""
    request, most = call.request, service.settings.max_document_mb * MEGABYTE
    query, media_type = request.scope["query_string"], http.media_type(request.headers)
    if media_type == http.JSON:
        parse_query(query, Parameters)  # an id there would be another one
        # In a thread, so that the loop goes on with other requests.
        new = await asyncio.to_thread(http.parse, await read_body(request, most), NewDocument)
        project = await _project(call, service, new.project_id)
        given = _Given(new.id, new.text.encode(), new.title, new.source_uri)
        return project, replace(given, attributes=new.said())
    if media_type in RAW:
        named = parse_query(query, RawDocument)
        project = await _project(call, service, named.project_id)
        body, is_file = await read_body(request, most), media_type == FILE
        return project, _Given(named.id, body, default=RAW[media_type], is_file=is_file)

    wanted = ", ".join((http.JSON, *RAW))
    raise UnsupportedMediaTypeError(f"The content type must be one of {wanted}.")


async def _project(call: Call, service: Service, named: str | None) -> Project:
    """Return the project that the caller may write, where its quota admits one more request."""
    project = await service.project(call.caller, named, "write")
    await service.quotas.admit(call.caller)
    return project


async def _read(given: _Given, service: Service) -> SourceDocument:
    from drift.indexing.documents import Skipped, document_of  # noqa: PLC0415 - where documents come

    read_file = service.read_file if given.is_file else None
    if read_file is not None:
        work = partial(read_file, given.id, given.content)
    else:
        about = {"title": given.title, "source_uri": given.source_uri, "default": given.default}
        work = partial(document_of, given.id, given.content, **about)

    read = await service.readers().read(given.id, work)
    if isinstance(read, Skipped):
        reason = read.reason
        if given.is_file and read_file is None:
            reason += "; text and Markdown alone are read here, and other files by `drift ingest`"
        raise InvalidRequestError((FieldProblem("text", reason),))
    if given.attributes is None:
        return replace(read, keeps_attributes=True)
    return replace(read, given=given.attributes)


@asynccontextmanager
async def _indexing(caller: Caller, project: Project, service: Service) -> AsyncIterator[Indexer]:
    """Give what indexes documents, for so long; its errors become those of a request."""
    try:
        async with Deadline.after(DOCUMENT_S + service.settings.reading_s).enforced():
            with service.admission.counted(caller):
                yield await service.indexer(project)
    except (ProjectBusyError, LeaseLostError) as error:
        raise ProjectHeldError(project.id) from error
    except IngestError as error:
        raise InvalidRequestError((FieldProblem("id", error.detail),)) from error
