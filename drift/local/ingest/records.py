"""Pure: documents and chunks as they are stored, with their ids and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from drift.local.ingest.chunking import CHUNKING_VERSION, cut
from drift.local.ingest.documents import SourceDocument
from drift.local.ingest.graph_records import ChunkRecord, DocumentBatch, DocumentRecord
from drift.local.ingest.knowledge import stable_id

CHUNKS_A_BATCH = 128


def possible_ids(source: str, path: str) -> tuple[str, str, str]:
    """Return the ids that a document may have, the first one that no other source has."""
    folder = PurePosixPath(source).name
    return path, f"{folder}/{path}", f"{folder}-{stable_id(source)[:8]}/{path}"


def embedding_of(model: str, dimensions: int) -> str:
    """Return what names a project's vectors: they are all made anew when it changes."""
    return f"{model}/{dimensions}"


def content_hash(document: SourceDocument, embedding: str) -> str:
    """Return a hash that changes when the document must be written again.

    `embedding` names the model and the length of its vectors. What tells the document's address
    stands behind a dot, so that two copies of it are known by what stands before.
    """
    parts = (CHUNKING_VERSION, embedding, document.format, document.title, document.text)
    content = _sha256("\x1f".join(parts))
    return f"{content}.{_sha256(document.source_uri)[:16]}" if document.source_uri else content


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def chunk_records(
    project_id: str, record: DocumentRecord, document: SourceDocument
) -> tuple[ChunkRecord, ...]:
    """Return the chunks of a document, without vectors."""
    chunks = []
    line, counted = 1, 0
    for ordinal, piece in enumerate(cut(document.text, document.format)):
        line, counted = line + document.text.count("\n", counted, piece.start), piece.start
        text = document.text[piece.start : piece.end]
        chunk_id = stable_id(project_id, record.id, str(ordinal), text)
        heading = piece.heading or record.title
        chunks.append(
            ChunkRecord(
                chunk_id,
                record.id,
                ordinal,
                heading,
                text,
                start=piece.start,
                end=piece.end,
                first_line=line if document.has_lines else None,
            )
        )

    return tuple(chunks)


def batches(changed: Sequence[DocumentBatch]) -> Iterator[DocumentBatch]:
    """Join documents to batches of about CHUNKS_A_BATCH chunks; a document is never divided."""
    joined: list[DocumentBatch] = []
    chunks = 0
    for one in changed:
        joined.append(one)
        chunks += len(one.chunks)
        if chunks >= CHUNKS_A_BATCH:
            yield _joined(joined)
            joined, chunks = [], 0

    if joined:
        yield _joined(joined)


def _joined(parts: Sequence[DocumentBatch]) -> DocumentBatch:
    return DocumentBatch(
        tuple(document for part in parts for document in part.documents),
        tuple(chunk for part in parts for chunk in part.chunks),
        {name: others for part in parts for name, others in part.replaced.items()},
    )
