"""The original file of a document as HTTP: whole or in part, and nothing that a browser runs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from drift.contracts.parameters import ContentParameters
from drift.contracts.reading import HeldDocument
from drift.core.deadline import Deadline
from drift.core.errors import ContentNotKeptError
from drift.http.reading import ReadRequest, content_type, held, route
from drift.model.reading import PageQuery
from drift.originals.names import original_name
from drift.ports import GraphReader

_NOT_KEPT = (
    "The original file of this document is not kept. Set DOCUMENT_STORE, then add the document "
    "again or ingest its folder again."
)
_OFF = "The document is off, and so is its original file: switch it on with PATCH /documents/{id}."
_RUN_BY_BROWSERS = re.compile(r"html|script|css|svg|xml$")
_MOST_NAMED = 200
_GUARDS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
}


@route("documents/{id}/content", ContentParameters, None)
async def read_content(asked: ReadRequest, reader: GraphReader, deadline: Deadline) -> Response:
    """The original file of a document.

    Its bytes, as `text/plain` where a browser would run them; 206 with the part that one `Range`
    names, 304 where `If-None-Match` names its `ETag`.
    """
    document, _ = held(await reader.document(asked.project, asked.id, PageQuery(1), deadline))
    if document.off:
        raise ContentNotKeptError(_OFF)
    name = original_name(asked.project.id, document.key, document.content_hash)
    store, headers = asked.service.graph.originals, asked.call.request.headers
    size = await store.size(name) if store else None
    if store is None or size is None:
        raise ContentNotKeptError(_NOT_KEPT)

    tag = f'"{name.rpartition("/")[2]}"'
    about = _about(document, is_saved=asked.call.query.download) | {"etag": tag}
    known = headers.get("if-none-match", "").split(",")
    if tag in (one.strip().removeprefix("W/") for one in known):
        return Response(None, HTTPStatus.NOT_MODIFIED, about)

    is_same = headers.get("if-range", tag) == tag
    begin, end = _part(headers.get("range", "") if is_same else "", size)
    about["content-length"], is_part = str(end - begin), end - begin < size
    if is_part:
        about["content-range"] = f"bytes {begin}-{end - 1}/{size}"
    parts = store.read(name, begin, end)
    first = await anext(parts, None)  # what fails does so before the answer begins
    if first is None:
        raise ContentNotKeptError(_NOT_KEPT)
    status = HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK
    return StreamingResponse(_sent(first, parts), status, about)


async def _sent(first: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for part in parts:
        yield part


def _about(document: HeldDocument, *, is_saved: bool) -> dict[str, str]:
    kind = content_type(document)
    kind = "text/plain" if _RUN_BY_BROWSERS.search(kind) else kind
    called = quote(PurePosixPath(document.id).name[-_MOST_NAMED:], safe="", errors="replace")
    shown = "attachment" if is_saved else "inline"
    return {
        **_GUARDS,
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "content-disposition": f"{shown}; filename*=UTF-8''{called}",
    }


def _part(asked: str, size: int) -> tuple[int, int]:
    """Return where the part that one range names begins and ends; any other means all of it."""
    found = re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", asked.strip())
    first, last = found.groups() if found else ("", "")
    begin = int(first) if first else size - int(last or size)
    end = int(last) + 1 if first and last else size
    return (max(0, begin), min(size, end)) if begin < min(size, end) else (0, size)
