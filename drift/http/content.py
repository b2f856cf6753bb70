"""The original file of a document as HTTP: whole or in part, and nothing that a browser runs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from drift.contracts.reading import ContentOut, HeldDocument
from drift.core.errors import ContentNotKeptError, DocumentStoreError
from drift.core.logs import chain, log
from drift.originals.names import of_original
from drift.ports import DocumentStore

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,126}")
_RUN_BY_BROWSERS = re.compile(r"html|script|css|svg|xml$")
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_MOST_NAMED = 200
_GUARDS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
}


async def content_of(
    store: DocumentStore | None, project_id: str, document: HeldDocument
) -> ContentOut | None:
    """Return what is kept of a document; a store that does not answer costs no more than that."""
    try:
        size = await _size(store, project_id, document)
    except DocumentStoreError as error:
        log.warning("document_store_failed", extra={"cause": chain(error)})
        return None
    return None if size is None else ContentOut(type=_kind(document), size=size)


async def respond(
    store: DocumentStore | None,
    project_id: str,
    document: HeldDocument,
    headers: Mapping[str, str],
    *,
    download: bool,
) -> Response:
    """Return the original file of a document, or the part that is asked for (RFC 9110).

    Raises:
        ContentNotKeptError, DocumentStoreError: it is not kept, or cannot be read now.
    """
    size = await _size(store, project_id, document)
    if store is None or size is None:
        raise ContentNotKeptError
    name = of_original(project_id, document.key, document.content_hash)
    tag = f'"{name.rpartition("/")[2]}"'
    kind, called = _kind(document), PurePosixPath(document.id).name[-_MOST_NAMED:]
    kind = "text/plain" if _RUN_BY_BROWSERS.search(kind) else kind
    about = {
        **_GUARDS,
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "content-disposition": f"{'attachment' if download else 'inline'}; "
        f"filename*=UTF-8''{quote(called, safe='', errors='replace')}",
        "etag": tag,
    }
    known = headers.get("if-none-match", "")
    if known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(",")):
        return Response(None, HTTPStatus.NOT_MODIFIED, about)

    is_same = headers.get("if-range", tag) == tag
    part = _part(headers.get("range", ""), size) if is_same else None
    begin, end = part or (0, size)
    if part:
        about["content-range"] = f"bytes {begin}-{end - 1}/{size}"
    about["content-length"] = str(end - begin)
    parts = store.read(name, begin, end)
    first = await anext(parts, b"")  # what fails does so before an answer begins
    status = HTTPStatus.PARTIAL_CONTENT if part else HTTPStatus.OK
    return StreamingResponse(_sent(first, parts), status, about)


async def _sent(first: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for part in parts:
        yield part


async def _size(store: DocumentStore | None, project_id: str, document: HeldDocument) -> int | None:
    if store is None or not document.content_hash:
        return None
    return await store.size(of_original(project_id, document.key, document.content_hash))


def _kind(document: HeldDocument) -> str:
    told = (document.media_type or "").lower()
    return told if _MEDIA_TYPE.fullmatch(told) else "application/octet-stream"


def _part(asked: str, size: int) -> tuple[int, int] | None:
    """Return the part of a file that one range names; None for any other, which is passed over."""
    found = _RANGE.fullmatch(asked.strip())
    if found is None or not any(found.groups()):
        return None
    first, last = found.groups()
    begin = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    return (begin, end) if begin < end else None
