"""Pure: documents and chunks as they are stored, with their ids and hashes."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import quote

from drift.core.hyperlinks import MOST_OF_A_CHUNK, Link, below_itself, target_of
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
)
from drift.indexing.chunking import CHUNKING_VERSION, cut
from drift.indexing.documents import DECODING_VERSION, Piece, SourceDocument
from drift.indexing.links import address_of, addresses_in
from drift.model.attributes import Attributes

CHUNKS_A_BATCH = 128
RULES = f"{DECODING_VERSION}.{CHUNKING_VERSION}"
"""How a document is read and cut: what other rules made is written again."""

_MEDIA_TYPES = {"markdown": "text/markdown", "rst": "text/x-rst", "text": "text/plain"}
_NAMESPACE = uuid.UUID("6f6f0a3e-0d3f-5d0e-9a55-1f1c5c0f7d11")


def stable_id(*parts: str) -> str:
    """Return the same UUID for the same parts, on every machine."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def possible_ids(source: str, path: str) -> tuple[str, str, str]:
    """Return the ids that a document may have, the first one that no other source has."""
    folder = PurePosixPath(source).name
    return path, f"{folder}/{path}", f"{folder}-{stable_id(source)[:8]}/{path}"


def embedding_of(model: str, dimensions: int) -> str:
    """Return what names a project's vectors: they are all made anew when it changes."""
    return f"{model}/{dimensions}"


def version_of(hashed: str, uri: str, given: Attributes, embedding: str) -> DocumentVersion:
    """Return what a document is made of; `embedding` names what makes its vectors."""
    return DocumentVersion(hashed, RULES, embedding, uri, given.digest)


def document_record(
    read: SourceDocument, name: str, source: str, key: str, embedding: str = ""
) -> DocumentRecord:
    """Return a document as it is stored under an id; its chunks are named after the `key`."""
    said = read.given.over(read.own)
    return DocumentRecord(
        name,
        read.given.title or read.title,
        source,
        version_of(read.content_hash, read.source_uri, read.given, embedding),
        read.updated_at if said.updated_at is None else said.updated_at,
        key,
        note=read.note,
        media_type=read.media_type or _MEDIA_TYPES[read.format],
        attributes=said,
    )


def keeping_attributes(record: DocumentRecord, known: DocumentRecord) -> DocumentRecord:
    """Return a document with the address and the attributes that others gave it earlier."""
    was, said = known.version, known.attributes
    version = replace(record.version, source_uri=record.version.source_uri or was.source_uri)
    if was.rules and not was.attributes_hash:  # all that is known it said itself
        return replace(record, version=version)
    version = replace(version, attributes_hash=was.attributes_hash or said.digest)
    return replace(record, version=version, attributes=said.over(record.attributes))


def chunk_id(namespace: str, key: str, repeat: int, text: str) -> str:
    """Return the id of a chunk: the `repeat`th of its document that has this text, from 1.

    The `namespace` is the project's id, or the one that it had before it was restored.
    """
    return stable_id(namespace, key, str(repeat), text)


def cut_up(document: SourceDocument) -> SourceDocument:
    """Return a document with its pieces; those of one that has some stay."""
    if document.pieces:
        return document
    slices = cut(document.text, document.format)
    return replace(document, pieces=tuple(Piece(s.start, s.end, s.heading) for s in slices))


def chunk_records(
    namespace: str, record: DocumentRecord, document: SourceDocument
) -> tuple[ChunkRecord, ...]:
    """Return the chunks of a document, without vectors; one keeps its id while its words stay."""
    chunks: list[ChunkRecord] = []
    repeats: Counter[str] = Counter()
    line, page, counted = 1, 1, 0
    for ordinal, piece in enumerate(cut_up(document).pieces):
        line += document.text.count("\n", counted, piece.start)
        page += document.text.count("\f", counted, piece.start)
        counted = piece.start
        text = document.text[piece.start : piece.end]
        repeats[text] += 1
        links = [(w, told) for at, w, told in document.links if piece.start <= at < piece.end]
        chunks.append(
            ChunkRecord(
                chunk_id(namespace, record.key, repeats[text], text),
                record.id,
                ordinal,
                piece.heading or record.title,
                text,
                start=piece.start,
                end=piece.end,
                first_line=line if document.has_lines else None,
                page=page if document.has_pages else None,
                defines=(
                    *piece.defines,
                    *addresses_in(text),
                    *(address for link in links for address in address_of(link)),
                ),
                names=piece.names,
                links=_leading(document, links),
            )
        )

    return tuple(chunks)


def _leading(document: SourceDocument, links: Iterable[Link]) -> tuple[str, ...]:
    """Return the links as they are stored: what each leads to, and its words on the next line."""
    found: dict[str, None] = {}
    for words, told in links:
        if target := below_itself(target_of(told), quote(document.id), document.source_uri):
            found[f"{target}\n{words}"] = None
    return tuple(found)[:MOST_OF_A_CHUNK]


async def batches(changed: AsyncIterable[DocumentBatch]) -> AsyncIterator[DocumentBatch]:
    """Join documents to batches of about CHUNKS_A_BATCH chunks; a document is never divided."""
    joined: list[DocumentBatch] = []
    chunks = 0
    async for one in changed:
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
