"""The story of an ingestion: what changed, chunks with embeddings, and knowledge from all of them.

A run holds the project from its first look at the graph to its last, so that no other run changes
it meanwhile. A run that breaks is repaired by the next one: every write of documents marks the
project's knowledge as unfinished, and a document counts as stored only while it is whole.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from drift.contracts.request import project_id_problem
from drift.core.deadline import task_group
from drift.core.errors import IngestError
from drift.local.ingest.batch_embedder import BatchEmbedder
from drift.local.ingest.documents import Guard, Skipped, SourceDocument, guarded
from drift.local.ingest.entities import read_chunks
from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    ProjectState,
)
from drift.local.ingest.identity import Identity, identify
from drift.local.ingest.knowledge import derive, fingerprint
from drift.local.ingest.records import batches, chunk_records, content_hash
from drift.local.ingest.report import STAGES, IngestReport, Report, say_nothing
from drift.local.ingest.sources import Source
from drift.local.ingest.writers import MAX_WAIT_S, GraphWriter, ProjectWriter
from drift.local.say import Say
from drift.ports import Embedder

BATCHES_AHEAD = 3

READ, CHUNKS, DERIVE, EMBED, KNOWLEDGE = STAGES


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
    say: Say = lambda _: None,
    again: Callable[[], Source] | None = None,
    guard: Guard = guarded,
) -> IngestReport:
    """Make the project hold exactly this source's documents, beside those of other sources.

    What is no longer in the source is removed, and the project's knowledge is derived anew. When
    nothing changed, nothing is written.

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
        say: is given a sentence about such a run.
        again: reads the source once more after such a wait, in which it may have changed.
        guard: does the work on each document, and derives the knowledge.

    Raises:
        IngestError: when the project's id is none that requests may name, the project holds the
            same documents from another source, the source is empty and the project holds nothing
            of it, the embedder gives vectors of another length than `dimensions`, or the graph
            does not hold at the end what was written.
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
        say(sentence)

    async with writer.writing(project_id, wait_s=wait_s, say=told) as project:
        if waits and again is not None:
            source = await asyncio.to_thread(again)

        run = _Run(
            source=source,
            project_id=project_id,
            graph=writer,
            writer=project,
            embedder=BatchEmbedder(embedder, dimensions),
            report=report,
            embedding=f"{embedding_model}/{dimensions}",
            force=force,
            guard=guard,
        )
        run.result.created = created
        return await run.complete(await run.of_source())


async def remove(  # noqa: PLR0913 - one argument a collaborator
    source: str | None,
    project_id: str,
    writer: GraphWriter,
    embedder: Embedder,
    dimensions: int,
    *,
    report: Report = say_nothing,
    embedding_model: str = "",
    wait_s: float = MAX_WAIT_S,
    say: Say = lambda _: None,
) -> IngestReport:
    """Remove the documents of a source from a project, or all of them, with what was made of them.

    Questions see the project as it was before until all of it is done at once. A project that holds
    nothing then is gone.

    Args:
        source: the name of the source; None for all.
        project_id: the project.
        writer: the graph.
        embedder: gives the entities and communities of what stays their vectors.
        dimensions: floats of a vector.
        report: is told how far each stage is.
        embedding_model: the model's name.
        wait_s: how long to wait for another run over the project.
        say: is given a sentence about such a run.

    Raises:
        IngestError: when the graph does not hold at the end what was to stay.
        ProjectBusyError, LeaseLostError, GraphMisconfiguredError, GraphUnavailableError,
        ModelUnavailableError, ModelMisconfiguredError: as for `ingest`.
    """
    async with writer.writing(project_id, wait_s=wait_s, say=say) as project:
        run = _Run(
            source=Source(source or "", ()),
            project_id=project_id,
            graph=writer,
            writer=project,
            embedder=BatchEmbedder(embedder, dimensions),
            report=report,
            embedding=f"{embedding_model}/{dimensions}",
        )
        state = await writer.project_state(project_id)
        gone = (name for name, held in state.sources.items() if source in {None, held})
        everything = Identity(source or "", {}, {}, tuple(sorted(gone)), (), {})
        return await run.complete((state, everything))


