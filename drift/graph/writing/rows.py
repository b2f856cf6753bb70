"""Records as rows of the statements and back: how many at once, and none of them twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any, TypeVar

from drift.core.errors import IngestError
from drift.core.folding import words_as_typed
from drift.core.names import document_key, name_words
from drift.core.spellings import spellings
from drift.graph.writing.records import (
    ChunkRecord,
    Definition,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
)
from drift.model.attributes import Attributes
from drift.model.graph import Vector

ROWS = 2000
ROWS_WITH_VECTORS = 250
"""Rows of one statement."""

Item = TypeVar("Item")
Row = dict[str, Any]
Rows = Sequence[Row]
Chunks = Mapping[str, ChunkRecord]
"""The chunks of a document by their ids."""


def parts(rows: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the rows in parts of at most `size`."""
    return (rows[start : start + size] for start in range(0, len(rows), size))


def in_groups(
    items: Iterable[Item],
    size_of: Callable[[Item], int],
    most: int,
    most_items: int | None = None,
) -> Iterator[list[Item]]:
    """Yield the items in groups of at most `most` in size; a larger item is a group by itself."""
    group: list[Item] = []
    size = 0
    for item in items:
        if group and (size + size_of(item) > most or len(group) == most_items):
            yield group
            group, size = [], 0
        group.append(item)
        size += size_of(item)

    if group:
        yield group


def require_one_length(vectors: Iterable[Vector]) -> None:
    """Raise IngestError for vectors of several lengths, which would make exact searches fail."""
    lengths = sorted({len(vector) for vector in vectors if vector})
    if len(lengths) > 1:
        raise IngestError(
            f"Embeddings of one batch have different lengths: {', '.join(map(str, lengths))}."
        )


def properties(record: Any, *others: str) -> Row:  # noqa: ANN401 - any of the records
    """Return what a record has stored under its own names, which are all but `others`.

    What may be empty, and is so, is null.
    """
    told = {one: getattr(record, one.name) for one in fields(record) if one.name not in others}
    return {
        one.name: None if value in {"", ()} and value == one.default else value
        for one, value in told.items()
    }


# ---------------------------------------------------------------------------------------- documents
def chunks_by_document(batch: DocumentBatch) -> dict[str, dict[str, ChunkRecord]]:
    """Return the chunks by document and id, of two the last; IngestError for one of no document."""
    chunks: dict[str, dict[str, ChunkRecord]] = {document.id: {} for document in batch.documents}
    if strays := sorted({chunk.document_id for chunk in batch.chunks} - set(chunks)):
        raise IngestError(
            f"Chunks belong to documents that are not in the batch: {', '.join(strays[:5])}."
        )

    for chunk in batch.chunks:
        chunks[chunk.document_id][chunk.id] = chunk
    return chunks


def document_row(document: DocumentRecord, chunks: int) -> Row:
    """Return the row of a document with so many chunks."""
    told = properties(document, "id", "version", "updated_at", "is_off", "note", "attributes")
    told |= properties(document.version, "embedding") | document.attributes.properties
    told |= {"path": document.id, "chunks": chunks}
    told["title_key"] = document_key(document.title) or None
    version, updated_at = document.version.embedding, document.updated_at
    return {"id": document.id, "properties": told, "embedding": version, "updated_at": updated_at}


def found_by(title: str, document_id: str, heading: str, text: str) -> str:
    """Return the words by which a chunk is found beside its text, of its names and as typed."""
    words = (name_words(title, document_id, heading), words_as_typed(text), spellings(text))
    return " ".join(filter(None, words))


def chunk_row(chunk: ChunkRecord, document: DocumentRecord) -> Row:
    """Return the row of a chunk of this document."""
    others = ("id", "document_id", "embedding", "page", "title", "keeps_vector", "defines")
    told = properties(chunk, *others)
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "properties": told
        | {
            "name_words": found_by(document.title, document.id, chunk.heading, chunk.text),
            "page_number": chunk.page,
            "defines": [_line(astuple(one)) for one in chunk.defines] or None,
        },
        "keeps": chunk.keeps_vector,
        "embedding": stored(chunk.embedding),
    }


def read_defines(lines: Iterable[str]) -> tuple[Definition, ...]:
    """Return the definitions that a chunk was stored with."""
    return tuple(Definition(*json.loads(line)) for line in lines)


def stored_document(row: Mapping[str, Any]) -> DocumentRecord:
    """Return a document as the graph holds it; of one that is not whole, whose vectors it has."""
    version = DocumentVersion(*(row[one.name] or "" for one in fields(DocumentVersion)))
    return DocumentRecord(
        str(row["id"]),
        row["title"] or "",
        str(row["source"] or ""),
        version if row["is_whole"] else DocumentVersion(embedding=version.embedding),
        row["updated_at"],
        str(row["key"] or row["id"]),
        is_off=row["is_off"],
        attributes=Attributes(
            tuple(row.get("tags") or ()),
            dict(row["told"]),
            row.get("created_at"),
            superseded_by=row["superseded_by"] or "",
        ),
    )


def skipped_line(place: str, version: DocumentVersion, reason: str) -> str:
    """Return what is remembered of a file that holds no document, on one line."""
    return _line([place, *astuple(version), reason])


def read_skipped(line: str) -> tuple[str, DocumentVersion, str]:
    """Return what a line remembers: the file's place, its version, and the reason."""
    place, *version, reason = json.loads(line)
    return place, DocumentVersion(*version), reason


def stored(vector: Vector) -> list[float] | None:
    """Return a vector as it is stored."""
    return list(vector) or None


def _line(told: Sequence[object]) -> str:
    return json.dumps(told, ensure_ascii=False)
