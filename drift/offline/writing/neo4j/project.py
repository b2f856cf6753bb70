"""ProjectWriter on Neo4j: what the holder of a project's lease may do, each step whole or not at all."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drift.adapters.neo4j.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.adapters.neo4j.project_key import project_key
from drift.errors import GraphMisconfiguredError, IngestError
from drift.offline.writing.neo4j import statements
from drift.offline.writing.neo4j.lease import Lease
from drift.ranking import normalised_title
from drift.values.graph import Vector
from drift.values.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)

ROWS = 2000
ROWS_WITH_VECTORS = 250
"""Rows of one statement."""

CHUNKS_AT_ONCE = 2000
"""Chunks of one transaction; a document with more of them is staged in several and shown in a last
one."""

DOCUMENTS_REMOVED_AT_ONCE = 50
REVEAL_TIMEOUT_S = 5 * WRITE_TIMEOUT_S

READERS_WAIT_S = 30.0
"""No question's statement takes longer."""
_LOOK_EVERY_S = 0.05

_KNOWLEDGE = ("__Entity__", "__Community__")

Row = dict[str, Any]
Rows = Sequence[Row]


class Neo4jProject:
    """Writes of one project while its lease is held.

    Any of them raises LeaseLostError when it is not.
    """

    def __init__(self, connection: Connection, lease: Lease) -> None:
        """Keep both."""
        self._connection = connection
        self._lease = lease
        self._own: Mapping[str, Any] = {
            "project_id": lease.project_id,
            "project_key": project_key(lease.project_id),
        }

    # ------------------------------------------------------------------------------------ documents
    async def write_documents(self, batch: DocumentBatch) -> None:
        """Replace what the project holds of these documents, and mark its knowledge as unfinished.

        Each document changes in one transaction, together with its chunks and their vectors.

        Raises:
            IngestError: when a chunk belongs to no document of the batch, or vectors differ in
                length; nothing is changed.
        """
        chunks = _by_document(batch)
        _require_one_length(c.embedding for c in batch.chunks)
        small = [d for d in batch.documents if len(chunks[d.id]) <= CHUNKS_AT_ONCE]
        for together in _in_turn(small, chunks):
            await self._put(together, chunks)
        for document in batch.documents:
            if document not in small:
                await self._put_in_steps(document, chunks[document.id])

    async def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Remove these documents with their chunks, and mark the project's knowledge as unfinished."""
        rows = [{"id": id_} for id_ in document_ids]
        await self._rows(statements.REMOVE_DOCUMENTS, rows, DOCUMENTS_REMOVED_AT_ONCE)

    async def _put(
        self, documents: Sequence[DocumentRecord], chunks: Mapping[str, Mapping[str, ChunkRecord]]
    ) -> None:
        own = {**self._own, "run": uuid.uuid4().hex}
        rows = [_document_row(d, len(chunks[d.id])) for d in documents]
        pieces = [_chunk_row(c) for d in documents for c in chunks[d.id].values()]

        async def work(run: Statement) -> None:
            await run(statements.PUT_DOCUMENTS, {**own, "rows": rows})
            for part in _parts(pieces, ROWS_WITH_VECTORS):
                await run(statements.PUT_CHUNKS, {**own, "rows": part})
            await run(statements.DROP_STALE_CHUNKS, {**own, "rows": rows})

        await self._lease.transaction(work)

    async def _put_in_steps(
        self, document: DocumentRecord, chunks: Mapping[str, ChunkRecord]
    ) -> None:
        """Store the chunks where no reader sees them, then let them take the place of the earlier ones at once."""
        own = {**self._own, "run": uuid.uuid4().hex, "rows": [_document_row(document, len(chunks))]}
        await self._once(statements.OPEN_DOCUMENT, own)
        await self._until_none(statements.UNSTAGE, own)
        for part in _parts([_chunk_row(c) for c in chunks.values()], ROWS_WITH_VECTORS):
            await self._once(statements.STAGE_CHUNKS, {**own, "rows": part})

        async def work(run: Statement) -> None:
            for text in (
                statements.ADOPT_STAGED,
                statements.DROP_STALE_CHUNKS,
                statements.REVEAL_STAGED,
                statements.PUT_DOCUMENTS,
            ):
                await run(text, own)

        await self._lease.transaction(work, REVEAL_TIMEOUT_S)

    # ------------------------------------------------------------------------------------ knowledge
    async def write_knowledge(self, batch: KnowledgeBatch) -> None:
        """Make the project's entities, relations and communities exactly these, and set the fingerprint.

        They are written beside the old ones, and one write makes them the project's; then the old
        ones are removed. References to chunks or entities that the project does not hold are left
        out.

        Raises:
            IngestError: when vectors differ in length; nothing is changed. When the graph does not
                hold what was written, because somebody else removed it; the old knowledge stays.
        """
        _require_one_length(
            [e.embedding for e in batch.entities] + [c.embedding for c in batch.communities]
        )
        await self.settle()
        generation = (await self._once(statements.BEGIN_KNOWLEDGE, self._own))[0]["generation"]
        for text, rows, size in _statements(batch):
            await self._rows(text, rows, size, generation=generation)
        await self._switch(generation, batch)
        await self.settle()

    async def settle(self) -> None:
        """Remove what is left of generations that no question sees.

        The one before, or those of runs that broke.
        """
        found = await self._once(statements.UNSETTLED, self._own)
        if not found:
            return
        await self._readers_left()
        own = {**self._own, "generation": found[0]["generation"]}
        for label in _KNOWLEDGE:
            await self._until_none(statements.drop_other_generations(label), own)
        await self._once(statements.SETTLE, self._own)

    async def _switch(self, generation: int, batch: KnowledgeBatch) -> None:
        own = {**self._own, "generation": generation, "fingerprint": batch.fingerprint}

        async def work(run: Statement) -> None:
            found = (await run(statements.KNOWLEDGE_STATE, own)).records[0]
            communities = sum(number for _, number in found["communities"])
            meant = (
                len({e.id for e in batch.entities}),
                len({c.community for c in batch.communities}),
            )
            if (found["entities"], communities) != meant:
                raise IngestError(
                    f"The graph holds {found['entities']} entities and {communities} communities "
                    f"where {meant[0]} and {meant[1]} "
                    "were written: something else changes this project. Its earlier knowledge "
                    "stays; run this again."
                )
            counts = {
                "entities": found["entities"],
                "relations": found["relations"],
                "communities": communities,
            }
            await run(statements.SWITCH, {**own, **counts})

        await self._lease.transaction(work)

    async def _readers_left(self) -> None:
        """Wait until every question that may still read an older generation has been answered."""
        give_up = time.monotonic() + READERS_WAIT_S
        reading = await self._readers()
        while reading and time.monotonic() < give_up:
            await asyncio.sleep(_LOOK_EVERY_S)
            reading &= await self._readers()

    async def _readers(self) -> set[str]:
        try:
            result = await self._connection.write(statements.SHOW_READERS, {})
        except GraphMisconfiguredError:
            return (
                set()
            )  # a user that may not look; what vanishes under a question is left out of its answer
        return {record["id"] for record in result.records}

    # ----------------------------------------------------------------------------------- statements
    async def _once(self, text: str, parameters: Mapping[str, Any]) -> list[Any]:
        async def work(run: Statement) -> list[Any]:
            return (await run(text, parameters)).records

        return await self._lease.transaction(work)

    async def _rows(self, text: str, rows: Rows, size: int, **more: object) -> None:
        for part in _parts(rows, size):
            await self._once(text, {**self._own, **more, "rows": part})

    async def _until_none(self, text: str, parameters: Mapping[str, Any]) -> None:
        while (await self._once(text, {**parameters, "most": ROWS}))[0]["dropped"]:
            pass