def _understood_chunks(
    project_id: str, record: DocumentRecord, document: SourceDocument
) -> tuple[ChunkRecord, ...]:
    """Return the chunks of a document, whose knowledge can be derived as well.

    All documents are read for that at once later, where one that takes for ever has no name.
    """
    chunks = chunk_records(project_id, record, document)
    read_chunks(chunks)
    return chunks


@dataclass(slots=True)
class _Run:
    """One run over one source, while it holds the project.

    `documents` are the content hashes that the project is to hold of this source, by id, and
    `replaced` the documents whose files these are. `stamp` is the fingerprint of its knowledge,
    once that is known.
    """

    source: Source
    project_id: str
    graph: GraphWriter
    writer: ProjectWriter
    embedder: BatchEmbedder
    report: Report
    embedding: str
    force: bool = False
    guard: Guard = guarded
    result: IngestReport = field(init=False)
    documents: dict[str, str] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    stamp: str = ""
    derived: bool = False

    def __post_init__(self) -> None:
        self.result = IngestReport(
            self.source.name,
            self.project_id,
            skipped=self.source.skipped,
            ignored=self.source.ignored,
        )

    async def of_source(self) -> tuple[ProjectState, Identity]:
        """Return what the project holds, and what the documents that were read are in it.

        Raises:
            IngestError: when they would be in it twice, or are none and the project holds none.
        """
        state = await self.graph.project_state(self.project_id)
        hashes = {one.id: self._hash(one) for one in self.source.documents}
        identity = await asyncio.to_thread(identify, self.source, hashes, state)
        if not (hashes or identity.gone or identity.kept):
            raise IngestError(
                f"Nothing can be read in {self.source.name}, and project {self.project_id} holds "
                f"nothing of it. `drift projects` shows what it holds."
            )

        return state, identity

    def _hash(self, document: SourceDocument) -> str:
        return content_hash(document, self.embedding)

    async def complete(self, known: tuple[ProjectState, Identity]) -> IngestReport:
        """Take all steps in order, and return what they did."""
        state, identity = known
        with self.timed(READ):
            changed = await asyncio.to_thread(self.compare, state, identity)

        with self.timed(CHUNKS):
            await self.write_documents(changed)

        self.result.kept += identity.kept
        self.result.removed = sorted({*self.result.removed, *identity.gone})
        self.result.left = dict(identity.left)
        await self.derive_knowledge(state)
        # Last, so that the next run after one that broke knows a folder of another name again.
        if self.result.moved:
            await self.writer.take_over(self.result.moved, identity.owner)

        await self.look_back()
        return self.result

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to the stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.result.seconds[stage] = self.result.seconds.get(stage, 0.0) + spent

    def compare(self, state: ProjectState, identity: Identity) -> list[DocumentBatch]:
        """Return the new and changed documents with their chunks, one batch a document.

        A document that cannot be cut is skipped.
        """
        changed = []
        for done, document in enumerate(self.source.documents, start=1):
            name, new_hash = identity.names[document.id], self._hash(document)
            others = identity.others.get(document.id, ())
            if state.documents.get(name) == new_hash and not self.force:
                self.documents[name] = new_hash
                is_own = state.sources.get(name) == identity.owner
                (self.result.unchanged if is_own else self.result.moved).append(name)
                self.result.removed += others
            else:
                record = DocumentRecord(
                    name,
                    document.title,
                    identity.owner,
                    new_hash,
                    document.source_uri,
                    document.updated_at,
                )
                stored = [one for one in (name, *others) if one in state.documents]
                changed += self._cut(record, document, others, stored)

            self.report(READ, done, len(self.source.documents))

        return changed

    def _cut(
        self,
        record: DocumentRecord,
        document: SourceDocument,
        others: tuple[str, ...],
        stored: list[str],
    ) -> list[DocumentBatch]:
        """Return a document with its chunks; nothing when it cannot be cut."""
        work = partial(_understood_chunks, self.project_id, record, document)
        chunks = self.guard(document.id, work)
        if isinstance(chunks, Skipped):
            self.result.skipped += (chunks,)
            if chunks.unreadable:
                self.result.kept += stored
            else:
                self.result.removed += stored
            return []

        self.documents[record.id] = record.content_hash
        (self.result.changed if stored else self.result.added).append(record.id)
        self.replaced.update(others)
        return [DocumentBatch((record,), chunks, {record.id: others} if others else {})]

    async def write_documents(self, changed: Sequence[DocumentBatch]) -> None:
        """Embed and write, the next batches being embedded while one is written."""
        total = sum(len(batch.chunks) for batch in changed)
        waiting: deque[asyncio.Task[DocumentBatch]] = deque()
        self.report(CHUNKS, 0, total)
        async with task_group() as group:
            for batch in batches(changed):
                waiting.append(group.create_task(self.embedder.embed_chunks(batch)))
                if len(waiting) > BATCHES_AHEAD:
                    await self._write(await waiting.popleft(), total)
            while waiting:
                await self._write(await waiting.popleft(), total)

    async def _write(self, batch: DocumentBatch, total: int) -> None:
        await self.writer.write_documents(batch)
        self.result.chunks += len(batch.chunks)
        self.report(CHUNKS, self.result.chunks, total)

    async def derive_knowledge(self, state: ProjectState) -> None:
        """Derive the project's knowledge from all of its chunks, unless it is there already.

        What is to be removed goes in the moment in which the knowledge without it is the project's.
        """
        removed = set(self.result.removed)
        hashes = {**state.documents, **self.documents}
        stays = {name: hash_ for name, hash_ in hashes.items() if name not in removed}
        for replaced in self.replaced:
            stays.pop(replaced, None)

        self.stamp = fingerprint(stays, self.embedding)
        if state.fingerprint == self.stamp and not (self.force or removed):
            return

        with self.timed(DERIVE):
            self.report(DERIVE, 0, 1)
            held = await self.graph.read_chunks(self.project_id)
            chunks = [chunk for chunk in held if chunk.document_id not in removed]
            # In a thread, so that the loop goes on renewing the lease on the project.
            work = partial(derive, self.project_id, chunks, self.stamp)
            knowledge = await asyncio.to_thread(self.guard, "knowledge", work, None)
            if isinstance(knowledge, Skipped):
                raise IngestError(
                    f"The knowledge of project {self.project_id} {knowledge.reason}. Its documents "
                    f"are stored, and the next run derives it again."
                )

            self.report(DERIVE, 1, 1)

        with self.timed(EMBED):
            texts = len(knowledge.entities) + len(knowledge.communities)
            self.report(EMBED, 0, texts)
            embedded = await self.embedder.embed_knowledge(knowledge)
            knowledge = replace(embedded, embedding_model=self.embedding.rpartition("/")[0])
            self.report(EMBED, texts, texts)

        with self.timed(KNOWLEDGE):
            self.report(KNOWLEDGE, 0, 1)
            await self.writer.write_knowledge(knowledge, self.result.removed)
            self.report(KNOWLEDGE, 1, 1)

        self.derived = True

    async def look_back(self) -> None:
        """Report what the graph holds now, and nothing else.

        Raises:
            IngestError: when it is not what this run wrote or found.
        """
        state = await self.graph.project_state(self.project_id)
        lost = sorted(
            name for name, written in self.documents.items() if state.documents.get(name) != written
        )
        lost += sorted(state.documents.keys() & {*self.result.removed, *self.replaced})
        if lost or state.fingerprint != self.stamp:
            raise IngestError(
                f"Project {self.project_id} does not hold what was written: "
                f"{', '.join(lost[:5]) or 'its knowledge'} is not whole, so something else changes "
                f"it. Run this again."
            )

        self.result.held_documents, self.result.held_chunks = len(state.documents), state.chunks
        if self.derived:
            self.result.entities, self.result.relations = state.entities, state.relations
            self.result.communities = dict(state.communities)
