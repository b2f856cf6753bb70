"""One document into a project, or out of it, without a run over all of a source.

It writes documents, chunks and vectors. What is made of all documents together is brought up to
date by the next `drift ingest`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from drift.contracts.attributes import DocumentAttributes
from drift.contracts.documents import document_id_problem
from drift.contracts.request import project_id_problem
from drift.core.errors import (
    ConflictError,
    DocumentStoreError,
    GraphMisconfiguredError,
    IngestError,
    NotFoundError,
    TooLargeError,
)
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT
from drift.graph.indexes import IndexNames
from drift.graph.inventory import Probe
from drift.graph.vector_copy import VectorCopy
from drift.graph.vector_models import other_models
from drift.graph.versions import FIRST, OwnVectors
from drift.graph.writing.documents import (
    CHUNKS_AT_ONCE,
    ProjectDocuments,
    held_headings,
    read_standing,
)
from drift.graph.writing.lease import Lease, holding
from drift.graph.writing.records import IMPORTED, DocumentBatch, DocumentRecord
from drift.graph.writing.rows import stored_document
from drift.indexing import records
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.documents import Skipped, SourceDocument, document_of, sha256
from drift.originals.names import original_name
from drift.originals.store import DocumentStore
from drift.ports import Embedder

SOURCE = "api"
"""The source of documents that are handed over one by one; an ingest has places for sources."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What became of a document, and how many `chunks` it has."""

    id: str
    title: str
    outcome: Literal["added", "changed", "unchanged"]
    chunks: int


