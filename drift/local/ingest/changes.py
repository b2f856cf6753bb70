"""What an ingestion changes: which documents are new or others, and about what a model takes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial

from drift.core.errors import IngestError
from drift.local.ingest.by_model.asking import CALLS_AT_ONCE
from drift.local.ingest.by_model.estimate import Estimate, of_new_documents
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.documents import Guard, Skipped, SourceDocument, guarded
from drift.local.ingest.graph_records import DocumentBatch, DocumentRecord, ProjectState
from drift.local.ingest.identity import Identity, identify
from drift.local.ingest.records import chunk_records, content_hash
from drift.local.ingest.report import STAGES, IngestReport, Report, say_nothing
from drift.local.ingest.sources import Source
from drift.local.ingest.writers import GraphWriter

READ = STAGES[0]


@dataclass(slots=True)
class SourceChanges:
    """A source beside what a project holds.

    `documents` are the content hashes that the project is to hold of this source, by id, and
    `replaced` the documents whose files these are. `embedding` names what makes the vectors.
    """

    source: Source
    project_id: str
    embedding: str
    report: Report = say_nothing
    guard: Guard = guarded
    force: bool = False
    result: IngestReport = field(init=False)
    documents: dict[str, str] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.result = IngestReport(
            self.source.name,
            self.project_id,
            skipped=self.source.skipped,
            ignored=self.source.ignored,
        )

    async def identity(self, state: ProjectState) -> Identity:
        """Return what the documents that were read are in the project.

        Raises:
            IngestError: when they would be in it twice, or are none and the project holds none.
        """
        hashes = {one.id: self._hash(one) for one in self.source.documents}
        identity = await asyncio.to_thread(identify, self.source, hashes, state)
        if not (hashes or identity.gone or identity.kept):
            raise IngestError(
                f"Nothing can be read in {self.source.name}, and project {self.project_id} holds "
                f"nothing of it. `drift projects` shows what it holds."
            )

        return identity

    def _hash(self, document: SourceDocument) -> str:
        return content_hash(document, self.embedding)

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
        work = partial(chunk_records, self.project_id, record, document)
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


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingestion would change, and about what a model would take for its knowledge."""

    report: IngestReport
    estimate: Estimate


async def plan(changes: SourceChanges, graph: GraphWriter, by_model: ByModel | None) -> Plan:
    """Return what an ingestion would do; nothing is written, and no model is asked.

    Raises:
        IngestError, GraphMisconfiguredError, GraphUnavailableError: as the ingestion does.
    """
    is_held = bool(await graph.held_projects(changes.project_id))
    state = await graph.project_state(changes.project_id) if is_held else ProjectState({}, "")
    identity = await changes.identity(state)
    changed = await asyncio.to_thread(changes.compare, state, identity)
    changes.result.removed = sorted({*changes.result.removed, *identity.gone})
    if by_model is None:
        return Plan(changes.result, Estimate())

    if not by_model.covers(state.fingerprint):
        every = replace(changes, force=True, documents={}, replaced=set())
        changed = await asyncio.to_thread(every.compare, state, identity)
    sizes = [len(chunk.text) for batch in changed for chunk in batch.chunks]
    return Plan(changes.result, of_new_documents(by_model.tier, sizes, CALLS_AT_ONCE))
