"""The page to ask in, as HTTP: a list of its files, which hold no data and are read once."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from drift.contracts.documents import MEGABYTE
from drift.core.errors import NotFoundError
from drift.http.http import JSON
from drift.http.route import Call

if TYPE_CHECKING:
    from drift.http.settings_access import AuthMode

PAGE = "rag"
FILE = "rag/{*file}"

STAND_IN = "drift-extractive"
"""The model of the local stack, which copies lines of the documents: readers are told so."""

_FOLDER = Path(__file__).parent.parent / "page"
_INDEX = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
"""What is served; a licence beside a library is not."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types drift-source"
)
"""Nothing of elsewhere, nothing inline, and no text that becomes markup or a script.

The one policy is of page/trusted.js: a tree apart from the page, and one worker.
"""

_GUARDS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_ASK_AGAIN = "no-cache"


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is sent, and packed by gzip."""

    media_type: str
    body: bytes
    packed: bytes
    tag: str


async def show_page(call: Call) -> Response:
    """Show the page to ask in, which holds no data."""
    path, headers = call.request.scope["raw_path"], call.request.headers
    reads_files = call.provider.read_file is not None
    return await asyncio.to_thread(response, path, headers, reads_files)


async def show_page_file(call: Call) -> Response:
    """Give a file of the page."""
    return await show_page(call)


def response(path: bytes, headers: Mapping[str, str], reads_files: bool = False) -> Response:
    """Return the page itself or a file of it; NotFoundError where a setting hides it.

    The page offers to add documents of all kinds where the service `reads_files`, else text. It
    reads files and settings, so it is called in a thread.
    """
    from drift.http import settings  # noqa: PLC0415 - they load with the first request

    shown = settings.load_page()
    if not shown.enable_rag_search:
        raise NotFoundError("There is nothing under this path.")

    rest = path.decode("latin-1").partition(f"/{PAGE}")[2]
    if rest == "/":
        moved = {"location": f"../{PAGE}"}
        return Response(None, HTTPStatus.PERMANENT_REDIRECT, moved, JSON)
    if not rest:
        takes = ("files" if reads_files else "text") if shown.takes_documents else "nothing"
        is_stand_in, most = shown.oai_model == STAND_IN, shown.max_document_mb * MEGABYTE
        index = _index(shown.auth_mode, is_stand_in, takes, most)
        return _sent(index, headers, _ASK_AGAIN)

    version, _, name = rest.removeprefix("/").partition("/")
    file = _files().get(name)
    if file is None:
        raise NotFoundError("The page has no such file.")

    # A page that is open since before a deployment gets the newest file, and does not keep it.
    is_newest = version == _version()
    return _sent(file, headers, "public, max-age=31536000, immutable" if is_newest else _ASK_AGAIN)


def _sent(file: _File, headers: Mapping[str, str], kept: str) -> Response:
    about = {**_GUARDS, "cache-control": kept, "etag": file.tag, "vary": "accept-encoding"}
    if file.tag in (tag.strip() for tag in headers.get("if-none-match", "").split(",")):
        return Response(None, HTTPStatus.NOT_MODIFIED, about, file.media_type)
    if _takes_gzip(headers.get("accept-encoding", "")):
        packed = {**about, "content-encoding": "gzip"}
        return Response(file.packed, HTTPStatus.OK, packed, file.media_type)

    return Response(file.body, HTTPStatus.OK, about, file.media_type)


def _takes_gzip(accepted: str) -> bool:
    """Tell whether gzip is named, and not with the weight 0."""
    for part in accepted.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False


@cache
def _files() -> Mapping[str, _File]:
    """Return every file of the page but the page itself, by its path."""
    found = sorted(path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    named = {path.relative_to(_FOLDER).as_posix(): path for path in found}
    del named[_INDEX]
    return {name: _file(path.suffix, path.read_bytes()) for name, path in named.items()}


@cache
def _version() -> str:
    """Return a name for the content of all files, which stands in their addresses."""
    every = hashlib.sha256()
    for name, file in _files().items():
        every.update(f"{name} {file.tag}\n".encode())
    return every.hexdigest()[:12]


@cache
def _index(auth_mode: AuthMode, is_stand_in: bool, takes_documents: str, most: int) -> _File:
    """Return the page itself: its files, the mode, whether a model answers, and what it takes."""
    text = (_FOLDER / _INDEX).read_text(encoding="utf-8")
    text = text.replace("{version}", _version()).replace("{auth_mode}", auth_mode)
    text = text.replace("{stand_in}", str(is_stand_in).lower())
    text = text.replace("{takes_documents}", takes_documents).replace("{most_bytes}", str(most))
    return _file(".html", text.encode())


def _file(suffix: str, body: bytes) -> _File:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return _File(_TYPES[suffix], body, gzip.compress(body, mtime=0), tag)
