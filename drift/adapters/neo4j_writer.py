"""GraphWriter on Neo4j: batches of merges on constrained keys, repeatable after a break at any point."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from drift.adapters import cypher_write
from drift.adapters.cypher_ddl import schema_objects
from drift.adapters.neo4j_indexes import WRITE_TIMEOUT_S, IndexNames
from drift.adapters.neo4j_schema import ONLINE_WAIT_S, create, missing, obstacles, read_schema, wait_until_online
from drift.adapters.tenant_key import project_key
from drift.errors import GraphMisconfiguredError, IngestError
from drift.model import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    EntityRecord,
    KnowledgeBatch,
    ProjectState,
    RelationRecord,
    Vector,
)
from drift.ranking import normalised_title

if TYPE_CHECKING:  # the connection imports the SDK
    from drift.adapters.neo4j_connection import Connection

ROWS_WITH_VECTORS = 250
ROWS = 2000

Row = dict[str, Any]

_CHUNK = ("__Chunk__", "id")
_ENTITY = ("__Entity__", "id")
_COMMUNITY = ("__Community__", "community")


class Neo4jWriter:
    """Writes of one tenant at a time, one writer a project; building it opens nothing."""

    def __init__(self, connection: Connection, names: IndexNames) -> None:
        """Keep the connection and the configured index names."""
        self._connection = connection
        self._names = names

    @classmethod
    def connect(cls, uri: str, username: str, password: str, database: str, *, names: IndexNames | None = None) -> Self:
        """Return a writer with a connection of its own, not opened yet."""
        from drift.adapters.neo4j_connection import Connection  # noqa: PLC0415 - the SDK is loaded by whoever connects

        return cls(Connection(uri, username, password, database), names or IndexNames())

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    # ------------------------------------------------------------------------------------------ schema
    async def prepare(self, dimensions: int, wait_s: float = ONLINE_WAIT_S) -> tuple[str, ...]:
        """Create missing constraints and indexes, wait up to `wait_s` seconds until they are online; return what was created.

        Raises:
            GraphMisconfiguredError: when a vector index is there with other dimensions, under another name, or not as needed.
        """
        wanted = schema_objects("default", self._names.community, self._names.chunk, self._names.fulltext)
        stored = await read_schema(self._connection)
        if refusals := obstacles(wanted, stored, dimensions):
            raise GraphMisconfiguredError(" ".join(refusals))
        created = [w.name for w in missing(wanted, stored) if await create(self._connection, w, dimensions)]
        await wait_until_online(self._connection, wanted, dimensions, wait_s)
        return tuple(created)

    # --------------------------------------------------------------------------------------- documents
    async def project_state(self, project_id: str) -> ProjectState:
        """Return the content hash of each document and the fingerprint of the knowledge; empty for an unknown project."""
        record = (await self._connection.read(cypher_write.PROJECT_STATE, {"project_id": project_id})).records[0]
        documents = record["documents"]
        return ProjectState(
            documents={str(id_): str(content_hash) for id_, content_hash, _ in documents},
            fingerprint=str(record["fingerprint"]),
            sources={str(id_): str(source) for id_, _, source in documents},
        )

    async def read_chunks(self, project_id: str) -> tuple[ChunkRecord, ...]:
        """Return every chunk that belongs to a document, without embeddings, ordered by document id and ordinal."""
        result = await self._connection.read(cypher_write.READ_CHUNKS, {"project_id": project_id}, WRITE_TIMEOUT_S)
        return tuple(
            ChunkRecord(str(r["id"]), str(r["document_id"]), r["ordinal"] or 0, r["heading"] or "", r["text"] or "")
            for r in result.records
        )

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        """Replace what the project holds of these documents, and mark its knowledge as unfinished.

        Raises:
            IngestError: when a chunk belongs to no document of the batch, or vectors differ in length; nothing is changed.
        """
        known = {d.id for d in batch.documents}
        if strays := sorted({c.document_id for c in batch.chunks} - known):
            raise IngestError(f"Chunks belong to documents that are not in the batch: {', '.join(strays[:5])}.")
        _require_one_length(c.embedding for c in batch.chunks)
        write = _Write(self._connection, project_id)
        await write.rows(cypher_write.OPEN_DOCUMENTS, [_document_row(d) for d in batch.documents])
        await write.rows(cypher_write.UPSERT_CHUNKS, [_chunk_row(c) for c in batch.chunks])
        await write.vectors(*_CHUNK, ((c.id, c.embedding) for c in batch.chunks))
        await write.rows(cypher_write.DROP_STALE_CHUNKS, [{"id": id_} for id_ in known])
        await write.rows(cypher_write.CLOSE_DOCUMENTS, [_document_row(d) for d in batch.documents])

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        """Remove these documents with their chunks, and mark the project's knowledge as unfinished."""
        await _Write(self._connection, project_id).rows(
            cypher_write.REMOVE_DOCUMENTS, [{"id": id_} for id_ in document_ids]
        )

    # --------------------------------------------------------------------------------------- knowledge
    async def write_knowledge(self, project_id: str, batch: KnowledgeBatch) -> None:
        """Make the project's entities, relations and communities exactly these; set the fingerprint last.

        References to chunks or entities that the project does not hold are left out.

        Raises:
            IngestError: when vectors differ in length; nothing is changed.
        """
        _require_one_length([e.embedding for e in batch.entities] + [c.embedding for c in batch.communities])
        write = _Write(self._connection, project_id)
        await write.once(cypher_write.MARK_UNFINISHED)
        await write.rows(cypher_write.UPSERT_ENTITIES, [_entity_row(e) for e in batch.entities])
        await write.vectors(*_ENTITY, ((e.id, e.embedding) for e in batch.entities))
        await write.rows(cypher_write.UPSERT_COMMUNITIES, [_community_row(c) for c in batch.communities])
        await write.vectors(*_COMMUNITY, ((c.community, c.embedding) for c in batch.communities))
        await _link(write, batch)
        await _drop_stale(write)
        await write.once(cypher_write.FINISH, fingerprint=batch.fingerprint)


