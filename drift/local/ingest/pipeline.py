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
from dataclasses import dataclass, replace
from functools import partial

from drift.contracts.request import project_id_problem
from drift.core.deadline import task_group
from drift.core.errors import IngestError
from drift.local.ingest.batch_embedder import BatchEmbedder
from drift.local.ingest.by_model.replies import outdated, part_of
from drift.local.ingest.by_model.writing import ByModel, write_by_model
from drift.local.ingest.changes import READ, SourceChanges
from drift.local.ingest.documents import Guard, Skipped, guarded
from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    KnowledgeBatch,
    ModelReply,
    ProjectState,
)
from drift.local.ingest.identity import Identity
from drift.local.ingest.knowledge import derive, fingerprint
from drift.local.ingest.records import batches, embedding_of
from drift.local.ingest.report import STAGES, IngestReport, Report, say_nothing
from drift.local.ingest.sources import Source
from drift.local.ingest.writers import MAX_WAIT_S, GraphWriter, ProjectWriter
from drift.local.say import Say
from drift.ports import Embedder

BATCHES_AHEAD = 3

_, CHUNKS, DERIVE, ASK, EMBED, KNOWLEDGE = STAGES


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
    by_model: ByModel | None = None,
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
        by_model: what a chat model is asked to write; without it, what it wrote before is used.

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

        embedding = embedding_of(embedding_model, dimensions)
        changes = SourceChanges(source, project_id, embedding, report, guard, force)
        run = _Run(
            changes=changes,
            graph=writer,
            writer=project,
            embedder=BatchEmbedder(embedder, dimensions),
            embedding_model=embedding_model,
            dimensions=dimensions,
            by_model=by_model,
            say=say,
        )
        run.result.created = created
        state = await writer.project_state(project_id)
        return await run.complete(state, await changes.identity(state))


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
        embedding = embedding_of(embedding_model, dimensions)
        run = _Run(
            changes=SourceChanges(Source(source or "", ()), project_id, embedding, report),
            graph=writer,
            writer=project,
            embedder=BatchEmbedder(embedder, dimensions),
            embedding_model=embedding_model,
            dimensions=dimensions,
            say=say,
        )
        state = await writer.project_state(project_id)
        gone = (name for name, held in state.sources.items() if source in {None, held})
        everything = Identity(source or "", {}, {}, tuple(sorted(gone)), (), {})
        return await run.complete(state, everything)


@dataclass(slots=True)
class _Run:
    """One run over one source, while it holds the project.

    `stamp` is the fingerprint of the project's knowledge, once that is known.
    """

    changes: SourceChanges
    graph: GraphWriter
    writer: ProjectWriter
    embedder: BatchEmbedder
    embedding_model: str
    dimensions: int
    by_model: ByModel | None = None
    say: Say = lambda _: None
    stamp: str = ""
    derived: bool = False

    @property
    def project_id(self) -> str:
        """The project that is written."""
        return self.changes.project_id

    @property
    def result(self) -> IngestReport:
        """What the run did so far."""
        return self.changes.result

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage is."""
        self.changes.report(stage, done, total)

    async def complete(self, state: ProjectState, identity: Identity) -> IngestReport:
        """Take all steps in order, and return what they did."""
        with self.timed(READ):
            changed = await asyncio.to_thread(self.changes.compare, state, identity)

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
        hashes = {**state.documents, **self.changes.documents}
        stays = {name: hash_ for name, hash_ in hashes.items() if name not in removed}
        for replaced in self.changes.replaced:
            stays.pop(replaced, None)

        self.stamp = fingerprint(stays, self.changes.embedding)
        if self._is_written(state.fingerprint) and not (self.changes.force or removed):
            self.stamp = state.fingerprint
            return

        with self.timed(DERIVE):
            self.report(DERIVE, 0, 1)
            held = await self.graph.read_chunks(self.project_id)
            chunks = [chunk for chunk in held if chunk.document_id not in removed]
            knowledge = await self._topics(chunks)
            self.report(DERIVE, 1, 1)

        with self.timed(ASK):
            knowledge, replies = await self._with_replies(knowledge, chunks)

        with self.timed(EMBED):
            texts = len(knowledge.communities)
            self.report(EMBED, 0, texts)
            embedded = await self.embedder.embed_knowledge(knowledge)
            knowledge = replace(embedded, embedding_model=self.embedding_model)
            self.report(EMBED, texts, texts)

        with self.timed(KNOWLEDGE):
            self.report(KNOWLEDGE, 0, 1)
            await self.writer.write_knowledge(knowledge, self.result.removed)
            texts_left = {part_of(chunk.text) for chunk in chunks}
            await self.writer.drop_replies(outdated(replies, texts_left))
            self.report(KNOWLEDGE, 1, 1)

        self.derived = True

    async def _topics(self, chunks: Sequence[ChunkRecord]) -> KnowledgeBatch:
        """Return the topics of these chunks.

        Raises:
            IngestError: when they cannot be found.
        """
        ids = [chunk.id for chunk in chunks]
        vectors = await self.graph.read_vectors(self.project_id, ids, self.dimensions)
        topics = await self.graph.read_topics(self.project_id, self.embedding_model)
        kept = None if self.changes.force else topics
        # In a thread, so that the loop goes on renewing the lease on the project.
        work = partial(derive, chunks, vectors, self.stamp, kept)
        knowledge = await asyncio.to_thread(self.changes.guard, "knowledge", work, None)
        if isinstance(knowledge, Skipped):
            raise IngestError(
                f"The knowledge of project {self.project_id} {knowledge.reason}. Its documents "
                f"are stored, and the next run derives it again."
            )
        return knowledge

    def _is_written(self, fingerprint_: str) -> bool:
        """Tell whether the knowledge is there, with all that a model is asked to write."""
        is_same = fingerprint_.partition(" ")[0] == self.stamp
        return is_same and (self.by_model is None or self.by_model.covers(fingerprint_))

    async def _with_replies(
        self, knowledge: KnowledgeBatch, chunks: Sequence[ChunkRecord]
    ) -> tuple[KnowledgeBatch, Sequence[ModelReply]]:
        """Return the knowledge with what a model writes, and what it wrote before."""
        held = await self.graph.read_replies(self.project_id)
        written = await write_by_model(
            knowledge,
            chunks,
            held,
            keep=self.writer.keep_replies,
            embedder=self.embedder,
            by_model=self.by_model,
            done=partial(self.report, ASK),
            say=self.say,
        )
        if self.by_model is not None and written.is_whole:
            self.stamp = f"{self.stamp} {self.by_model.mark}"
        return replace(written.knowledge, fingerprint=self.stamp), held

    async def look_back(self) -> None:
        """Report what the graph holds now, and nothing else.

        Raises:
            IngestError: when it is not what this run wrote or found.
        """
        state = await self.graph.project_state(self.project_id)
        lost = sorted(
            name
            for name, written in self.changes.documents.items()
            if state.documents.get(name) != written
        )
        lost += sorted(state.documents.keys() & {*self.result.removed, *self.changes.replaced})
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
