"""How long a node takes that is written over HTTP, one at a time, with its embedding and beside it.

They stand in a project of their own, and are removed again.
"""

from __future__ import annotations

from typing import Any

import httpx2

from drift.local.cli.servers import WITHOUT_KEYS, running
from drift.local.hosts.local_host import serving
from tests.bench.command import (
    Options,
    milliseconds,
    read_options,
    run,
    show,
    stack_of,
    timed_write,
)

PROJECT, LABEL = "bench-nodes", "BenchNode"
SENTENCE = "It stands at berth {0} and is looked after by the harbour office. "


async def bench(asked: Options) -> None:
    """Make so many nodes, write each again with another property, and remove them all."""
    opened = {**WITHOUT_KEYS, "ENABLE_INDEXING": "true", "RAG_LABELS": LABEL}
    async with (
        running(stack_of(asked), opened),
        serving() as url,
        httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):

        async def make(number: int) -> httpx2.Response:
            body = {"project_id": PROJECT, "label": LABEL, "id": str(number), **node(number)}
            return await client.post("/api/nodes", json=body)

        async def write_again(number: int) -> httpx2.Response:
            return await client.put(path(number), json=node(number, checked=True))

        async def remove(number: int) -> httpx2.Response:
            return await client.delete(path(number))

        cases = {
            "made, with its embedding": make,
            "written again, its text the same": write_again,
            "removed": remove,
        }
        for case, write in cases.items():
            times = milliseconds(
                [await timed_write("node", case, write, n) for n in range(asked.nodes)]
            )
            show({"case": case, "writes": asked.nodes, **times}, asked)


def node(number: int, **more: bool) -> dict[str, Any]:
    description = SENTENCE.format(number) * 10
    return {"properties": {"name": f"Crane {number}", "description": description, **more}}


def path(number: int) -> str:
    return f"/api/nodes/{number}?project_id={PROJECT}"


if __name__ == "__main__":
    run(bench, read_options(__doc__, servers=True, nodes=(500, "how many are written")))