@dataclass(frozen=True, slots=True)
class Indexer:
    """Writes documents of one project, each under the project's lease; building it opens nothing.

    `model` makes vectors of so many `dimensions`, and `names` are those of the indexes. A project
    that is held is waited for up to `wait_s` seconds. `originals` keep the files of documents.
    """

    connection: Connection
    project_id: str
    embedder: Embedder
    model: str
    dimensions: int
    names: IndexNames = field(default_factory=IndexNames)
    wait_s: float = 0.0
    copy: VectorCopy | None = None
    originals: DocumentStore | None = None
    _own: OwnVectors = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Ask once which vectors are the model's."""
        own = OwnVectors(self.connection, self.model, self.dimensions, math.inf)
        object.__setattr__(self, "_own", own)

    async def add(
        self,
        document: SourceDocument | str,
        content: str | bytes = b"",
        *,
        title: str = "",
        source_uri: str = "",
        attributes: DocumentAttributes | None = None,
    ) -> Indexed:
        """Have the project hold a document in this state; the same state again writes nothing.

        It is a document that was read from this content, or an id with its content: Markdown,
        reStructuredText or text, as the id's ending says. The next question sees it. `attributes`
        are what is said of it beside its text.

        Raises:
            IngestError: the ids or the content cannot be used.
            ConflictError: another source's document has the id.
            TooLargeError: it makes more than 2,000 chunks.
            ProjectBusyError, LeaseLostError: the project cannot be held, or no longer.
            GraphMisconfiguredError: also when indexes are missing or of other vectors.
            GraphUnavailableError, ModelUnavailableError, ModelMisconfiguredError,
            DocumentStoreError: as the ports do.
        """
        # What is no text becomes bytes that are refused like those of a file.
        file = content.encode(errors="surrogatepass") if isinstance(content, str) else content
        if isinstance(document, str):
            document = await asyncio.to_thread(_read, document, file, title, source_uri)
        document = replace(document, given=attributes.said()) if attributes else document
        self._check_ids(document.id)
        inventory = await Probe(self._own, self.connection, self.names, DEFAULT).look()
        inventory.require_vector_indexes()
        inventory.require_dimensions(self.dimensions)

        hashed = await asyncio.to_thread(sha256, file)
        is_own = document.is_shown_whole and document.content_hash == hashed
        original = file if is_own else None
        known, chunks, _ = await self._held_document(document.id)
        record = self._record(document, known)
        is_same = known is not None and known.is_made_of(record.version, record.title)
        if not (known and is_same and await self._keeps(known, original)):
            async with self._holding(document.id) as project:
                known, chunks, namespace = await self._held_document(document.id)
                record = self._record(document, known)
                if not (known and known.is_made_of(record.version, record.title)):
                    done = await self._write(project, namespace, record, document, known)
                    await self._keep(record, original)
                    if known and self._original(known) != self._original(record):
                        await self._keep(known, None)
                    return done
                await self._keep(record, original)

        return Indexed(record.id, record.title, "unchanged", chunks)

    async def remove(self, document_id: str) -> None:
        """Take a document out, with its chunks; NotFoundError for none, others as for `add`."""
        self._check_ids(document_id)
        async with self._holding(document_id) as project:
            known, *_ = await self._held_document(document_id)
            if known is None:
                raise NotFoundError("The project holds nothing under this id.")
            await self._keep(known, None)
            await project.remove_documents([document_id])

    async def switch(self, document_id: str, *, on: bool) -> None:
        """Have questions see a document of any source, or no more; errors as for `remove`.

        ConflictError for one of an imported graph, whose topics are not ours to make.
        """
        self._check_ids(document_id)
        async with self._holding(document_id) as project:
            row = await read_standing(self.connection, await self._named(document_id))
            if row["document"] is None:
                raise NotFoundError("The project holds nothing under this id.")
            document = stored_document(row["document"])
            if document.source.startswith(IMPORTED):
                raise ConflictError("A document of an imported graph is not switched off or on.")
            if document.is_off == on:
                await project.switch([document_id], on=on)
                if on:
                    await project.join_topics(document_id, self.model, self.dimensions)

    # ------------------------------------------------------------------------------------- writing
    async def _write(
        self,
        project: ProjectDocuments,
        namespace: str,
        record: DocumentRecord,
        document: SourceDocument,
        known: DocumentRecord | None,
    ) -> Indexed:
        # In a thread, so that the loop goes on with other requests.
        document = await asyncio.to_thread(records.cut_up, document)
        if not document.pieces:
            raise IngestError(f"The document {record.id!r} holds no text.")
        if len(document.pieces) > CHUNKS_AT_ONCE:
            raise TooLargeError(
                f"The document makes {len(document.pieces):,} chunks, and {CHUNKS_AT_ONCE:,} are "
                f"the most: divide it, or ingest it as a file."
            )

        chunks = await asyncio.to_thread(records.chunk_records, namespace, record, document)

        held = [] if known is None else [record.id]
        headings = await held_headings(self.connection, held, await self._named(record.id))
        embedder = BatchEmbedder(self.embedder, self.dimensions)
        batch = await embedder.embed_chunks(DocumentBatch((record,), chunks).keeping(headings))

        await project.write_documents(batch)
        await project.join_topics(record.id, self.model, self.dimensions)
        outcome: Literal["added", "changed"] = "added" if known is None else "changed"
        return Indexed(record.id, record.title, outcome, len(chunks))

    def _record(self, document: SourceDocument, known: DocumentRecord | None) -> DocumentRecord:
        dated = replace(document, updated_at=document.updated_at or round(1000 * time.time()))
        # No path of a file has two bars: no other document's chunks are named after this.
        key = f"{SOURCE}//{document.id}"
        record = records.document_record(dated, document.id, SOURCE, key, self._embedding)
        if known is None:
            return record
        record = replace(record, key=known.key, is_off=known.is_off)
        return records.keeping_attributes(record, known) if document.keeps_attributes else record

    @property
    def _embedding(self) -> str:
        return records.embedding_of(self.model, self.dimensions)

    @asynccontextmanager
    async def _holding(self, document_id: str) -> AsyncIterator[ProjectDocuments]:
        lease = Lease(self.connection, self.project_id)
        async with holding(lease, wait_s=self.wait_s, say=lambda _: None):
            project = ProjectDocuments(lease, await self._own.version())
            if self.copy is None:
                yield project
                return

            before = await self.copy.state(self.project_id)
            ids = await self.copy.chunks_of(self.project_id, document_id)
            failed = None
            try:
                yield project
            except DocumentStoreError as error:  # what the graph holds has changed all the same
                failed = error
            ids |= await self.copy.chunks_of(self.project_id, document_id)
            after = await self.copy.state(self.project_id)
            await self.copy.changed(self.project_id, ids, before["at"], after["at"])
            if failed:
                raise failed

    async def _keep(self, record: DocumentRecord, original: bytes | None) -> None:
        """Keep the file of a document; without one take away what was kept."""
        if self.originals is None:
            return
        if original is None:
            await self.originals.remove(self._original(record))
        else:
            await self.originals.put(self._original(record), original)

    async def _keeps(self, record: DocumentRecord, original: bytes | None) -> bool:
        """Tell whether the file of a document, if it has one, need not be kept any more."""
        if self.originals is None or original is None:
            return True
        return await self.originals.size(self._original(record)) is not None

    def _original(self, record: DocumentRecord) -> str:
        return original_name(self.project_id, record.key, record.version.content_hash)

    # ------------------------------------------------------------------------------------- reading
    async def _held_document(self, document_id: str) -> tuple[DocumentRecord | None, int, str]:
        """Return the document under an id, its chunks, and what the project's are named after.

        ConflictError for another source's document.
        """
        row = await read_standing(self.connection, await self._named(document_id))
        is_first = await self._own.version() == FIRST  # another version says its model itself
        models = row["models"] or [one.rpartition("/")[0] for one in row["versions"] or ()]
        if is_first and (others := other_models(models, self.model)):
            raise GraphMisconfiguredError(
                f"The project's vectors were made by {' and '.join(others)}, and not by "
                f"{self.model}: set OAI_EMBED_MODEL_NAME to {others[0]}, or ingest it all anew."
            )
        namespace = row["namespace"] or self.project_id
        if row["document"] is None:
            return None, 0, namespace

        document = stored_document(row["document"])
        if document.source != SOURCE:
            raise ConflictError(
                f"The project has a document {document_id!r} of another source already: change it "
                "there and ingest it, or choose another id."
            )
        return document, row["document"]["chunks"], namespace

    async def _named(self, document_id: str) -> dict[str, Any]:
        named = {"project_id": self.project_id, "id": document_id, "embedding": self._embedding}
        return {**named, "vector": (await self._own.version()).vector}

    def _check_ids(self, document_id: str) -> None:
        problems = {
            f"project's id {self.project_id!r}": project_id_problem(self.project_id),
            f"document's id {document_id!r}": document_id_problem(document_id),
        }
        for name, problem in problems.items():
            if problem:
                raise IngestError(f"The {name} cannot be used: {problem}.")


def _read(name: str, content: bytes, title: str, source_uri: str) -> SourceDocument:
    document = document_of(name, content, title=title, source_uri=source_uri)
    if isinstance(document, Skipped):
        raise IngestError(f"The document {name!r} cannot be read: it {document.reason}.")
    return document
