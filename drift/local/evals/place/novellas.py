"""An index of chunks, and questions about places in its documents.

An index is a folder with `documents.jsonl` (`id`, `title`) and `chunks.jsonl` (`id`, `document_id`,
`text`, in the order of their documents). Its chunks are taken as they are: they have no headings.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from drift.core.errors import IngestError
from drift.model.graph import Position
from drift.model.records import ChunkRecord, DocumentBatch, DocumentRecord


@dataclass(frozen=True, slots=True)
class PlaceQuestion:
    """A question, the place that it is about, and wordings of which the chunk asked for has one.

    `position` is what a model would say of the question; none for one about a numbered part.
    """

    text: str
    place: str
    quotes: tuple[str, ...]
    position: Position | None = None

    def is_answered_by(self, text: str) -> bool:
        """Return whether a chunk of this text is the one asked for."""
        folded = _folded(text)
        return any(_folded(quote) in folded for quote in self.quotes)


def read_index(folder: Path) -> DocumentBatch:
    """Return the documents and chunks of an index, without embeddings.

    Raises:
        IngestError: when a file cannot be read or a line lacks what it needs.
    """
    documents = _rows(folder / "documents.jsonl")
    chunks = _rows(folder / "chunks.jsonl")
    try:
        seen: Counter[str] = Counter()
        records = []
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for row in chunks:
            document, text = str(row["document_id"]), str(row["text"])
            records.append(ChunkRecord(str(row["id"]), document, seen[document], "", text, ()))
            seen[document] += 1
            texts[document].append(text)
        held = [_document(row, texts[str(row["id"])]) for row in documents]
    except (KeyError, TypeError) as error:
        raise IngestError(f"{folder} holds no index: {error} is missing.") from error
    known = {document.id for document in held}
    return DocumentBatch(tuple(held), tuple(c for c in records if c.document_id in known))


def _document(row: Mapping[str, Any], texts: Sequence[str]) -> DocumentRecord:
    stamp = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    return DocumentRecord(str(row["id"]), str(row["title"]), "index", stamp)


def with_vectors(batch: DocumentBatch, vectors: Sequence[tuple[float, ...]]) -> DocumentBatch:
    """Return the batch with a vector for each chunk, in order."""
    embedded = (
        replace(chunk, embedding=vector)
        for chunk, vector in zip(batch.chunks, vectors, strict=True)
    )
    return replace(batch, chunks=tuple(embedded))


def read_questions(path: Path) -> tuple[PlaceQuestion, ...]:
    """Return the questions: a line each, `{"question", "place", "quotes": [...]}`.

    One may have a `position`: `beginning`, `end`, `before` or `after`.

    Raises:
        IngestError: when the file cannot be read or a line lacks one of these.
    """
    try:
        return tuple(
            PlaceQuestion(
                str(row["question"]),
                str(row["place"]),
                tuple(str(q) for q in row["quotes"]),
                Position(row["position"]) if "position" in row else None,
            )
            for row in _rows(path)
        )
    except (KeyError, TypeError) as error:
        raise IngestError(f"{path} holds no questions about places: {error}.") from error


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise IngestError(f"{path} cannot be read: {error}.") from error


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
