"""Why a search ended before its question was settled, and what stands of it then."""

from __future__ import annotations

from dataclasses import replace

from drift.answer.conclusion import Conclusion
from drift.answer.response import Searched
from drift.model.tree import SKIPPED_BUDGET, SKIPPED_DEADLINE
from drift.search.aggregator import as_found
from drift.search.followups import Followups
from drift.search.quick import Look
from drift.search.scope import Scope

ONE_LOOK_STANDS = (
    "A failure ended the search behind one look at the documents; what that found stands."
)
AT_THE_END_S = 1.0
"""Seconds of a request's time within which a failure is its end."""


def note_end(scope: Scope, followups: Followups) -> None:
    """Remember where the caller's own limits left questions unasked or unanswered."""
    if SKIPPED_DEADLINE in [node.state for node in followups.tree.nodes.values()]:
        scope.end("max_seconds", scope.deadline.total_s)
    if SKIPPED_BUDGET in [node.state for node in followups.tree.nodes.values()]:
        scope.end("max_followups", scope.limits.max_followups)


def found_in_time(scope: Scope, searched: Searched | None) -> Conclusion | None:
    """Return what follow-ups found, where the caller's own time is used up; None elsewhere."""
    if scope.deadline.remaining() < AT_THE_END_S:
        scope.end("max_seconds", scope.deadline.total_s)
        if searched and "max_seconds" in scope.ended_by:
            return as_found(scope, searched.tree, searched.found)
    return None


def standing(look: Look) -> Look:
    """Return a look whose answer says that the search behind it failed."""
    made = look.conclusion
    uncertain = replace(made, uncertainty=(*made.uncertainty, ONE_LOOK_STANDS))
    return replace(look, conclusion=uncertain)
