"""How long a node takes that is written over HTTP, one at a time, with its embedding and beside it.

They stand in a project of their own, and are removed again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2

from drift.local.cli.servers import WITHOUT_KEYS
from tests.bench.command import (
    Options,
    answered,
    milliseconds,
    read_options,
    run,
    seconds_of,
    served,
    show,
    stack_of,
)

PROJECT, LABEL = "bench-nodes", "BenchNode"
SENTENCE = "It stands at berth {0} and is looked after by the harbour office. "


async def bench(asked: Options) -> None:
    """Make so many nodes, write each again with another property, and remove them all."""
    opened = {**WITHOUT_KEYS, "ENABLE_INDEXING": "true", "RAG_LABELS": LABEL}
    async with served(stack_of(asked), opened) as (client, _):
        cases: dict[str, Callable[[int], Awaitable[httpx2.Response]]] = {
            "made, with its embedding": lambda number: client.post(
                "/api/nodes",
                json={"project_id": PROJECT, "label": LABEL, "id": str(number), **node(number)},
            ),
            "written again, its text the same": lambda number: client.put(
                path(number), json=node(number, checked=True)
            ),
            "removed": lambda number: client.delete(path(number)),
        }
        for case, write in cases.items():
            seconds = [await seconds_of(answered(write(n))) for n in range(asked.nodes)]
            show({"case": case, "writes": asked.nodes, **milliseconds(seconds)}, asked)


def node(number: int, **more: bool) -> dict[str, Any]:
    description = SENTENCE.format(number) * 10
    return {"properties": {"name": f"Crane {number}", "description": description, **more}}


def path(number: int) -> str:
    return f"/api/nodes/{number}?project_id={PROJECT}"


if __name__ == "__main__":
    run(bench, read_options(__doc__, servers=True, nodes=(500, "how many are written")))
