"""The story of an ingestion: what changed, chunks with embeddings, and knowledge from all of them.

A run holds the project from its first look at the graph to its last, so that no other run changes
it meanwhile. A run that breaks is repaired by the next one: every write of documents marks the
project's knowledge as unfinished, and a document counts as stored only while it is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from drift.contracts.request import project_id_problem
from drift.core.errors import IngestError
from drift.graph.writing.lease import MAX_WAIT_S
from drift.indexing.reading_process import Guard, guarded
from drift.indexing.records import embedding_of
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.identity import Identity
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.places import require_own_graph
from drift.local.ingest.report import IngestReport, Report, say_nothing
from drift.local.ingest.run import Run, refuse_two_models
from drift.local.ingest.scheduling import InProcess, Stages
from drift.local.ingest.sources import Source
from drift.local.say import Say
from drift.ports import Embedder


async def ingest(  # noqa: PLR0913 - one argument a collaborator
    source: Source,
    project_id: str,
    writer: Neo4jWriter,
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
    stages: Stages | None = None,
    by_model: ByModel | None = None,
) -> IngestReport:
    """Make the project hold exactly this source's documents, beside those of other sources.

    What is no longer in the source is removed, and the project's knowledge is derived anew. When
    nothing changed, nothing is written; `force` writes all of it anew. Another run over the project
    is waited for, of which `say` is told; the source is read `again` then. The work on each
    document is done by the `stages`, or here under the `guard`. Without `by_model` only what a
    model wrote before is used.

    Raises:
        IngestError: the project's id cannot be used, the project holds the same documents from
            another source, nothing is there, vectors are of another length, or the graph does
            not hold at the end what was written.
        ProjectBusyError, LeaseLostError: the project cannot be held, or no longer.
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
        stages = stages or InProcess(guard)
        changes = SourceChanges(source, project_id, embedding, report, guard, force, stages)
        run = Run(changes, writer, project, embedder, by_model, say)
        run.result.created = created
        state = await writer.project_state(project_id)
        return await run.complete(state, await changes.identity(state))


async def remove(  # noqa: PLR0913 - one argument a collaborator
    source: str | None,
    project_id: str,
    writer: Neo4jWriter,
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
    nothing then is gone. Errors as for `ingest`.
    """
    async with writer.writing(project_id, wait_s=wait_s, say=say) as project:
        embedding = embedding_of(embedding_model, dimensions)
        changes = SourceChanges(Source(source or "", ()), project_id, embedding, report)
        run = Run(changes, writer, project, embedder, say=say)
        state = await writer.project_state(project_id)
        gone = (name for name, held in state.sources.items() if source in {None, held})
        everything = Identity(source or "", {}, {}, tuple(sorted(gone)), (), {})
        return await run.complete(state, everything)


async def switch(  # noqa: PLR0913 - one argument a collaborator
    document_ids: Collection[str],
    project_id: str,
    writer: Neo4jWriter,
    embedder: Embedder,
    dimensions: int,
    *,
    on: bool,
    report: Report = say_nothing,
    embedding_model: str = "",
    say: Say = lambda _: None,
) -> IngestReport:
    """Have questions see these documents, or no more, and derive what all seen ones make together.

    Without documents the knowledge alone is derived, where it is behind. Errors as for `ingest`;
    documents that the project does not hold change nothing.
    """
    async with writer.writing(project_id, say=say) as project:
        state = await writer.project_state(project_id)
        if unknown := sorted(set(document_ids) - state.documents.keys()):
            raise IngestError(
                f"Project {project_id} holds no document {', '.join(unknown[:10])}, and nothing "
                f"was changed. `drift documents list` names what it holds."
            )

        embedding = embedding_of(embedding_model, dimensions)
        changes = SourceChanges(Source("", ()), project_id, embedding, report)
        run = Run(changes, writer, project, embedder, say=say)
        refuse_two_models(project_id, state, embedding)
        wrong = sorted(one for one in set(document_ids) if state.documents[one].is_off == on)
        if wrong:
            require_own_graph(project_id, state.documents.values())
            run.result.changed = wrong
            await project.switch(wrong, on=on)
            state = await writer.project_state(project_id)
        await run.derive_knowledge(state)
        await run.look_back()
        return run.result