class _Write:
    """One run over one project: sends rows in batches, all marked with the run."""

    def __init__(self, connection: Connection, project_id: str) -> None:
        self._connection = connection
        self._parameters: Mapping[str, Any] = {
            "project_id": project_id,
            "project_key": project_key(project_id),
            "run": uuid.uuid4().hex,
        }

    async def once(self, text: str, **parameters: object) -> None:
        await self._connection.write(text, {**self._parameters, **parameters})

    async def rows(self, text: str, rows: Sequence[Row], size: int = ROWS) -> None:
        for start in range(0, len(rows), size):
            await self.once(text, rows=rows[start : start + size])

    async def vectors(self, label: str, key: str, vectors: Iterable[tuple[object, Vector]]) -> None:
        rows = [{"id": id_, "embedding": list(vector)} for id_, vector in vectors if vector]
        await self.rows(cypher_write.store_vectors(label, key), rows, ROWS_WITH_VECTORS)

    async def until_none(self, text: str) -> None:
        while (await self._connection.write(text, {**self._parameters, "most": ROWS})).records[0]["dropped"]:
            pass


async def _link(write: _Write, batch: KnowledgeBatch) -> None:
    mentions = [_edge(chunk, e.id) for e in batch.entities for chunk in e.chunk_ids]
    await write.rows(cypher_write.link(_CHUNK, "HAS_ENTITY", _ENTITY), mentions)
    await write.rows(cypher_write.LINK_RELATIONS, [_relation_row(r) for r in batch.relations])
    for source, edges in (
        (_ENTITY, [_edge(e, c.community) for c in batch.communities for e in c.entity_ids]),
        (_CHUNK, [_edge(chunk, c.community) for c in batch.communities for chunk in c.chunk_ids]),
        (_COMMUNITY, [_edge(c.community, c.parent) for c in batch.communities if c.parent is not None]),
    ):
        await write.rows(cypher_write.link(source, "IN_COMMUNITY", _COMMUNITY), edges)


async def _drop_stale(write: _Write) -> None:
    for label in ("__Entity__", "__Community__"):
        await write.until_none(cypher_write.drop_stale_nodes(label))
    for label, edges in (
        ("__Chunk__", "HAS_ENTITY|IN_COMMUNITY"),
        ("__Entity__", "RELATED|IN_COMMUNITY"),
        ("__Community__", "IN_COMMUNITY"),
    ):
        await write.until_none(cypher_write.drop_stale_edges(label, edges))


def _require_one_length(vectors: Iterable[Vector]) -> None:
    # One vector of another length would make every exact search of the project fail or lose the node.
    if len(lengths := sorted({len(v) for v in vectors if v})) > 1:
        raise IngestError(f"Embeddings of one batch have different lengths: {', '.join(map(str, lengths))}.")


def _edge(source: object, target: object) -> Row:
    return {"from": source, "to": target}


def _document_row(d: DocumentRecord) -> Row:
    return {"id": d.id, "title": d.title, "source": d.source, "content_hash": d.content_hash}


def _chunk_row(c: ChunkRecord) -> Row:
    return {
        "id": c.id,
        "document_id": c.document_id,
        "ordinal": c.ordinal,
        "heading": c.heading,
        "text": c.text,
        "bare": not c.embedding,
    }


def _entity_row(e: EntityRecord) -> Row:
    return {
        "id": e.id,
        "title": e.title,
        "title_key": normalised_title(e.title),
        "description": e.description,
        "bare": not e.embedding,
    }


def _relation_row(r: RelationRecord) -> Row:
    return _edge(r.source_id, r.target_id) | {"description": r.description, "weight": r.weight}


def _community_row(c: CommunityRecord) -> Row:
    return {"id": c.community, "level": c.level, "title": c.title, "summary": c.summary, "bare": not c.embedding}