def _statements(batch: KnowledgeBatch) -> Iterator[tuple[str, Rows, int]]:
    """Yield the statements that write a generation, with their rows.

    Nodes, then edges, none of them twice.
    """
    entities = {e.id: e for e in batch.entities}
    communities = {c.community: c for c in batch.communities}
    relations = {(r.source_id, r.target_id, r.description): r for r in batch.relations}
    yield statements.PUT_ENTITIES, [_entity_row(e) for e in entities.values()], ROWS_WITH_VECTORS
    yield (
        statements.PUT_COMMUNITIES,
        [_community_row(c) for c in communities.values()],
        ROWS_WITH_VECTORS,
    )
    yield statements.PUT_RELATIONS, [_relation_row(r) for r in relations.values()], ROWS
    for source, edge, target, pairs in (
        (
            "__Chunk__",
            "HAS_ENTITY",
            "__Entity__",
            ((k, e.id) for e in entities.values() for k in e.chunk_ids),
        ),
        (
            "__Entity__",
            "IN_COMMUNITY",
            "__Community__",
            _members(communities.values(), "entity_ids"),
        ),
        ("__Chunk__", "IN_COMMUNITY", "__Community__", _members(communities.values(), "chunk_ids")),
        (
            "__Community__",
            "IN_COMMUNITY",
            "__Community__",
            ((c.community, c.parent) for c in communities.values() if c.parent is not None),
        ),
    ):
        rows = [{"from": start, "to": end} for start, end in dict.fromkeys(pairs)]
        yield statements.link(source, edge, target), rows, ROWS


