"""How long it takes to write a node over HTTP, with its embedding and beside it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from drift.core.errors import LocalStackError
from drift.local.evals.timing import percentile

PROJECT, LABEL = "bench-nodes", "BenchNode"
_SENTENCE = "It stands at berth {0} and is looked after by the harbour office. "


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """Milliseconds of one kind of write, from the request to the answer, one at a time."""

    case: str
    writes: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


async def measure_nodes(client: httpx2.AsyncClient, nodes: int) -> list[NodeTimes]:
    """Make so many nodes, write each again with another property, and remove them all.

    Raises:
        LocalStackError: the function refuses a write.
    """

    async def made(number: int) -> httpx2.Response:
        body = {"project_id": PROJECT, "label": LABEL, "id": str(number), **_node(number)}
        return await client.post("/api/nodes", json=body)

    async def written_again(number: int) -> httpx2.Response:
        return await client.put(_path(number), json=_node(number, checked=True))

    async def removed(number: int) -> httpx2.Response:
        return await client.delete(_path(number))

    cases: dict[str, Callable[[int], Awaitable[httpx2.Response]]] = {
        "made, with its embedding": made,
        "written again, its text the same": written_again,
        "removed": removed,
    }
    return [await _timed(case, write, nodes) for case, write in cases.items()]


def _node(number: int, **more: bool) -> dict[str, Any]:
    description = _SENTENCE.format(number) * 10
    return {"properties": {"name": f"Crane {number}", "description": description, **more}}


def _path(number: int) -> str:
    return f"/api/nodes/{number}?project_id={PROJECT}"


async def _timed(
    case: str, write: Callable[[int], Awaitable[httpx2.Response]], nodes: int
) -> NodeTimes:
    times = []
    for number in range(nodes):
        began = time.perf_counter()
        reply = await write(number)
        times.append(1000 * (time.perf_counter() - began))
        if reply.is_error:
            raise LocalStackError(f"A node was not {case} ({reply.status_code}): {reply.text}")
    p50, p95, p99 = (round(percentile(times, percent), 1) for percent in (50, 95, 99))
    return NodeTimes(case, nodes, p50, p95, p99)
