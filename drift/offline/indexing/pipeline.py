"""THE STORY of an ingestion: source -> what changed -> chunks with embeddings -> graph -> knowledge over all of the project.

The run holds the project from its first look at the graph to its last, so that no other run changes
it meanwhile. A run that breaks is repaired by the next: every write of documents marks the
project's knowledge as unfinished, and a document counts as stored only while it is whole.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from drift.contracts.request import project_id_problem
from drift.errors import IngestError
from drift.offline.indexing.knowledge import derive, fingerprint, stable_id
from drift.offline.indexing.report import STAGES, IngestReport, Report, say_nothing
from drift.offline.indexing.sources import Source
from drift.offline.writing.chunking import CHUNKING_VERSION, cut
from drift.offline.writing.documents import Skipped, SourceDocument, guarded
from drift.offline.writing.doubles import doubled_source
from drift.ports import MAX_WAIT_S, Embedder, GraphWriter, ProjectWriter
from drift.tasks import Deadline, task_group
from drift.values.graph import Vector
from drift.values.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    KnowledgeBatch,
    ProjectState,
)

TEXTS_A_CALL = 64
CALLS_IN_FLIGHT = 4
CHUNKS_A_BATCH = 128
BATCHES_AHEAD = 3
EMBEDDING_TIMEOUT_S = 120.0
MAX_EMBEDDED_CHARS = 4000
"""A text is cut to this length before it is embedded; what is stored stays whole."""

READ, CHUNKS, REMOVE, DERIVE, EMBED, KNOWLEDGE = STAGES


async def ingest(  # noqa: PLR0913 - one argument a collaborator
    source: Source,
    project_id: str,
    writer: GraphWriter,
    embedder: Embedder,
    dimensions: int,
    *,
    report: Report = say_nothing,
    embedding_model: str = "",
    force: bool = False,
    wait_s: float = MAX_WAIT_S,
    tell: Callable[[str], None] = lambda _: None,
    again: Callable[[], Source] | None = None,
) -> IngestReport:
    """Make the project hold exactly this source's documents, beside those of other sources, and derive its knowledge.

    What is no longer in the source is removed. When nothing changed, nothing is written.

    Args:
        source: the documents.
        project_id: where they go.
        writer: the graph.
        embedder: gives chunks, entities and communities their vectors.
        dimensions: floats of a vector.
        report: is told how far each stage is.
        embedding_model: the model's name; when it changes, everything is embedded anew.
        force: write every document of the source and the knowledge anew, changed or not.
        wait_s: how long to wait for another run over the project.
        tell: is given a sentence about such a run.
        again: reads the source once more after such a wait, in which it may have changed.

    Raises:
        IngestError: when the project's id is none that requests may name, the project holds the
            same documents from another source, the embedder gives vectors of another length than
            `dimensions`, or the graph does not hold at the end what was written.
        ProjectBusyError, LeaseLostError: when the project cannot be held, or no longer.
        GraphMisconfiguredError, GraphUnavailableError, ModelUnavailableError,
        ModelMisconfiguredError: as the ports do.
    """
    if problem := project_id_problem(project_id):
        raise IngestError(f"The project's id cannot be used: {problem}.")
    created = await writer.prepare(dimensions)
    waits: list[str] = []

    def told(sentence: str) -> None:
        waits.append(sentence)
        tell(sentence)

    async with writer.writing(project_id, wait_s=wait_s, tell=told) as project:
        if waits and again is not None:
            source = await asyncio.to_thread(again)
        state = await writer.project_state(project_id)
        run = _Run(
            source=source,
            project_id=project_id,
            graph=writer,
            writer=project,
            embedder=_BatchEmbedder(embedder, dimensions),
            report=report,
            embedding=f"{embedding_model}/{dimensions}",
            force=force,
        )
        run.result.created = created
        with run.timed(READ):
            run.refuse_double(state)
            changed = await asyncio.to_thread(run.compare, state)
        with run.timed(CHUNKS):
            await run.write_documents(changed)
        with run.timed(REMOVE):
            await run.remove_gone(state)
        await run.derive_knowledge(state)
        await run.look_back()
        return run.result


@dataclass(slots=True)
class _Run:
    source: Source
    project_id: str
    graph: GraphWriter
    writer: ProjectWriter
    embedder: _BatchEmbedder
    report: Report
    embedding: str
    force: bool
    result: IngestReport = field(init=False)
    documents: dict[str, str] = field(default_factory=dict)
    stamp: str = ""
    derived: bool = False

    def __post_init__(self) -> None:
        self.result = IngestReport(
            self.source.name,
            self.project_id,
            skipped=self.source.skipped,
            ignored=self.source.ignored,
        )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to the stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.result.seconds[stage] = (
                self.result.seconds.get(stage, 0.0) + time.perf_counter() - began
            )

    def refuse_double(self, state: ProjectState) -> None:
        """Stop before a folder that was moved or copied would be in the project twice."""
        hashes = {document.id: self._hash(document) for document in self.source.documents}
        if other := doubled_source(self.source.name, hashes, state):
            raise IngestError(
                f"Project {self.project_id} holds the same documents already, from {other}: as "
                f"another source they would be "
                "in it twice, and nothing was written. Ingest them from there, or into a project "
                "of their own (--project)."
            )

    def compare(self, state: ProjectState) -> list[DocumentBatch]:
        """Return the new and changed documents with their chunks, one batch a document.

        One that cannot be cut is skipped.
        """
        changed = []
        for done, document in enumerate(self.source.documents, start=1):
            name = self._name(document.id, state)
            content_hash = self._hash(document)
            if state.documents.get(name) == content_hash and not self.force:
                self.documents[name] = content_hash
                self.result.unchanged.append(name)
            else:
                record = DocumentRecord(name, document.title, self.source.name, content_hash)
                chunks = guarded(document.id, partial(self._chunks, record, document))
                if isinstance(chunks, Skipped):
                    self.result.skipped += (chunks,)
                else:
                    self.documents[name] = content_hash
                    (self.result.changed if name in state.documents else self.result.added).append(
                        name
                    )
                    changed.append(DocumentBatch((record,), chunks))
            self.report(READ, done, len(self.source.documents))
        return changed

    def _name(self, path: str, state: ProjectState) -> str:
        """Return a document's id: its path, unless another source of the project has the same path already."""
        *names, last = self._possible_names(path)
        free = (
            name for name in names if state.sources.get(name, self.source.name) == self.source.name
        )
        return next(free, last)

    def _possible_names(self, path: str) -> tuple[str, str, str]:
        folder = PurePosixPath(self.source.name).name
        return path, f"{folder}/{path}", f"{folder}-{stable_id(self.source.name)[:8]}/{path}"

    def _hash(self, document: SourceDocument) -> str:
        parts = (CHUNKING_VERSION, self.embedding, document.format, document.title, document.text)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()

    def _chunks(self, record: DocumentRecord, document: SourceDocument) -> tuple[ChunkRecord, ...]:
        chunks = []
        for ordinal, piece in enumerate(cut(document.text, document.format)):
            text = document.text[piece.start : piece.end]
            chunk_id = stable_id(self.project_id, record.id, str(ordinal), text)
            chunks.append(
                ChunkRecord(chunk_id, record.id, ordinal, piece.heading or record.title, text)
            )
        return tuple(chunks)

    async def write_documents(self, changed: Sequence[DocumentBatch]) -> None:
        """Embed and write, the next batches being embedded while one is written."""
        total = sum(len(batch.chunks) for batch in changed)
        waiting: deque[asyncio.Task[DocumentBatch]] = deque()
        self.report(CHUNKS, 0, total)
        async with task_group() as group:
            for batch in _batches(changed):
                waiting.append(group.create_task(self._embedded(batch)))
                if len(waiting) > BATCHES_AHEAD:
                    await self._write(await waiting.popleft(), total)
            while waiting:
                await self._write(await waiting.popleft(), total)

    async def _embedded(self, batch: DocumentBatch) -> DocumentBatch:
        vectors = await self.embedder.embed(
            [f"{chunk.heading}\n{chunk.text}" for chunk in batch.chunks]
        )
        chunks = tuple(
            replace(chunk, embedding=vector)
            for chunk, vector in zip(batch.chunks, vectors, strict=True)
        )
        return DocumentBatch(batch.documents, chunks)

    async def _write(self, batch: DocumentBatch, total: int) -> None:
        await self.writer.write_documents(batch)
        self.result.chunks += len(batch.chunks)
        self.report(CHUNKS, self.result.chunks, total)

    async def remove_gone(self, state: ProjectState) -> None:
        """Remove this source's documents that are no longer in it.

        Keep those whose file could not be read this time.
        """
        unreadable = [
            name
            for s in self.source.skipped
            if s.unreadable
            for name in self._possible_names(s.path)
        ]
        own = [name for name in state.documents if state.sources.get(name) == self.source.name]
        for name in sorted(set(own) - set(self.documents)):
            kept = any(name == path or name.startswith(f"{path}/") for path in unreadable)
            (self.result.kept if kept else self.result.removed).append(name)
        if self.result.removed:
            await self.writer.remove_documents(self.result.removed)
            self.report(REMOVE, len(self.result.removed), len(self.result.removed))

    async def derive_knowledge(self, state: ProjectState) -> None:
        """Derive the project's knowledge from all of its chunks, unless it is there already."""
        held = {**state.documents, **self.documents}
        self.stamp = fingerprint(
            {name: own for name, own in held.items() if name not in self.result.removed},
            self.embedding,
        )
        if state.fingerprint == self.stamp and not self.force:
            return
        with self.timed(DERIVE):
            self.report(DERIVE, 0, 1)
            chunks = await self.graph.read_chunks(self.project_id)
            # In a thread: the loop goes on renewing the hold on the project.
            knowledge = await asyncio.to_thread(derive, self.project_id, chunks, self.stamp)
            self.report(DERIVE, 1, 1)
        with self.timed(EMBED):
            knowledge = await self._embedded_knowledge(knowledge)
        with self.timed(KNOWLEDGE):
            self.report(KNOWLEDGE, 0, 1)
            await self.writer.write_knowledge(knowledge)
            self.report(KNOWLEDGE, 1, 1)
        self.derived = True

    async def look_back(self) -> None:
        """Report what the graph holds now, and nothing else.

        Raises:
            IngestError: when it is not what this run wrote or found.
        """
        state = await self.graph.project_state(self.project_id)
        lost = sorted(
            name for name, own in self.documents.items() if state.documents.get(name) != own
        )
        if lost or state.fingerprint != self.stamp:
            raise IngestError(
                f"Project {self.project_id} does not hold what was written: "
                f"{', '.join(lost[:5]) or 'its knowledge'} is not "
                "whole, so something else changes it. Run this again."
            )
        self.result.held_documents, self.result.held_chunks = len(state.documents), state.chunks
        if self.derived:
            self.result.entities, self.result.relations = state.entities, state.relations
            self.result.communities = dict(state.communities)

    async def _embedded_knowledge(self, knowledge: KnowledgeBatch) -> KnowledgeBatch:
        texts = [
            *(f"{entity.title}: {entity.description}" for entity in knowledge.entities),
            *(community.summary for community in knowledge.communities),
        ]
        self.report(EMBED, 0, len(texts))
        vectors = await self.embedder.embed(texts)
        self.report(EMBED, len(texts), len(texts))
        split = len(knowledge.entities)
        return replace(
            knowledge,
            entities=tuple(
                replace(e, embedding=v)
                for e, v in zip(knowledge.entities, vectors[:split], strict=True)
            ),
            communities=tuple(
                replace(c, embedding=v)
                for c, v in zip(knowledge.communities, vectors[split:], strict=True)
            ),
        )


