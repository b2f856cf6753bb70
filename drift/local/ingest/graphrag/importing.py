"""A GraphRAG index into a project: its documents, then its graph, written as of any ingestion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from drift.contracts.request import project_id_problem
from drift.core.errors import IngestError
from drift.core.folding import as_typed
from drift.graph.writing.records import (
    IMPORTED,
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    KnowledgeBatch,
    ProjectState,
)
from drift.indexing.records import batches
from drift.local.ingest.by_model.writing import embedded_text
from drift.local.ingest.context import IngestContext
from drift.local.ingest.derivation import reach_of
from drift.local.ingest.graphrag.index import GraphRagIndex
from drift.local.ingest.graphrag.vectors import KINDS, Vectors, fitting
from drift.local.ingest.knowledge import fingerprint
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.report import STAGES, Clock, IngestReport, Reach
from drift.model.graph import Vector
from drift.nodes.embedding_calls import EmbeddingCalls

MAX_EMBEDDED_CHARS = 8000
"""A text of GraphRAG has 1,200 tokens, more than ours have; no model takes over 8,191."""

_, CHUNKS, _, _, EMBED, KNOWLEDGE = STAGES
_TEXTS, _ENTITIES, _REPORTS = KINDS


async def import_index(
    index: GraphRagIndex, project_id: str, context: IngestContext, *, force: bool = False
) -> IngestReport:
    """Make the project hold exactly this index: documents, chunks, entities and communities.

    It takes the place of an index that was imported before. The same index again writes nothing,
    unless `force` says so. It is told of another run, and of vectors.

    Raises:
        IngestError: the project's id cannot be used, it holds documents of other sources, or the
            graph does not hold at the end what was written.
        Others as for an ingestion.
    """
    if problem := project_id_problem(project_id):
        raise IngestError(f"The project's id cannot be used: {problem}.")

    graph = context.graph
    created = await graph.prepare(context.dimensions)
    async with graph.writing(project_id, wait_s=context.wait_s, say=context.say) as project:
        state = await graph.project_state(project_id)
        _require_room(project_id, state)
        notes = dict(index.notes)
        result = IngestReport(index.source, project_id, created=created, notes=notes)
        run = _Import(index, project, context, result)
        await run.write(state, force=force)
        run.look_back(await graph.project_state(project_id))
        return result


def _require_room(project_id: str, state: ProjectState) -> None:
    others = sorted({one for one in state.sources.values() if not one.startswith(IMPORTED)})
    if others:
        raise IngestError(
            f"Project {project_id} holds documents of {', '.join(map(str, others[:3]))}, and an "
            f"imported graph tells of its own documents alone: nothing was changed. Import it into "
            f"a project of its own (--project)."
        )


@dataclass(slots=True)
class _Import:
    """An import while the project is held."""

    index: GraphRagIndex
    writer: Neo4jProject
    context: IngestContext
    result: IngestReport
    stamp: str = ""
    reach: Reach | None = None
    calls: EmbeddingCalls = field(init=False)
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.calls = EmbeddingCalls(self.context.embedder, self.context.dimensions)

    async def write(self, state: ProjectState, *, force: bool) -> None:
        """Write what is not there yet."""
        embedding = self.context.embedding
        documents = [
            replace(one, version=replace(one.version, embedding=embedding))
            for one in self.index.documents
        ]
        self.stamp = fingerprint(documents, embedding)
        held = {} if force else state.documents
        new = [one for one in documents if held.get(one.id) != one]
        names, written = {one.id for one in documents}, {one.id for one in new}
        result = self.result
        result.unchanged = sorted(names - written)
        result.added = sorted(written - state.documents.keys())
        result.changed = sorted(written & state.documents.keys())
        result.removed = sorted(state.documents.keys() - names)
        if not (new or result.removed or state.fingerprint != self.stamp):
            return

        clock = Clock(result.seconds)
        with clock.timed(CHUNKS):
            for kind, texts in self.index.texts.items():
                stored = self.index.vectors.get(kind)
                self._vectors[kind] = await fitting(stored, texts, self.calls, self.context.say)
            await self._write_documents(new)
        with clock.timed(EMBED):
            graph = await self._graph()
        with clock.timed(KNOWLEDGE):
            self.context.report(KNOWLEDGE, 0, 1)
            await self.writer.write_knowledge(graph, result.removed)
            self.context.report(KNOWLEDGE, 1, 1)
        self.reach = reach_of(graph, Reach.of_reports([c for c in graph.communities if c.says]))

    def look_back(self, state: ProjectState) -> None:
        """Report the counts of the graph now; IngestError when other rows were written."""
        result = self.result
        if state.fingerprint != self.stamp or state.chunks != len(self.index.chunks):
            raise IngestError(
                f"Project {result.project_id} does not hold what was written, so something else "
                f"changes it. Run this again."
            )
        result.tell(state, self.reach)

    async def _write_documents(self, documents: Sequence[DocumentRecord]) -> None:
        chunks: defaultdict[str, list[ChunkRecord]] = defaultdict(list)
        for chunk in self.index.chunks:
            chunks[chunk.document_id].append(chunk)

        async def one_by_one() -> AsyncIterator[DocumentBatch]:
            for one in documents:
                yield DocumentBatch((one,), tuple(chunks[one.id]))

        total = sum(len(chunks[one.id]) for one in documents)
        async for batch in batches(one_by_one()):
            vectors = await self._of(_TEXTS, {one.id: one.text for one in batch.chunks})
            embedded = (replace(one, embedding=vectors[one.id]) for one in batch.chunks)
            await self.writer.write_documents(replace(batch, chunks=tuple(embedded)))
            self.result.chunks += len(batch.chunks)
            self.context.report(CHUNKS, self.result.chunks, total)

    async def _graph(self) -> KnowledgeBatch:
        index = self.index
        total = len(index.entities) + len(index.communities)
        self.context.report(EMBED, 0, total)
        about = {one.id: embedded_text(one.title, one.description) for one in index.entities}
        named = await self._of(_ENTITIES, about)
        said = {index.reports[one.community]: one.summary for one in index.communities if one.says}
        told = await self._of(_REPORTS, said)
        self.context.report(EMBED, total, total)
        communities = (
            replace(one, embedding=told.get(index.reports.get(one.community, ""), ()))
            for one in index.communities
        )
        return KnowledgeBatch(
            tuple(replace(one, embedding=named[one.id]) for one in index.entities),
            index.relations,
            tuple(communities),
            self.stamp,
            self.context.model,
        )

    async def _of(self, kind: str, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Return a vector for each of these texts: that of the index, or else one of ours."""
        known = {key: self._vectors[kind].of(key) for key in texts}
        new = [as_typed(texts[key])[:MAX_EMBEDDED_CHARS] for key in texts if not known[key]]
        made = iter((await self.calls.embed(new)).vectors)
        return {key: vector or next(made) for key, vector in known.items()}
