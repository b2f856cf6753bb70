"""ProjectWriter on Neo4j: what the holder of a project's lease may do.

Each step happens whole or not at all.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from drift.core.errors import GraphMisconfiguredError, IngestError
from drift.graph.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.project_key import project_key
from drift.local.ingest.graph_records import (
    DocumentBatch,
    DocumentRecord,
    KnowledgeBatch,
    ModelReply,
)
from drift.local.ingest.neo4j import statements
from drift.local.ingest.neo4j.lease import Lease
from drift.local.ingest.neo4j.rows import (
    ROWS,
    ROWS_WITH_VECTORS,
    Chunks,
    Rows,
    chunk_row,
    chunks_by_document,
    document_row,
    in_groups,
    knowledge_steps,
    parts,
    reply_row,
    require_one_length,
)

CHUNKS_AT_ONCE = 2000
"""Chunks of one transaction; a document with more of them is staged in several and shown in a last
one."""

DOCUMENTS_REMOVED_AT_ONCE = 50
REVEAL_TIMEOUT_S = 5 * WRITE_TIMEOUT_S

READERS_WAIT_S = 30.0
"""No question's statement takes longer."""
_LOOK_EVERY_S = 0.05

_KNOWLEDGE = ("__Entity__", "__Community__")


class Neo4jProject:
    """Writes of one project while its lease is held.

    Any of them raises LeaseLostError when it is not.
    """

    def __init__(self, connection: Connection, lease: Lease) -> None:
        """Write through the lease; the connection is for what looks at other transactions."""
        self._connection = connection
        self._lease = lease
        self._named: Mapping[str, Any] = {
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
        chunks = chunks_by_document(batch)
        require_one_length(chunk.embedding for chunk in batch.chunks)

        small = [d for d in batch.documents if len(chunks[d.id]) <= CHUNKS_AT_ONCE]
        for group in in_groups(small, chunks, CHUNKS_AT_ONCE):
            await self._put(group, chunks, batch.replaced)

        for document in batch.documents:
            if document not in small:
                await self._put_in_steps(document, chunks[document.id], batch.replaced)

    async def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Remove documents with their chunks, and mark the project's knowledge as unfinished."""
        rows = [{"id": id_} for id_ in document_ids]
        await self._rows(statements.REMOVE_DOCUMENTS, rows, DOCUMENTS_REMOVED_AT_ONCE)

    async def take_over(self, document_ids: Sequence[str], source: str) -> None:
        """Have these documents belong to a source."""
        rows = [{"id": id_} for id_ in document_ids]
        await self._rows(statements.TAKE_OVER, rows, ROWS, source=source)

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
            await self._remove(run, [one for d in documents for one in replaced.get(d.id, ())])

        await self._lease.transaction(work)

    async def _put_in_steps(
        self, document: DocumentRecord, chunks: Chunks, replaced: Mapping[str, Sequence[str]]
    ) -> None:
        """Store the chunks where no reader sees them, then exchange them for the earlier ones."""
        rows = [document_row(document, len(chunks))]
        values = {**self._named, "run": uuid.uuid4().hex, "rows": rows}

        await self._once(statements.OPEN_DOCUMENT, values)
        await self._until_none(statements.UNSTAGE, values)
        chunk_rows = [chunk_row(chunk, document) for chunk in chunks.values()]
        for part in parts(chunk_rows, ROWS_WITH_VECTORS):
            await self._once(statements.STAGE_CHUNKS, {**values, "rows": part})

        async def work(run: Statement) -> None:
            for text in (
                statements.ADOPT_STAGED,
                statements.DROP_STALE_CHUNKS,
                statements.REVEAL_STAGED,
                statements.PUT_DOCUMENTS,
            ):
                await run(text, values)
            await self._remove(run, replaced.get(document.id, ()))

        await self._lease.transaction(work, REVEAL_TIMEOUT_S)

    async def _remove(self, run: Statement, document_ids: Sequence[str]) -> None:
        """Remove documents within a transaction."""
        for part in parts([{"id": id_} for id_ in document_ids], DOCUMENTS_REMOVED_AT_ONCE):
            await run(statements.REMOVE_DOCUMENTS, {**self._named, "rows": part})

    # ------------------------------------------------------------------------------------ knowledge
    async def write_knowledge(self, batch: KnowledgeBatch, removed: Sequence[str] = ()) -> None:
        """Make the project's knowledge exactly this, and set the fingerprint.

        Entities, relations and communities are written beside the old ones. One transaction makes
        them the project's and removes the documents that are to go; then the old ones are removed.
        References to chunks or entities that the project does not hold are left out.

        Raises:
            IngestError: when vectors differ in length; nothing is changed. When the graph does not
                hold what was written, because somebody else removed it; the old knowledge stays.
        """
        vectors = [entity.embedding for entity in batch.entities]
        vectors += [community.embedding for community in batch.communities]
        require_one_length(vectors)

        await self.settle()
        begun = await self._once(statements.BEGIN_KNOWLEDGE, self._named)
        generation = begun[0]["generation"]
        for step in knowledge_steps(batch):
            await self._rows(step.text, step.rows, step.size, generation=generation)

        await self._switch(generation, batch, removed)
        await self.settle()

    async def keep_replies(self, replies: Sequence[ModelReply]) -> None:
        """Keep what a model replied; a run that breaks afterwards has it."""
        await self._rows(statements.KEEP_REPLIES, [reply_row(reply) for reply in replies], ROWS)

    async def drop_replies(self, keys: Sequence[str]) -> None:
        """Remove replies by their keys."""
        await self._rows(statements.DROP_REPLIES, [{"key": key} for key in keys], ROWS)

    async def settle(self) -> None:
        """Remove what is left of generations that no question sees.

        The one before, or those of runs that broke.
        """
        unsettled = await self._once(statements.UNSETTLED, self._named)
        if not unsettled:
            return

        await self._readers_left()
        values = {**self._named, "generation": unsettled[0]["generation"]}
        for label in _KNOWLEDGE:
            await self._until_none(statements.drop_other_generations(label), values)

        await self._once(statements.SETTLE, self._named)

    async def _switch(self, generation: int, batch: KnowledgeBatch, removed: Sequence[str]) -> None:
        """Make a generation the project's, after a look whether it is all there."""
        values = {**self._named, "generation": generation, "fingerprint": batch.fingerprint}
        values |= {"embedding_model": batch.embedding_model, "clustered": batch.clustered}
        entities = len({entity.id for entity in batch.entities})
        communities = len({community.community for community in batch.communities})

        async def work(run: Statement) -> None:
            await self._remove(run, removed)
            stored = (await run(statements.KNOWLEDGE_STATE, values)).records[0]
            counts = {
                "entities": stored["entities"],
                "relations": stored["relations"],
                "communities": sum(number for _, number in stored["communities"]),
            }
            if (counts["entities"], counts["communities"]) != (entities, communities):
                raise IngestError(
                    f"The graph holds {counts['entities']} entities and {counts['communities']} "
                    f"communities where {entities} and {communities} were written: something else "
                    "changes this project. Its earlier knowledge stays; run this again."
                )

            await run(statements.SWITCH, {**values, **counts})

        await self._lease.transaction(work, REVEAL_TIMEOUT_S if removed else WRITE_TIMEOUT_S)

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
            # This user may not look. What vanishes under a question is left out of its answer.
            return set()
        return {record["id"] for record in result.records}

    # ----------------------------------------------------------------------------------- statements
    async def _once(self, text: str, values: Mapping[str, Any]) -> list[Any]:
        async def work(run: Statement) -> list[Any]:
            return (await run(text, values)).records

        return await self._lease.transaction(work)

    async def _rows(self, text: str, rows: Rows, size: int, **more: object) -> None:
        for part in parts(rows, size):
            await self._once(text, {**self._named, **more, "rows": part})

    async def _until_none(self, text: str, values: Mapping[str, Any]) -> None:
        while (await self._once(text, {**values, "most": ROWS}))[0]["dropped"]:
            pass
