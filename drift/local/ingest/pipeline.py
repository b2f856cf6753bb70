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
from drift.local.ingest.context import IngestContext
from drift.local.ingest.identity import Identity
from drift.local.ingest.places import require_own_graph
from drift.local.ingest.report import IngestReport
from drift.local.ingest.run import IngestRun, refuse_two_models
from drift.local.ingest.sources import Source


async def ingest(
    source: Source,
    project_id: str,
    context: IngestContext,
    *,
    force: bool = False,
    again: Callable[[], Source] | None = None,
) -> IngestReport:
    """Make the project hold exactly this source's documents, beside those of other sources.

    What is no longer in the source is removed, and the project's knowledge is derived anew. When
    nothing changed, nothing is written; `force` writes all of it anew. Where another run over the
    project had to be waited for, the source is read `again`.

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

    graph = context.graph
    created = await graph.prepare(context.dimensions)
    waits: list[str] = []

    def told(sentence: str) -> None:
        waits.append(sentence)
        context.say(sentence)

    async with graph.writing(project_id, wait_s=context.wait_s, say=told) as project:
        if waits and again is not None:
            source = await asyncio.to_thread(again)

        run = IngestRun(context.changes(source, project_id, force=force), context, project)
        run.result.created = created
        state = await graph.project_state(project_id)
        return await run.complete(state, await run.changes.identity(state))


async def remove(source: str | None, project_id: str, context: IngestContext) -> IngestReport:
    """Remove the documents of a source from a project, or all of them, with what was made of them.

    Questions see the project as it was before until all of it is done at once. A project that holds
    nothing then is gone. Errors as for `ingest`.
    """
    graph = context.graph
    async with graph.writing(project_id, wait_s=context.wait_s, say=context.say) as project:
        run = IngestRun(context.changes(Source(source or "", ()), project_id), context, project)
        state = await graph.project_state(project_id)
        gone = (name for name, held in state.sources.items() if source in {None, held})
        everything = Identity(source or "", {}, {}, tuple(sorted(gone)), (), {})
        return await run.complete(state, everything)


async def switch(
    document_ids: Collection[str], project_id: str, context: IngestContext, *, on: bool
) -> IngestReport:
    """Have questions see these documents, or no more, and derive what all seen ones make together.

    Without documents the knowledge alone is derived, where it is behind. Errors as for `ingest`;
    documents that the project does not hold change nothing.
    """
    graph = context.graph
    async with graph.writing(project_id, wait_s=context.wait_s, say=context.say) as project:
        state = await graph.project_state(project_id)
        if unknown := sorted(set(document_ids) - state.documents.keys()):
            raise IngestError(
                f"Project {project_id} holds no document {', '.join(unknown[:10])}, and nothing "
                f"was changed. `drift documents list` names what it holds."
            )

        run = IngestRun(context.changes(Source("", ()), project_id), context, project)
        refuse_two_models(project_id, state, context.embedding)
        wrong = sorted(one for one in set(document_ids) if state.documents[one].is_off == on)
        if wrong:
            require_own_graph(project_id, state.documents.values())
            run.result.changed = wrong
            await project.switch(wrong, on=on)
            state = await graph.project_state(project_id)
        await run.derive_knowledge(state)
        await run.look_back()
        return run.result
