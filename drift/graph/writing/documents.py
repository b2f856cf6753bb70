"""What the holder of a project's lease may do to its documents.

Each step happens whole or not at all.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from drift.graph.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.indexes import project_key
from drift.graph.versions import FIRST, VectorVersion
from drift.graph.writing import document_statements as statements
from drift.graph.writing import state_statements
from drift.graph.writing.lease import Lease
from drift.graph.writing.records import DocumentBatch, DocumentRecord
from drift.graph.writing.rows import (
    ROWS,
    ROWS_WITH_VECTORS,
    Chunks,
    Rows,
    chunk_row,
    chunks_by_document,
    document_row,
    found_by,
    in_groups,
    parts,
    require_one_length,
)

CHUNKS_AT_ONCE = 2000
"""Chunks of one transaction; a document with more of them is staged in several and shown in a last
one."""

DOCUMENTS_REMOVED_AT_ONCE = 50
REVEAL_TIMEOUT_S = 5 * WRITE_TIMEOUT_S

T = TypeVar("T")


async def read_standing(connection: Connection, named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what stands under a document's id, and what its project says of names and models."""
    row: Mapping[str, Any] = (await connection.write(state_statements.STANDING, named)).records[0]
    return row


async def held_headings(
    connection: Connection, document_ids: Iterable[str], named: Mapping[str, Any]
) -> dict[str, str]:
    """Return the heading of each chunk of these documents that has its vector, by the chunk's id.

    `named` are the project, the property of vectors, and the `embedding` that names them.
    """
    held: dict[str, str] = {}
    for rows in parts([{"id": id_} for id_ in document_ids], ROWS):
        # Asked of the server that writes: one that follows it may not have the last run yet.
        found = await connection.write(state_statements.HELD_CHUNKS, {**named, "rows": rows})
        held |= {record["id"]: record["heading"] for record in found.records}
    return held


