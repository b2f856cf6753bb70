"""What explains an answer, put together once its search has ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from drift.answer.explanation import Notes, PassagesRead, look_of
from drift.contracts.answer import CitationOut
from drift.contracts.explain import MOST_CALLS, MOST_DROPPED, MOST_LOOKS, ExplainOut, HeldOut
from drift.core.errors import DriftError
from drift.model.tree import Tree, cited_by
from drift.search.scope import Scope
from drift.telemetry.parts import Part


async def explained(
    scope: Scope, whole: Part, tree: Tree, cited: Iterable[CitationOut | str]
) -> ExplainOut:
    """Return what explains an answer that cites these passages, from its ended search."""
    limits, nodes, notes = scope.limits, tree.in_order(), scope.noted or Notes()
    if not scope.request.answer:
        limits = replace(limits, max_chunks_for_prompt=scope.request.top_k)
    read = PassagesRead(
        {one if isinstance(one, str) else one.chunk_id for one in cited},
        {citation.chunk_id for citation in cited_by(nodes)},
        {id_ for node in nodes for id_ in node.chunk_ids},
        limits,
        is_one_look=all(node.question.id < 0 for node in nodes),
    )
    names = ("max_chunks_for_prompt", "max_prompt_tokens", "max_followups")
    return ExplainOut(
        seconds=round(whole.duration_s, 4),
        phases={which.value: round(part.duration_s, 4) for which, part in whole.phases.items()},
        calls=notes.calls[:MOST_CALLS],
        looks=[look_of(find, read) for find in notes.finds[:MOST_LOOKS]],
        dropped=list(tree.counts.which[:MOST_DROPPED]),
        lost=sorted(scope.lost),
        bounds={name: getattr(limits, name) for name in names},
        held=await _held(scope),
    )


async def _held(scope: Scope) -> HeldOut | None:
    """Return what the request could read of its project; None where that fails."""
    asked, deadline = scope.request, scope.deadline
    try:
        held = await scope.ports.passages.about(asked.project_id, deadline)
    except DriftError:
        return None
    counts = {name: getattr(held, name) for name in ("documents", "chunks", "behind")}
    return HeldOut(**counts, is_filtered=asked.filter is not None)
