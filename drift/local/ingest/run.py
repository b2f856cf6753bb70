"""One run over a source, in its order: documents, what they make together, and a look back."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial

from drift.core.errors import DocumentStoreError, IngestError
from drift.graph.vector_models import other_models
from drift.graph.writing.records import DocumentBatch, ProjectState
from drift.graph.writing.rows import skipped_line
from drift.indexing.records import batches
from drift.local.ingest import originals
from drift.local.ingest.derivation import Derivation
from drift.local.ingest.identity import Identity
from drift.local.ingest.report import STAGES, IngestReport
from drift.local.ingest.scheduling import LostBatchError, ahead

READ, CHUNKS = STAGES[:2]


@dataclass(slots=True)
class IngestRun(Derivation):
    """A run while it holds the project."""

    async def complete(self, state: ProjectState, identity: Identity) -> IngestReport:
        """Take all steps in order, and return their result."""
        others = {one for claimed in identity.others.values() for one in claimed}
        written = {*identity.names.values(), *identity.gone, *others}
        refuse_two_models(self.project_id, state, self.context.embedding, written)
        gone = {*identity.gone}
        stays = [one for one in state.documents.values() if one.id not in gone]
        with suppress(DocumentStoreError):  # a store that is still down says so at the end
            await originals.retain(self.context.graph.originals, self.project_id, stays)
        with self.clock.timed(CHUNKS):
            await self.write_documents(state, identity)
        self.clock.add(READ, self.changes.waited_s)
        self.clock.add(CHUNKS, -self.changes.waited_s)

        self.result.kept += identity.kept
        self.result.removed = sorted({*self.result.removed, *identity.gone})
        self.result.left = dict(identity.left)
        await self.derive_knowledge(state)
        await self.remember(state, identity)
        held = await self.look_back()
        await self.keep_originals(held, identity)
        return self.result

    async def keep_originals(self, state: ProjectState, identity: Identity) -> None:
        """Keep the files of this source, as far as they are those of the project's documents."""
        store, source = self.context.graph.originals, self.changes.source
        kept = await originals.retain(store, self.project_id, state.documents.values())
        if store is None:
            return
        files = {identity.names[one.id]: one for one in source.documents}
        for name, held in originals.names_of(self.project_id, state.documents.values()).items():
            if name in kept or held.id not in files:
                continue
            work = partial(originals.content_of, files[held.id], source, held.version.content_hash)
            content = await asyncio.to_thread(self.context.guard, held.id, work)
            if isinstance(content, bytes):
                await store.put(name, content)

    async def remember(self, state: ProjectState, identity: Identity) -> None:
        """Write down moved files, and files that hold no document.

        Last, so that the next run after one that broke knows a folder of another name again.
        """
        stay = {name: name for name in self.result.moved if name in state.documents}
        moved = self.changes.renamed | stay
        if moved:
            places = {former: (name, identity.owner) for former, name in moved.items()}
            await self.writer.relocate(places)

        skipped = self.changes.skipped_files(state, identity)
        if skipped != dict(state.skipped):
            lines = [skipped_line(place, *known) for place, known in sorted(skipped.items())]
            await self.writer.keep_skipped(lines)

    async def write_documents(self, state: ProjectState, identity: Identity) -> None:
        """Read, embed and write, the next documents being read and embedded meanwhile."""

        async def embedded(batch: DocumentBatch) -> DocumentBatch | None:
            batch = await self._with_kept_vectors(batch, state)
            try:
                made = await self.calls.embed_chunks(batch)
            except LostBatchError as error:
                self.changes.leave_out(batch, error.detail, state)
                return None
            self.changes.note_lost(made)
            return made

        async with (
            aclosing(self.changes.compare(state, identity)) as changed,
            aclosing(ahead(batches(changed), embedded, self.changes.stages.at_once)) as made,
        ):
            async for batch in made:
                if batch is not None:
                    await self.writer.write_documents(batch)
                    self.result.chunks += len(batch.chunks)
                    self.context.report(CHUNKS, self.result.chunks, self.changes.expected)

        self.context.report(CHUNKS, self.result.chunks, self.result.chunks)

    async def _with_kept_vectors(self, batch: DocumentBatch, state: ProjectState) -> DocumentBatch:
        """Return the documents; chunks whose words stay are not embedded again."""
        names = [
            name
            for document in batch.documents
            for name in (document.id, *batch.replaced.get(document.id, ()))
            if name in state.documents
        ]
        if not names or self.changes.force:
            return batch
        embedding = self.context.embedding
        return batch.keeping(
            await self.context.graph.held_chunks(self.project_id, names, embedding)
        )

    async def derive_knowledge(self, state: ProjectState) -> None:
        """Derive what the documents make together that the project is to hold now."""
        removed = sorted({*self.result.removed, *self.changes.replaced})
        stays = {**state.documents, **self.changes.documents}
        for gone in (*removed, *self.changes.renamed):
            stays.pop(gone, None)
        seen = [document for document in stays.values() if not document.is_off]
        is_other = bool(self.result.added or self.result.changed or removed)
        await self.derive(seen, removed, "" if is_other else state.fingerprint)

    async def look_back(self) -> ProjectState:
        """Report what the graph holds now; IngestError when it is not what this run wrote."""
        state = await self.context.graph.project_state(self.project_id)
        lost = sorted(
            name
            for name, written in self.changes.documents.items()
            if name not in state.documents or not state.documents[name].is_made_of(written.version)
        )
        lost += sorted(state.documents.keys() & {*self.result.removed, *self.changes.replaced})
        if lost or state.fingerprint != self.stamp:
            raise IngestError(
                f"Project {self.project_id} does not hold what was written: "
                f"{', '.join(lost[:5]) or 'its knowledge'} is not whole, so something else changes "
                f"it. Run this again."
            )

        self.result.tell(state, self.reach)
        return state


def refuse_two_models(
    project_id: str, state: ProjectState, embedding: str, written: Collection[str] = ()
) -> None:
    """Raise IngestError where a document would stay whose vectors another model made.

    `embedding` names the model and the length of the vectors, as documents do. Documents that are
    `written`, or go, do not stay.
    """
    own, _, dimensions = embedding.rpartition("/")
    for name, document in state.documents.items():
        model, _, length = document.version.embedding.rpartition("/")
        is_other = length != dimensions or other_models([model], own)
        if model and is_other and name not in written:
            raise IngestError(
                f"Project {project_id} has documents, {name} among them, that this run would leave "
                f"with the vectors of {document.version.embedding}, beside its own of {embedding}: "
                f"nothing was written. Use that model, or first have `drift reindex "
                f"--model-version NAME` build the vectors of {own} beside them."
            )
