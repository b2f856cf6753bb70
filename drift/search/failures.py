"""What a failure costs, and when a request fails with it."""

from __future__ import annotations

from collections.abc import Sequence

from drift.core.deadline import Deadline
from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.model.tree import ANSWERED, SKIPPED_DEADLINE, FollowupState

LOSES_ONLY_THE_STEP = (
    UnusableReplyError,
    ModelUnavailableError,
    ModelMisconfiguredError,
    GraphUnavailableError,
    GraphMisconfiguredError,
)
"""Errors that cost one follow-up alone: what the others have answered is kept."""

WORST_FIRST = (ModelMisconfiguredError, GraphMisconfiguredError, GraphUnavailableError)
"""Failures that the request fails with when nothing was answered: first what an operator must
change, then what cannot be reached."""


def require_any(
    states: Sequence[FollowupState], failures: Sequence[DriftError], deadline: Deadline
) -> None:
    """Fail when no follow-up was answered and a failure or the deadline is the cause.

    Raises:
        UpstreamError: then there is nothing checked to answer from.
    """
    if ANSWERED in states:
        return

    for kind in WORST_FIRST:
        if failure := next((f for f in failures if isinstance(f, kind)), None):
            raise failure

    if failures:
        raise ModelUnavailableError(
            "The model did not answer any follow-up question."
        ) from failures[0]

    if SKIPPED_DEADLINE in states:
        raise deadline.error()
