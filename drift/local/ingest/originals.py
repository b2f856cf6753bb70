"""The files that a project's documents were read from, in the store of originals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import unescape

from drift.core.errors import DocumentStoreError
from drift.graph.writing.records import DocumentRecord
from drift.indexing.documents import Skipped, SourceDocument, sha256
from drift.local.ingest.blobs import ETAG
from drift.local.ingest.files import REPEATS, SourceFile, bytes_of
from drift.local.ingest.kinds import hides_secrets
from drift.local.ingest.sources import Source
from drift.originals import NOT_ANSWERING
from drift.originals.folder import FolderStore
from drift.originals.names import original_name, project_folder
from drift.originals.store import DocumentStore


def names_of(project_id: str, documents: Iterable[DocumentRecord]) -> dict[str, DocumentRecord]:
    """Return documents by the names of their files."""
    return {original_name(project_id, d.key, d.version.content_hash): d for d in documents}


async def kept(store: DocumentStore, project_id: str) -> set[str]:
    """Return the names of all files of a project, also of such as were never finished."""
    begin = project_folder(project_id)
    if isinstance(store, FolderStore):
        files = await asyncio.to_thread(lambda: list((store.folder / begin).glob("*")))
        return {f"{begin}{one.name}" for one in files}

    found, marker = set[str](), ""
    while True:
        asked = {"restype": "container", "comp": "list", "prefix": begin, "marker": marker}
        response = await store.send("GET", "", params=asked)
        if response is None:  # no such container
            raise DocumentStoreError(NOT_ANSWERING)
        listed = (await response.aread()).decode()
        await response.aclose()
        found.update(re.findall(r"<Name>([0-9a-f/]+)</Name>", listed))
        more = re.search(r"<NextMarker>([^<]+)</NextMarker>", listed)
        if more is None:
            return found
        marker = unescape(more[1])


async def retain(
    store: DocumentStore | None, project_id: str, documents: Iterable[DocumentRecord] = ()
) -> set[str]:
    """Remove what is kept of no document of a project; return the names of the files of these."""
    if store is None:
        return set()
    held, wanted = await kept(store, project_id), names_of(project_id, documents)
    for name in held - wanted.keys():
        await store.remove(name)
    return held & wanted.keys()


def content_of(
    file: SourceFile | SourceDocument, source: Source, content_hash: str
) -> bytes | Skipped:
    """Return the bytes that a document in this state was read from, or why they are not kept."""
    if isinstance(file, SourceFile):
        loaded = file.loaded()
        content = loaded if isinstance(loaded, Skipped) else loaded.content or b""
    elif source.is_file:
        found = bytes_of(Path(source.name), file.id)
        content = found if isinstance(found, Skipped) else found[0]
    else:
        content = file.text.encode()
    if isinstance(content, Skipped):
        return content
    # Azure gives a blob only while its ETag is this.
    is_tagged = file.content_hash == content_hash and content_hash.startswith(ETAG)
    if not is_tagged and sha256(content) != content_hash.removesuffix(REPEATS):
        return Skipped(file.id, "has changed since it was read", unreadable=True)
    if hides_secrets(file.id, content):
        return Skipped(file.id, "holds what looks like a secret")
    return content
