"""Vectors in Milvus Lite: how fast they are written and found, without another server.

Rows are written one by one and in batches, and searched by our own call and by a plain one without
filter. `drift eval` measures the evidence, with VECTOR_STORE=milvus.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drift.milvus.store import IndexType, MilvusStore
from drift.model.vectors import VectorRow
from tests.bench.command import Options, milliseconds, read_options, run, seconds_of, show

DIMENSIONS, AT_ONCE, PATIENCE_S = 256, 1000, 120.0
SPACE = "embedding"


async def times(number: int, work: Callable[[int], Awaitable[Any]]) -> list[float]:
    """Return the seconds of each call, behind three that are not counted."""
    return [await seconds_of(work(place)) for place in range(-3, number)][3:]


async def speed(index: IndexType, nodes: int, file: Path) -> dict[str, Any]:
    """Return how one project of so many nodes is written and searched; a tenth is another's."""
    store = MilvusStore(str(file), "", "graph_nodes", index, DIMENSIONS)
    random = np.random.default_rng(1)
    centres = random.normal(size=(200, DIMENSIONS))
    points = centres[random.integers(0, 200, nodes)] + 0.7 * random.normal(size=(nodes, DIMENSIONS))
    points /= np.linalg.norm(points, axis=1, keepdims=True)

    def row(place: int, project: str = "mine") -> VectorRow:
        text = "words of a chunk " * 40
        return VectorRow(project, "Chunk", "Chunk", f"c{place}", text, points[place].tolist())

    await store.check(SPACE, PATIENCE_S)
    began = time.perf_counter()
    for begin in range(0, nodes, AT_ONCE):
        part = [row(place) for place in range(begin, min(nodes, begin + AT_ONCE))]
        await store.upsert(SPACE, part, PATIENCE_S)
    batches_s = time.perf_counter() - began
    singly = await times(50, lambda n: store.upsert(SPACE, [row(n, "other")], PATIENCE_S))
    client = store._client
    await asyncio.to_thread(client.flush, "graph_nodes")
    await asyncio.sleep(nodes / 5000)  # the index is built in the background

    answers: list[tuple[list[float], set[str]]] = []

    def question(place: int) -> list[float]:
        return (points[place * 7 % nodes] + 0.02 * random.normal(size=DIMENSIONS)).tolist()

    async def ours(place: int) -> None:
        asked = question(place)
        found = await store.search(SPACE, "mine", asked, ["Chunk"], 100, PATIENCE_S)
        answers.append((asked, {id_ for _, id_ in found}))

    async def plain(place: int) -> None:
        params = {"metric_type": "COSINE", "params": {"nprobe": 64, "ef": 200}}
        values = {"data": [question(place)], "limit": 100, "search_params": params}
        await asyncio.to_thread(client.search, "graph_nodes", anns_field="vector", **values)

    found, alone = await times(40, ours), await times(20, plain)
    right = [
        len({f"c{one}" for one in np.argsort(-(points @ np.array(asked)))[:20]} & ids) / 20
        for asked, ids in answers
    ]
    began = time.perf_counter()
    listed = len(await store.digests(SPACE, "mine", PATIENCE_S))
    listed_s = time.perf_counter() - began
    await store.close()
    return {
        "index": index,
        "nodes": nodes,
        "rows_a_second": round(nodes / batches_s),
        "singly_a_second": round(len(singly) / sum(singly)),
        "search": milliseconds(found, (50, 95)),
        "without_filter": milliseconds(alone, (50, 95)),
        "recall_of_20": round(100 * float(np.mean(right)), 1),
        "listed": listed,
        "listed_s": round(listed_s, 2),
    }


async def bench(asked: Options) -> None:
    """Show one line for each size."""
    with TemporaryDirectory() as folder:
        for nodes in asked.nodes:
            file = Path(folder) / f"{asked.index}{nodes}.db"
            show(await speed(asked.index, nodes, file), asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            index=("IVF_FLAT", "which index", "IVF_FLAT", "HNSW"),
            nodes=((1000, 10_000, 100_000), "how many nodes"),
        ),
    )
