"""What is written, as rows of the statements.

In which order, how many at once, and none of them twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from drift.core.errors import IngestError
from drift.core.names import name_words, normalised_title
from drift.local.ingest.graph_records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    EntityRecord,
    KnowledgeBatch,
    ModelReply,
    RelationRecord,
)
from drift.local.ingest.neo4j import statements
from drift.model.graph import Vector

ROWS = 2000
ROWS_WITH_VECTORS = 250
"""Rows of one statement."""

Row = dict[str, Any]
Rows = Sequence[Row]
Chunks = Mapping[str, ChunkRecord]
"""The chunks of a document by their ids."""


def parts(rows: Rows, size: int) -> Iterator[Rows]:
    """Yield the rows in parts of at most `size`."""
    return (rows[start : start + size] for start in range(0, len(rows), size))


def require_one_length(vectors: Iterable[Vector]) -> None:
    """Check that all vectors are of one length, but those that are empty.

    One of another length would make every exact search of the project fail, or lose the node.

    Raises:
        IngestError: naming the lengths.
    """
    lengths = sorted({len(vector) for vector in vectors if vector})
    if len(lengths) > 1:
        raise IngestError(
            f"Embeddings of one batch have different lengths: {', '.join(map(str, lengths))}."
        )


# ---------------------------------------------------------------------------------------- documents
def chunks_by_document(batch: DocumentBatch) -> dict[str, dict[str, ChunkRecord]]:
    """Return the chunks by document, then by id; of two with one id the last counts.

    Raises:
        IngestError: when a chunk belongs to no document of the batch.
    """
    chunks: dict[str, dict[str, ChunkRecord]] = {document.id: {} for document in batch.documents}
    if strays := sorted({chunk.document_id for chunk in batch.chunks} - set(chunks)):
        raise IngestError(
            f"Chunks belong to documents that are not in the batch: {', '.join(strays[:5])}."
        )

    for chunk in batch.chunks:
        chunks[chunk.document_id][chunk.id] = chunk
    return chunks


def in_groups(
    documents: Sequence[DocumentRecord], chunks: Mapping[str, Chunks], most: int
) -> Iterator[list[DocumentRecord]]:
    """Yield the documents in groups for one transaction each.

    A group has at most `most` documents and chunks together, unless one document alone has more.
    """
    group: list[DocumentRecord] = []
    size = 0
    for document in documents:
        nodes = 1 + len(chunks[document.id])
        if group and size + nodes > most:
            yield group
            group, size = [], 0
        group.append(document)
        size += nodes

    if group:
        yield group


def document_row(document: DocumentRecord, chunks: int) -> Row:
    """Return the row of a document with so many chunks."""
    return {
        "id": document.id,
        "title": document.title,
        "source": document.source,
        "content_hash": document.content_hash,
        "source_uri": document.source_uri or None,
        "updated_at": document.updated_at,
        "chunks": chunks,
    }


def chunk_row(chunk: ChunkRecord, document: DocumentRecord) -> Row:
    """Return the row of a chunk of this document."""
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "heading": chunk.heading,
        "name_words": name_words(document.title, document.id, chunk.heading),
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "first_line": chunk.first_line,
        "embedding": _stored(chunk.embedding),
    }


# ---------------------------------------------------------------------------------------- knowledge
@dataclass(frozen=True, slots=True)
class Step:
    """One statement, its rows, and how many of them it takes at once."""

    text: str
    rows: Rows
    size: int


def knowledge_steps(batch: KnowledgeBatch) -> Iterator[Step]:
    """Yield what writes a generation: its nodes, then its edges."""
    entities = {entity.id: entity for entity in batch.entities}.values()
    communities = {community.community: community for community in batch.communities}.values()

    yield Step(
        statements.PUT_ENTITIES, [_entity_row(entity) for entity in entities], ROWS_WITH_VECTORS
    )
    yield Step(
        statements.PUT_COMMUNITIES,
        [_community_row(community) for community in communities],
        ROWS_WITH_VECTORS,
    )
    yield Step(statements.PUT_RELATIONS, _relation_rows(batch.relations), ROWS)
    yield _links(
        ("__Chunk__", "HAS_ENTITY", "__Entity__"),
        ((chunk_id, entity.id) for entity in entities for chunk_id in entity.chunk_ids),
    )
    yield _links(
        ("__Entity__", "IN_COMMUNITY", "__Community__"),
        ((id_, above.community) for above in communities for id_ in above.entity_ids),
    )
    yield _links(
        ("__Chunk__", "IN_COMMUNITY", "__Community__"),
        ((id_, above.community) for above in communities for id_ in above.chunk_ids),
    )
    yield _links(
        ("__Community__", "IN_COMMUNITY", "__Community__"),
        ((below.community, below.parent) for below in communities if below.parent is not None),
    )


def _links(ends: tuple[str, str, str], pairs: Iterable[tuple[object, object]]) -> Step:
    rows = [{"from": start, "to": end} for start, end in dict.fromkeys(pairs)]
    return Step(statements.link(*ends), rows, ROWS)


def _entity_row(entity: EntityRecord) -> Row:
    return {
        "id": entity.id,
        "title": entity.title,
        "title_key": normalised_title(entity.title),
        "description": entity.description,
        "type": entity.type or None,
        "also": list(entity.also) or None,
        "embedding": _stored(entity.embedding),
    }


def _relation_rows(relations: Iterable[RelationRecord]) -> Rows:
    last = {(r.source_id, r.target_id, r.description): r for r in relations}
    return [
        {
            "from": relation.source_id,
            "to": relation.target_id,
            "description": relation.description,
            "weight": relation.weight,
            "sentence": relation.sentence or None,
            "chunk_id": relation.chunk_id or None,
        }
        for relation in last.values()
    ]


def _community_row(community: CommunityRecord) -> Row:
    return {
        "id": community.community,
        "level": community.level,
        "title": community.title,
        "summary": community.summary,
        "embedding": _stored(community.embedding),
    }


def reply_row(reply: ModelReply) -> Row:
    """Return the row of a model's reply."""
    return {**asdict(reply), "key": reply.key, "parts": list(reply.parts)}


def _stored(vector: Vector) -> list[float] | None:
    return list(vector) or None