class ProjectDocuments:
    """Writes of one project while its lease is held; LeaseLostError when it is not."""

    def __init__(self, lease: Lease, version: VectorVersion = FIRST) -> None:
        """Write through the lease, the vectors of this version."""
        self._lease = lease
        self._version = version
        self._named: Mapping[str, Any] = {
            "project_id": lease.project_id,
            "project_key": project_key(lease.project_id),
            "vector": version.vector,
        }

    # ------------------------------------------------------------------------------------ documents
    async def write_documents(self, batch: DocumentBatch) -> None:
        """Replace what the project holds of these documents, and mark its knowledge as unfinished.

        Each document changes in one transaction, with its chunks and their vectors. IngestError for
        a chunk of no document, or vectors that differ in length; nothing is changed.
        """
        chunks = chunks_by_document(batch)
        require_one_length(chunk.embedding for chunk in batch.chunks)

        small = [d for d in batch.documents if len(chunks[d.id]) <= CHUNKS_AT_ONCE]
        for group in in_groups(small, lambda d: 1 + len(chunks[d.id]), CHUNKS_AT_ONCE):
            await self._put(group, chunks, batch.replaced)

        for document in batch.documents:
            if document not in small:
                await self._put_in_steps(document, chunks[document.id], batch.replaced)

    async def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Remove documents with their chunks, and mark the project's knowledge as unfinished."""
        rows = [{"id": id_} for id_ in document_ids]
        await self.rows(statements.REMOVE_DOCUMENTS, rows, DOCUMENTS_REMOVED_AT_ONCE)

    async def relocate(self, places: Mapping[str, tuple[str, str]]) -> None:
        """Give documents another id and source, by their ids; their chunks stay as they are."""
        moved = [{"id": id_, "to": to, "source": source} for id_, (to, source) in places.items()]
        for part in parts(moved, DOCUMENTS_REMOVED_AT_ONCE):
            await self._lease.transaction(partial(self._relocate, part))

    async def _relocate(self, moved: Rows, run: Statement) -> None:
        await run(statements.RELOCATE, {**self._named, "rows": moved})
        renamed = [{"id": row["to"]} for row in moved if row["id"] != row["to"]]
        found = await run(state_statements.READ_WORDS, {**self._named, "rows": renamed})
        words = [
            {
                "id": r["id"],
                "document_id": r["document_id"],
                "name_words": found_by(r["title"], r["document_id"], r["heading"], r["text"]),
            }
            for r in found.records
        ]
        for rows in parts(words, ROWS):
            await run(statements.NAME_CHUNKS, {**self._named, "rows": rows})

    async def switch(self, document_ids: Sequence[str], *, on: bool) -> None:
        """Have questions see these documents, or no more, and mark the knowledge as unfinished."""
        text = statements.SWITCH_ON if on else statements.SWITCH_OFF
        await self.rows(text, [{"id": id_} for id_ in document_ids], DOCUMENTS_REMOVED_AT_ONCE)

    async def join_topics(self, document_id: str, model: str, dimensions: int) -> None:
        """Have the chunks of a document that are in no topic yet join the nearest."""
        of_vectors = {"model": model, "dimensions": dimensions, "careful": False}
        about = {"id": document_id, "mean": self._version.named("mean"), **of_vectors}
        await self.once(statements.JOIN_TOPICS, {**self._named, **about})

    async def keep_skipped(self, skipped: Sequence[str]) -> None:
        """Remember which files hold no document, as `rows.skipped_line` tells them."""
        await self.once(statements.KEEP_SKIPPED, {**self._named, "skipped": list(skipped)})

    async def _put(
        self,
        documents: Sequence[DocumentRecord],
        chunks: Mapping[str, Chunks],
        replaced: Mapping[str, Sequence[str]],
    ) -> None:
        values = {**self._named, "run": uuid.uuid4().hex}
        rows = [document_row(document, len(chunks[document.id])) for document in documents]
        chunk_rows = [
            chunk_row(chunk, document)
            for document in documents
            for chunk in chunks[document.id].values()
        ]

        async def work(run: Statement) -> None:
            await run(statements.PUT_DOCUMENTS, {**values, "rows": rows})
            for part in parts(chunk_rows, ROWS_WITH_VECTORS):
                await run(statements.PUT_CHUNKS, {**values, "rows": part})
            await run(statements.DROP_STALE_CHUNKS, {**values, "rows": rows})
            await run(statements.PUT_DOCUMENT_VECTORS, {**values, "rows": rows})
            await self._keep_off(run, documents)
            await self._remove(run, [one for d in documents for one in replaced.get(d.id, ())])

        await self._lease.transaction(work)

    async def _put_in_steps(
        self, document: DocumentRecord, chunks: Chunks, replaced: Mapping[str, Sequence[str]]
    ) -> None:
        """Store the chunks where no reader sees them, then exchange them for the earlier ones."""
        rows = [document_row(document, len(chunks))]
        values = {**self._named, "run": uuid.uuid4().hex, "rows": rows}

        await self.once(statements.OPEN_DOCUMENT, values)
        await self.until_none(statements.UNSTAGE, values)
        chunk_rows = [chunk_row(chunk, document) for chunk in chunks.values()]
        for part in parts(chunk_rows, ROWS_WITH_VECTORS):
            await self.once(statements.STAGE_CHUNKS, {**values, "rows": part})

        async def work(run: Statement) -> None:
            for text in (
                statements.ADOPT_STAGED,
                statements.DROP_STALE_CHUNKS,
                statements.REVEAL_STAGED,
                statements.PUT_DOCUMENTS,
                statements.PUT_DOCUMENT_VECTORS,
            ):
                await run(text, values)
            await self._keep_off(run, [document])
            await self._remove(run, replaced.get(document.id, ()))

        await self._lease.transaction(work, REVEAL_TIMEOUT_S)

    async def _keep_off(self, run: Statement, documents: Sequence[DocumentRecord]) -> None:
        rows = [{"id": document.id} for document in documents if document.is_off]
        if rows:
            await run(statements.SWITCH_OFF, {**self._named, "rows": rows})

    async def _remove(self, run: Statement, document_ids: Sequence[str]) -> None:
        for part in parts([{"id": id_} for id_ in document_ids], DOCUMENTS_REMOVED_AT_ONCE):
            await run(statements.REMOVE_DOCUMENTS, {**self._named, "rows": part})

    # ----------------------------------------------------------------------------------- statements
    @property
    def project_id(self) -> str:
        """The project that is held."""
        return self._lease.project_id

    async def transaction(
        self, work: Callable[[Statement], Awaitable[T]], timeout_s: float = WRITE_TIMEOUT_S
    ) -> T:
        """Run the statements of `work` in one transaction."""
        return await self._lease.transaction(work, timeout_s)

    async def once(self, text: str, values: Mapping[str, Any]) -> list[Any]:
        """Run a statement in a transaction of its own, and return its records."""

        async def work(run: Statement) -> list[Any]:
            return (await run(text, values)).records

        return await self._lease.transaction(work)

    async def rows(self, text: str, rows: Rows, size: int, **more: object) -> None:
        """Run a statement for so many rows at a time."""
        for part in parts(rows, size):
            await self.once(text, {**self._named, **more, "rows": part})

    async def until_none(self, text: str, values: Mapping[str, Any]) -> None:
        """Run a statement that drops up to $most nodes until there were fewer."""
        while (await self.once(text, {**values, "most": ROWS}))[0]["dropped"] == ROWS:
            pass
