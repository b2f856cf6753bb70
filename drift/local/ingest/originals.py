"""The files that a project's documents were read from, in the store of originals."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from drift.graph.writing.records import DocumentRecord
from drift.indexing.documents import Skipped, SourceDocument, sha256
from drift.local.ingest.blobs import ETAG
from drift.local.ingest.files import REPEATS, SourceFile, bytes_of
from drift.local.ingest.kinds import hides_secrets
from drift.local.ingest.sources import Source
from drift.originals.names import of_original, of_project
from drift.ports import DocumentStore


def name_of(project_id: str, document: DocumentRecord) -> str:
    """Return the name of a document's file."""
    return of_original(project_id, document.key, document.version.content_hash)


async def retain(
    store: DocumentStore | None, project_id: str, documents: Iterable[DocumentRecord]
) -> set[str]:
    """Remove what is kept of no document of a project; return the names of the files of these."""
    if store is None:
        return set()
    held = await store.names(of_project(project_id))
    kept = {name_of(project_id, one) for one in documents} & held
    await store.remove(held - kept)
    return kept


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