def _batches(changed: Sequence[DocumentBatch]) -> Iterator[DocumentBatch]:
    """Join documents to batches of about CHUNKS_A_BATCH chunks; a document is never divided."""
    documents: list[DocumentRecord] = []
    chunks: list[ChunkRecord] = []
    for one in changed:
        documents += one.documents
        chunks += one.chunks
        if len(chunks) >= CHUNKS_A_BATCH:
            yield DocumentBatch(tuple(documents), tuple(chunks))
            documents, chunks = [], []
    if documents:
        yield DocumentBatch(tuple(documents), tuple(chunks))


class _BatchEmbedder:
    """Embeds many texts with a few calls in flight, and checks what comes back."""

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        self._embedder = embedder
        self._dimensions = dimensions
        self._in_flight = asyncio.Semaphore(CALLS_IN_FLIGHT)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector a text, in order."""
        parts = [texts[at : at + TEXTS_A_CALL] for at in range(0, len(texts), TEXTS_A_CALL)]
        async with task_group() as group:
            calls = [group.create_task(self._call(part)) for part in parts]
        return [vector for call in calls for vector in call.result()]

    async def _call(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        async with self._in_flight:
            deadline = Deadline.after(EMBEDDING_TIMEOUT_S)
            reply = await self._embedder.embed(
                [text[:MAX_EMBEDDED_CHARS] for text in texts], deadline
            )
        lengths = {len(vector) for vector in reply.vectors}
        if len(reply.vectors) != len(texts) or lengths - {self._dimensions}:
            raise IngestError(
                f"The embedding model gave {len(reply.vectors)} vectors of {sorted(lengths)} "
                f"floats for {len(texts)} texts; "
                f"{self._dimensions} floats each were expected. Check VECTOR_INDEX_DIMENSIONS "
                f"against the model."
            )
        return reply.vectors