def _members(communities: Iterable[CommunityRecord], kind: str) -> Iterator[tuple[object, object]]:
    return ((member, c.community) for c in communities for member in getattr(c, kind))


def _by_document(batch: DocumentBatch) -> dict[str, dict[str, ChunkRecord]]:
    """Return the chunks by document, then by id; the last of an id counts."""
    chunks: dict[str, dict[str, ChunkRecord]] = {d.id: {} for d in batch.documents}
    if strays := sorted({c.document_id for c in batch.chunks} - set(chunks)):
        raise IngestError(
            f"Chunks belong to documents that are not in the batch: {', '.join(strays[:5])}."
        )
    for chunk in batch.chunks:
        chunks[chunk.document_id][chunk.id] = chunk
    return chunks


def _in_turn(
    documents: Sequence[DocumentRecord], chunks: Mapping[str, Mapping[str, ChunkRecord]]
) -> Iterator[list[DocumentRecord]]:
    """Yield the documents in groups that one transaction holds.

    Documents without chunks count as well.
    """
    group: list[DocumentRecord] = []
    size = 0
    for document in documents:
        own = len(chunks[document.id]) + 1
        if group and size + own > CHUNKS_AT_ONCE:
            yield group
            group, size = [], 0
        group.append(document)
        size += own
    if group:
        yield group


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


def _require_one_length(vectors: Iterable[Vector]) -> None:
    # One vector of another length would make every exact search of the project fail or lose the
    # node.
    if len(lengths := sorted({len(v) for v in vectors if v})) > 1:
        raise IngestError(
            f"Embeddings of one batch have different lengths: {', '.join(map(str, lengths))}."
        )


def _document_row(d: DocumentRecord, chunks: int) -> Row:
    return {
        "id": d.id,
        "title": d.title,
        "source": d.source,
        "content_hash": d.content_hash,
        "chunks": chunks,
    }


def _chunk_row(c: ChunkRecord) -> Row:
    return {
        "id": c.id,
        "document_id": c.document_id,
        "ordinal": c.ordinal,
        "heading": c.heading,
        "text": c.text,
        "embedding": list(c.embedding) or None,
    }


def _entity_row(e: EntityRecord) -> Row:
    return {
        "id": e.id,
        "title": e.title,
        "title_key": normalised_title(e.title),
        "description": e.description,
        "embedding": list(e.embedding) or None,
    }


def _relation_row(r: RelationRecord) -> Row:
    return {
        "from": r.source_id,
        "to": r.target_id,
        "description": r.description,
        "weight": r.weight,
    }


def _community_row(c: CommunityRecord) -> Row:
    return {
        "id": c.community,
        "level": c.level,
        "title": c.title,
        "summary": c.summary,
        "embedding": list(c.embedding) or None,
    }
