"""What the measurement of the graph reports: a row for each statement, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drift.local.evals.graph.synthetic import TENANTS

USUAL_SIZE = 10_000
"""Chunks that growth is counted from."""

OURS = ("primer", "followup")
READ = "read_"
"""How the names of what the read routes ask begin."""
LARGEST = next(iter(TENANTS))


@dataclass(frozen=True, slots=True)
class Row:
    """One statement asked of one tenant.

    `share` is the tenant's part of the database's chunks; times are milliseconds; `db_hits` is the
    median of profiled runs. `recall30` (0..1) is the mean part of what exact scoring ranks first
    that is found: the 30 nearest chunks; for the primer the three nearest chunks below each of its
    communities; for a statement that ranks communities, the five nearest of the highest level.
    `rows` and `trips` are medians of what came back and of statements sent. `error` holds the
    server's words where the statement fails.
    """

    chunks: int
    dims: int
    tenant: str
    share: float
    statement: str
    p50_ms: float | None = None
    p95_ms: float | None = None
    db_hits: int | None = None
    recall30: float | None = None
    rows: float | None = None
    trips: float | None = None
    runs: int = 0
    error: str | None = None


def ratios(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how ours grow with the size and how others compare, for the largest tenant.

    The keys are the numbers of dimensions.

    `growth_p95`: p95 at the largest size over p95 at 10,000 chunks, or at the smallest size where
    that was not asked.
    `others_p50`: p50 of each other statement over that of the follow-up at the largest size where
    it ran.
    """
    found = {}
    for dims in sorted({row.dims for row in rows}):
        own = [
            row
            for row in rows
            if row.dims == dims and row.tenant == LARGEST and row.p50_ms is not None
        ]
        found[str(dims)] = {"growth_p95": _growth(own), "others_p50": _others(own)}
    return found


def _growth(rows: Sequence[Row]) -> dict[str, float]:
    sizes = sorted({row.chunks for row in rows})
    base = USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    at = {(row.statement, row.chunks): row.p95_ms or 0.0 for row in rows}
    return {
        name: round(at[name, sizes[-1]] / at[name, base], 2)
        for name in OURS
        if at.get((name, base)) and (name, sizes[-1]) in at
    }


def _others(rows: Sequence[Row]) -> dict[str, float]:
    followups = {row.chunks: row.p50_ms for row in rows if row.statement == "followup"}
    largest: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: row.chunks):
        if (
            not row.statement.startswith((*OURS, READ))
            and row.p50_ms
            and (ours := followups.get(row.chunks))
        ):
            largest[row.statement] = round(row.p50_ms / ours, 2)
    return largest
