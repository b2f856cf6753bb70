"""Chunks that were made elsewhere into a project: what has changed, then what it makes together."""

from __future__ import annotations

import statistics
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace

from drift.core.errors import IngestError
from drift.graph.writing.records import DocumentBatch, ProjectState
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.records import batches
from drift.local.ingest.context import IngestContext
from drift.local.ingest.made.rows import Checked, MadeChunks, in_a_thread
from drift.local.ingest.places import require_own_graph
from drift.local.ingest.report import IngestReport
from drift.local.ingest.run import CHUNKS, IngestRun, refuse_two_models
from drift.local.ingest.sources import Source
from drift.local.ingest.topics import cosines
from drift.model.graph import Vector
from drift.ports import Embedder

SAME_MODEL = 0.7
"""As near as this, as a cosine, vectors of one text are that one model has made, whatever stood
before the text; those of two models are near 0."""
BUILD_WAIT_S = 24 * 3600.0
"""How long a vector index of millions may take."""


async def load_chunks(
    made: MadeChunks, checked: Checked, context: IngestContext, *, imported: bool = False
) -> IngestReport:
    """Make the project hold exactly these documents, beside those of other sources.

    What has not changed since is not written; `imported` says that all of it was just put there.

    Raises:
        IngestError: another source has a document of one of the ids, or rows are others than
            those that were checked.
        Others as for an ingestion.
    """
    project_id, graph = made.project_id, context.graph
    created = await graph.prepare(context.dimensions, BUILD_WAIT_S)
    async with graph.writing(project_id, wait_s=context.wait_s, say=context.say) as project:
        state = await graph.project_state(project_id)
        run = IngestRun(context.changes(Source(made.source, ()), project_id), context, project)
        run.result.created = created
        load = _Load(run, made, checked, state)
        load.require_room()
        refuse_two_models(project_id, state, context.embedding, checked.documents)
        with run.clock.timed(CHUNKS):
            await load.write()
        await run.derive_knowledge(state)
        await run.look_back()

    if imported:
        run.result.added, run.result.unchanged = run.result.unchanged, []
        run.result.chunks = checked.chunks
    return run.result


async def require_model(made: MadeChunks, checked: Checked, embedder: Embedder) -> None:
    """Raise IngestError where another model than the configured one has made the vectors."""
    found: list[float] = []
    texts = [text for one in checked.sample for text in (f"{one.heading}\n{one.text}", one.text)]
    ours = await BatchEmbedder(embedder, made.dimensions).embed(texts)
    for place, one in enumerate(checked.sample):
        both = ours[2 * place : 2 * place + 2]
        found.append(max(_cosine(one.embedding, vector) for vector in both))
    if (near := statistics.median(found)) < SAME_MODEL:
        raise IngestError(
            f"The vectors in {made.place} are not those of {made.model}: of {len(found)} texts "
            f"they are as near as {near:.2f} to its own, and {SAME_MODEL} is wanted. No question "
            f"would find them: set OAI_EMBED_MODEL_NAME to the model that made them."
        )


def _cosine(one: Vector, other: Vector) -> float:
    return float(cosines([one], [other])[0])


@dataclass(slots=True)
class _Load:
    """The documents of one source beside what the project holds."""

    run: IngestRun
    made: MadeChunks
    checked: Checked
    state: ProjectState

    def require_room(self) -> None:
        """Raise IngestError where something of another source would be written over."""
        project_id, held = self.made.project_id, self.state.documents
        require_own_graph(project_id, held.values())
        others = sorted(one.id for one in held.values() if one.source != self.made.source)
        if taken := [one for one in others if one in self.checked.documents]:
            raise IngestError(
                f"Project {project_id} has {len(taken):,} of these documents from another source, "
                f"{taken[0]} of {held[taken[0]].source}: nothing was written. Name them otherwise, "
                f"or use another project (--project)."
            )
        if others and self.checked.has_ids:
            raise IngestError(
                f"Chunks with an `id` of their own want a project of their own, and {project_id} "
                f"holds documents of {held[others[0]].source}: nothing was written. Leave `id` "
                f"out, or use another project (--project)."
            )

    async def write(self) -> None:
        """Write what is new or has changed; note what goes."""
        result, held = self.run.result, self.state.documents
        gone = {one.id for one in held.values() if one.source == self.made.source}
        result.removed = sorted(gone - self.checked.documents.keys())
        namespace = self.state.namespace or self.made.project_id
        documents = in_a_thread(self.made.documents(namespace))
        async with aclosing(self._changed(documents)) as changed:
            async for batch in batches(changed):
                await self.run.writer.write_documents(batch)
                result.chunks += len(batch.chunks)
                self.run.changes.report(CHUNKS, result.chunks, self.checked.chunks)

    async def _changed(
        self, documents: AsyncIterator[DocumentBatch]
    ) -> AsyncGenerator[DocumentBatch]:
        result, read = self.run.result, 0
        async for one in documents:
            (document,) = one.documents
            read += 1
            if self.checked.documents.get(document.id) != document.version.content_hash:
                raise IngestError(
                    f"{self.made.place} was changed while it was read: document {document.id} is "
                    f"another one now. What was written is whole; run this again."
                )
            stored = self.state.documents.get(document.id)
            if stored is not None and stored.is_made_of(document.version, document.title):
                result.unchanged.append(document.id)
                self.run.changes.documents[document.id] = stored
                continue

            (result.added if stored is None else result.changed).append(document.id)
            is_off = stored is not None and stored.is_off
            document = replace(document, is_off=is_off)
            self.run.changes.documents[document.id] = document
            yield replace(one, documents=(document,))
        if read < len(self.checked.documents):
            raise IngestError(f"{self.made.place} was cut while it was read: run this again.")
