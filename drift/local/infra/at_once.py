"""What a deployment answers at once, beside what the graph and the chat model let through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.graph.connection import POOL_SIZE
from drift.local.infra.finding import Finding
from drift.local.infra.model_rules import tokens_a_request
from drift.model.limits import Limits

THREADS = 400
"""Statements that Neo4j works on at once, by its default; AuraDB publishes no limit of its own."""
_HEAD = "| instances | requests at once | connections | requests a minute | `CHAT_CAPACITY` |"


def at_once(values: Mapping[str, Any]) -> Finding:
    """Return what all instances of a deployment take, as a note where that is beyond the graph."""
    instances, each = values.get("maximumInstanceCount", 0), values.get("httpConcurrency", 0)
    requests, connections, _, thousands = _taken(instances, each)
    text = (
        f"{instances} instances answer {requests:,} requests at once, over up to {connections:,} "
        f"connections. Neo4j works on {THREADS} statements at once unless set otherwise, and "
        f"AuraDB publishes no limit. All busy, they take CHAT_CAPACITY={thousands} (docs/scale.md)"
    )
    return Finding("at once", "note" if requests > THREADS else "ok", text)


def table() -> str:
    """Return the table of docs/scale.md."""
    rows = [(count, *_taken(count, 8)) for count in (1, 2, 5, 10, 20, 40, 100)]
    lines = ["| " + " | ".join(f"{figure:,}" for figure in row) + " |" for row in rows]
    return "\n".join([_HEAD, "|---|---|---|---|---|", *lines])


def _taken(instances: int, each: int) -> tuple[int, int, int, int]:
    """Return requests at once, connections, requests a minute and their thousands of tokens."""
    limits, requests = Limits(), instances * each
    a_minute = 3 * requests  # of 20 seconds each
    tokens = tokens_a_request(limits.max_followups, limits.max_chunks_for_prompt)
    return requests, instances * POOL_SIZE, a_minute, a_minute * tokens // 1000
