"""What an ingestion changes: which documents are new or others, and about what a model takes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice

from drift.core.errors import IngestError
from drift.graph.vector_models import has_direction
from drift.graph.writing.records import (
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    ProjectState,
)
from drift.indexing.documents import Skipped, SourceDocument, ending_of, is_file_name
from drift.indexing.records import chunk_records, document_record, version_of
from drift.local.ingest.doubles import Doubles, doubles_of
from drift.local.ingest.files import SourceFile
from drift.local.ingest.identity import SAME, Identity, copied_from, identify
from drift.local.ingest.places import below, is_inside, require_own_graph
from drift.local.ingest.related import with_related
from drift.local.ingest.report import STAGES, IngestReport, Report, say_nothing
from drift.local.ingest.scheduling import InProcess, Read, Stages, Work, read_all
from drift.local.ingest.sources import Source, nothing_read

READ = STAGES[0]
MOST_SKIPPED = 10_000
"""Files without a document that a project remembers; the others are read again."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A document that has to be read: where it is, as what, and what is stored of it."""

    work: Work
    place: str
    version: DocumentVersion
    held: list[str]
    others: tuple[str, ...]
    is_off: bool


@dataclass(slots=True)
class SourceChanges:
    """A source beside what a project holds.

    `documents` are those that the project is to hold of this source, by id, and `replaced` the
    documents whose files these are. `renamed` says under which id a stored document goes on, and
    `unusable` what is known of files that hold no document, by their places. `embedding` names what
    makes the vectors, and `stages` read the files. `expected` are about the chunks of all that
    is to be written, `waited_s` the seconds that nothing was read to go on with.
    """

    source: Source
    project_id: str
    embedding: str
    report: Report = say_nothing
    force: bool = False
    stages: Stages = field(default_factory=InProcess)
    expected: int = 0
    waited_s: float = 0.0
    result: IngestReport = field(init=False)
    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, tuple[DocumentVersion, str]] = field(default_factory=dict)
    _doubles: Doubles = field(default_factory=Doubles)
    _keys: set[str] | None = None

    def __post_init__(self) -> None:
        self.result = IngestReport(
            self.source.name,
            self.project_id,
            skipped=self.source.skipped,
            ignored=self.source.ignored,
        )

    async def identity(self, state: ProjectState) -> Identity:
        """Return what the documents that were read are in the project.

        IngestError when they would be in it twice, are none at all, or its graph was imported.
        """
        require_own_graph(self.project_id, state.documents.values())
        self.source = await asyncio.to_thread(with_related, self.source, state)
        hashes = {one.id: one.content_hash for one in self.source.documents}
        identity = await asyncio.to_thread(identify, self.source, hashes, state)
        if not (hashes or identity.gone or identity.kept or self.source.only is not None):
            raise IngestError(
                f"Nothing can be read in {self.source.name}, and project {self.project_id} holds "
                f"nothing of it. `drift projects` shows what it holds."
            )

        self._doubles = doubles_of(self.source, identity, state)
        return identity

    async def compare(
        self, state: ProjectState, identity: Identity
    ) -> AsyncGenerator[DocumentBatch]:
        """Yield the new and changed documents with their chunks, one batch a document.

        The next ones are read meanwhile. A document that cannot be read or cut is skipped;
        IngestError when that is all of a source of which the project holds nothing.
        """
        every = (self._wanted(one, state, identity) for one in self.source.documents)
        wanted = await asyncio.to_thread(list, filter(None, every))
        total, chunks = len(self.source.documents), 0
        if total:
            self.report(READ, total - len(wanted), total)

        reading = read_all(self.stages, [one.work for one in wanted])
        async with aclosing(reading) as results:
            for done, one in enumerate(wanted, 1):
                began = time.perf_counter()
                read = await anext(results)
                self.waited_s += time.perf_counter() - began
                left = len(wanted) - done
                self.report(READ, total - left, total)
                if batch := self._taken(one, read):
                    chunks += len(batch.chunks)
                    self.expected = chunks + chunks * left // done
                    yield batch

        if self.source.documents and not (self.documents or state.documents or self.result.kept):
            raise IngestError(nothing_read(self.source, self.result.skipped))

    def _wanted(
        self, document: SourceFile | SourceDocument, state: ProjectState, identity: Identity
    ) -> _Wanted | None:
        """Return a document that has to be read; note what is known of any other."""
        document = self._doubles.told(document)
        name, others = identity.names[document.id], identity.others.get(document.id, ())
        if isinstance(document, SourceFile) and document.parent:
            document = document.attached_to(identity.names[document.parent])
        version = version_of(
            document.content_hash, document.source_uri, document.given, self.embedding
        )
        stored = state.documents.get(name)
        copied = self._doubles.reasons.get(document.id, "")
        if not (self.force or copied):
            if stored is not None and stored.is_made_of(version):
                is_own = stored.source == identity.owner
                (self.result.unchanged if is_own else self.result.moved).append(name)
                self.documents[name] = stored
                self.result.removed += others
                return None
            if stored is None and (former := _renamed(name, others, version, state)):
                self.documents[name] = state.documents[former]
                self.renamed[former] = name
                self.result.moved.append(name)
                self.result.removed += (one for one in others if one != former)
                return None

        held = [one for one in (name, *others) if one in state.documents]
        key = state.documents[held[0]].key if held else self._free_key(name, state)
        make = partial(
            read_chunks,
            namespace=state.namespace or self.project_id,
            name=name,
            owner=identity.owner,
            key=key,
        )
        place = below(self.source.name, document.id)
        known, reason = state.skipped.get(place, (None, ""))
        # A copy of what is off stays off, also when that says something else now.
        original = copied_from(self.source, document.id, document.content_hash, state)
        places = [*held, original]
        is_off = any(one.is_off for one in filter(None, map(state.documents.get, places)))
        wanted = _Wanted((document, make), place, version, held, others, is_off)
        if known != version or self.force or reason.startswith(SAME):
            reason = copied
        if reason:
            self._skip(Skipped(document.id, reason), wanted)
            return None
        return wanted

    def _free_key(self, name: str, state: ProjectState) -> str:
        """Return what a new document's chunks are named after: no other document's key."""
        if self._keys is None:
            self._keys = {document.key for document in state.documents.values()}
        keys = chain([name], (f"{name} beside {number} others" for number in count(1)))
        key = next(key for key in keys if key not in self._keys)
        self._keys.add(key)
        return key

    def _taken(self, wanted: _Wanted, read: Read | Skipped) -> DocumentBatch | None:
        """Return a document as it is to be written, unless it could not be read."""
        if isinstance(read, Skipped):
            self._skip(read, wanted)
            return None

        record, chunks = read
        version = replace(record.version, embedding=self.embedding)
        record = replace(record, version=version, is_off=wanted.is_off)
        if record.note:
            self.result.notes[record.id] = record.note
        self.documents[record.id] = record
        (self.result.changed if wanted.held else self.result.added).append(record.id)
        self.replaced.update(wanted.others)
        return DocumentBatch((record,), chunks, {record.id: wanted.others} if wanted.others else {})

    def leave_out(self, batch: DocumentBatch, reason: str, state: ProjectState) -> None:
        """Skip documents that were read; what the project holds of them stays."""
        for document in batch.documents:
            del self.documents[document.id]
            others = batch.replaced.get(document.id, ())
            held = [one for one in (document.id, *others) if one in state.documents]
            (self.result.changed if held else self.result.added).remove(document.id)
            self.replaced.difference_update(others)
            self.result.kept += held
            self.result.skipped += (Skipped(document.id, reason, unreadable=True),)

    def note_lost(self, batch: DocumentBatch) -> None:
        """Note the documents with chunks whose new vector has no direction."""
        lost = Counter(
            chunk.document_id
            for chunk in batch.chunks
            if not (chunk.keeps_vector or has_direction(chunk.embedding))
        )
        for name, chunks in lost.items():
            note = (
                f"{chunks:,} of its chunks got a vector of zeros, or one that is not finite, from "
                "the embedding model, so that no search by vector finds them"
            )
            self.result.notes[name] = "; ".join(filter(None, (self.result.notes.get(name), note)))

    def _skip(self, skipped: Skipped, wanted: _Wanted) -> None:
        """Leave a document out; what the project holds of it stays if it may be readable later."""
        self.result.skipped += (skipped,)
        if skipped.unreadable:
            self.result.kept += wanted.held
        else:
            self.result.removed += wanted.held
            self.unusable[wanted.place] = wanted.version, skipped.reason

    def skipped_files(
        self, state: ProjectState, identity: Identity
    ) -> dict[str, tuple[DocumentVersion, str]]:
        """Return what is known of files that hold no document: of this source, and of others."""
        others = {
            place: known
            for place, known in state.skipped.items()
            if not self._looked_at(place, identity)
        }
        return dict(islice((self.unusable | others).items(), MOST_SKIPPED))

    def _looked_at(self, place: str, identity: Identity) -> bool:
        if self.source.only is not None:
            return any(is_inside(place, one) for one in self.source.only)
        return is_inside(place, self.source.name) or is_inside(place, identity.owner)


def read_chunks(
    document: SourceFile | SourceDocument, namespace: str, name: str, owner: str, key: str
) -> Read | Skipped:
    """Return what is stored of a document, without vectors, or why it is not read."""
    read = document if isinstance(document, SourceDocument) else document.read()
    if isinstance(read, Skipped):
        return read
    record = document_record(read, name, owner, key)
    return record, chunk_records(namespace, record, read)


def _renamed(
    name: str, others: Sequence[str], version: DocumentVersion, state: ProjectState
) -> str | None:
    """Return the stored document that goes on under another name, and needs no reading for that."""
    alike = (one for one in others if ending_of(one) == ending_of(name))  # which says how to read
    same = (one for one in alike if state.documents[one].is_made_of(version))
    return next((one for one in same if not is_file_name(state.documents[one].title, one)), None)
