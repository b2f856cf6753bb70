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
from itertools import chain

from drift.contracts.request import project_id_problem
from drift.errors import IngestError
from drift.offline.indexing.batch_embedder import BatchEmbedder
from drift.offline.indexing.knowledge import derive, fingerprint
from drift.offline.indexing.records import batches, chunk_records, content_hash, possible_ids
from drift.offline.indexing.report import STAGES, IngestReport, Report, say_nothing
from drift.offline.indexing.sources import Source
from drift.offline.say import Say
from drift.offline.writing.documents import Skipped, SourceDocument, guarded
from drift.offline.writing.doubles import doubled_source
from drift.ports import MAX_WAIT_S, Embedder, GraphWriter, ProjectWriter
from drift.tasks import task_group
from drift.values.records import (
    DocumentBatch,
    DocumentRecord,
    ProjectState,
)

BATCHES_AHEAD = 3

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
    say: Say = lambda _: None,
    again: Callable[[], Source] | None = None,
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
        )
        run.result.created = created
        return await run.complete()


@dataclass(slots=True)
class _Run:
    """One run over one source, while it holds the project.

    `documents` are the content hashes that the project is to hold of this source, by id. `stamp`
    is the fingerprint of its knowledge, once that is known.
    """

    source: Source
    project_id: str
    graph: GraphWriter
    writer: ProjectWriter
    embedder: BatchEmbedder
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

    async def complete(self) -> IngestReport:
        """Take all steps in order, and return what they did."""
        state = await self.graph.project_state(self.project_id)
        with self.timed(READ):
            self.refuse_double(state)
            changed = await asyncio.to_thread(self.compare, state)
        with self.timed(CHUNKS):
            await self.write_documents(changed)
        with self.timed(REMOVE):
            await self.remove_gone(state)
        await self.derive_knowledge(state)
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

    def refuse_double(self, state: ProjectState) -> None:
        """Stop before a folder that was moved or copied would be in the project twice."""
        hashes = {
            document.id: content_hash(document, self.embedding)
            for document in self.source.documents
        }
        if other := doubled_source(self.source.name, hashes, state):
            raise IngestError(
                f"Project {self.project_id} holds the same documents already, from {other}: as "
                f"another source they would be in it twice, and nothing was written. Ingest them "
                f"from there, or into a project of their own (--project)."
            )

    def compare(self, state: ProjectState) -> list[DocumentBatch]:
        """Return the new and changed documents with their chunks, one batch a document.

        A document that cannot be cut is skipped.
        """
        changed = []
        for done, document in enumerate(self.source.documents, start=1):
            name, new_hash = self._name(document.id, state), content_hash(document, self.embedding)
            if state.documents.get(name) == new_hash and not self.force:
                self.documents[name] = new_hash
                self.result.unchanged.append(name)
            else:
                record = DocumentRecord(
                    name,
                    document.title,
                    self.source.name,
                    new_hash,
                    document.source_uri,
                    document.updated_at,
                )
                changed += self._cut(record, document, known=name in state.documents)
            self.report(READ, done, len(self.source.documents))
        return changed

    def _cut(
        self, record: DocumentRecord, document: SourceDocument, *, known: bool
    ) -> list[DocumentBatch]:
        """Return a document with its chunks; nothing when it cannot be cut."""
        chunks = guarded(document.id, partial(chunk_records, self.project_id, record, document))
        if isinstance(chunks, Skipped):
            self.result.skipped += (chunks,)
            return []

        self.documents[record.id] = record.content_hash
        (self.result.changed if known else self.result.added).append(record.id)
        return [DocumentBatch((record,), chunks)]

    def _name(self, path: str, state: ProjectState) -> str:
        """Return a document's id: its path, unless another source of the project has that path."""
        *names, last = possible_ids(self.source.name, path)
        here = self.source.name
        return next((name for name in names if state.sources.get(name, here) == here), last)

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

    async def remove_gone(self, state: ProjectState) -> None:
        """Remove documents that are no longer in this source; keep those that cannot be read."""
        skipped = (file.path for file in self.source.skipped if file.unreadable)
        unreadable = list(
            chain.from_iterable(map(partial(possible_ids, self.source.name), skipped))
        )
        stored = {name for name in state.documents if state.sources.get(name) == self.source.name}
        for name in sorted(stored - set(self.documents)):
            kept = any(name == path or name.startswith(f"{path}/") for path in unreadable)
            (self.result.kept if kept else self.result.removed).append(name)
        if self.result.removed:
            await self.writer.remove_documents(self.result.removed)
            self.report(REMOVE, len(self.result.removed), len(self.result.removed))

    async def derive_knowledge(self, state: ProjectState) -> None:
        """Derive the project's knowledge from all of its chunks, unless it is there already."""
        hashes = {**state.documents, **self.documents}
        for name in self.result.removed:
            hashes.pop(name, None)
        self.stamp = fingerprint(hashes, self.embedding)
        if state.fingerprint == self.stamp and not self.force:
            return
        with self.timed(DERIVE):
            self.report(DERIVE, 0, 1)
            chunks = await self.graph.read_chunks(self.project_id)
            # In a thread, so that the loop goes on renewing the lease on the project.
            knowledge = await asyncio.to_thread(derive, self.project_id, chunks, self.stamp)
            self.report(DERIVE, 1, 1)
        with self.timed(EMBED):
            texts = len(knowledge.entities) + len(knowledge.communities)
            self.report(EMBED, 0, texts)
            embedded = await self.embedder.embed_knowledge(knowledge)
            knowledge = replace(embedded, embedding_model=self.embedding.rpartition("/")[0])
            self.report(EMBED, texts, texts)
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
            name for name, written in self.documents.items() if state.documents.get(name) != written
        )
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
