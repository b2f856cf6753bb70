"""Vectors in Milvus Lite beside Neo4j: how fast they are written and found, and the evidence.

`speed` wants no other server: rows are written one by one and in batches, and searched by our own
call, by a plain one without filter, and by FAISS alone. `evidence` puts the questions of `dev` and
of each `topic` to one ingested graph twice, with Milvus and with Neo4j's own vectors.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drift.graph import vector_copy
from drift.graph.graph import Neo4jGraph
from drift.graph.vector_copy import VectorCopy
from drift.http import settings, wiring
from drift.local.cli.console import say
from drift.local.evals import evidence_figures, recall
from drift.local.evals.evidence import measure_topic, read_topic
from drift.local.evals.measured_search import MeasuredSearch, open_search
from drift.local.evals.patience import Patience
from drift.local.evals.question_sets import read_question_sets
from drift.milvus.store import IndexType, MilvusStore
from drift.model.vectors import VectorRow
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of

DIMENSIONS, AT_ONCE, PATIENCE_S = 256, 1000, 120.0
SPACE = "embedding"


async def times(number: int, work: Callable[[int], Awaitable[Any]]) -> list[float]:
    """Return the seconds of each call, behind three that are not counted."""
    taken = []
    for place in range(-3, number):
        began = time.perf_counter()
        await work(place)
        taken.append(time.perf_counter() - began)
    return taken[3:]


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


async def evidence(asked: Options, file: Path) -> dict[str, Any]:
    """Return the figures of `ours` with both, over the same graph."""
    os.environ |= {"VECTOR_STORE": "milvus", "MILVUS_URI": str(file)}
    vector_copy.SEARCH_S = vector_copy.WRITE_S = PATIENCE_S  # so that it is the store that answers
    found: dict[str, Any] = {}
    patience = Patience(say)
    async with open_search(stack_of(asked), "wordllama", "milvus") as search:
        values = settings.load({"VECTOR_INDEX_DIMENSIONS": str(DIMENSIONS)})
        own = wiring.build_graph(values.model_copy(update={"vector_store": "neo4j"}))
        # The first run ingests; then the store, whose file is new, is brought in step.
        for name, one in (("neo4j", replace(search, soft=own, hard=own)), ("milvus", search)):
            if one is search:
                await _fill(search)
            if asked.dev:
                sets = read_question_sets(Path(asked.dev))
                pooled = recall.report(await recall.measure_sets(sets, one, patience, say))[
                    "pooled"
                ]
                found[f"recall {name}"] = pooled["methods"]["ours"]
            results = []
            for folder in filter(None, asked.topics.split(",")):
                topic = read_topic(Path(folder) / "documents", Path(folder) / "questions.jsonl")
                results += await measure_topic(topic, one, patience, say, ingested=one is search)
            if results:
                found[f"evidence {name}"] = evidence_figures.report(results)["methods"]["ours"]
        await own.close()
        return found | {"store_failed": _copy(search).breaker.problem}


async def _fill(search: MeasuredSearch) -> None:
    for project in await _copy(search).behind():
        say(f"{project}: {await _copy(search).mend(project)} rows written")
    assert not await _copy(search).behind()


def _copy(search: MeasuredSearch) -> VectorCopy:
    assert isinstance(search.soft, Neo4jGraph)
    assert search.soft.copy is not None
    return search.soft.copy


async def bench(asked: Options) -> None:
    """Show one line for each size, and one of the evidence."""
    with TemporaryDirectory() as folder:
        for nodes in asked.nodes if asked.what == "speed" else ():
            file = Path(folder) / f"{asked.index}{nodes}.db"
            show(await speed(asked.index, nodes, file), asked)
        if asked.what == "evidence":
            show(await evidence(asked, Path(folder) / "evidence.db"), asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            what=("speed", "what is measured", "speed", "evidence"),
            index=("IVF_FLAT", "which index", "IVF_FLAT", "HNSW"),
            nodes=((1000, 10_000, 100_000), "how many nodes"),
            dev=("", "a folder of question sets, as `drift eval recall` takes it"),
            topics=("", "folders with `documents` and `questions.jsonl`, commas between them"),
        ),
    )
