"""What a command does on a machine with more to do than it can: it waits, and says why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from drift.core.errors import DeadlineError, GraphUnavailableError, ModelUnavailableError
from drift.graph.connection import Connection

PATIENCE = 6.0
"""Times as long as the deployed function, a command's graph may take for what is asked of it."""
SLOW_FAILURES = (GraphUnavailableError, ModelUnavailableError, DeadlineError)
"""What a machine without time looks like, and a server that is gone."""

_MEASURED_S = 0.3
_SLOW_SHARE = 0.75
_CODES = frozenset(kind.code for kind in SLOW_FAILURES)


@contextmanager
def patient() -> Iterator[None]:
    """Wait longer for graphs, while the block runs."""
    before, Connection.patience = Connection.patience, PATIENCE
    try:
        yield
    finally:
        Connection.patience = before


def slowness() -> str:
    """Return a sentence where a process does not get the processor that it wants, else ""."""
    share = _share()
    if share > _SLOW_SHARE:
        return ""
    return (
        f"This machine is slow, which may be why: a process gets {share:.0%} of a processor. Try "
        "again when less runs beside this."
    )


def said_of_slowness(code: str, detail: str) -> str:
    """Return what went wrong, and that the machine is slow, where that may be why."""
    return " ".join(filter(None, (detail, slowness() if code in _CODES else "")))


def _share() -> float:
    """Return how much of a processor this thread gets, 0 to 1; it takes a moment of computing."""
    began, used = time.perf_counter(), time.thread_time()
    while (passed := time.perf_counter() - began) < _MEASURED_S:
        pass
    return (time.thread_time() - used) / passed
