"""How fast files become chunks with vectors: in this process, and on one and more workers.

Reading, cutting and embedding by the local model, without a graph; all make the same records.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from distributed.deploy.subprocess import SubprocessCluster

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.graph.writing.records import DocumentBatch, ProjectState
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.reading_process import ReadingProcess
from drift.indexing.records import RULES, batches
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder, _embed
from drift.local.ingest import scheduling
from drift.local.ingest.by_model.asking import Asked
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.scheduling import InProcess, Stages, Work, ahead, workers
from drift.local.ingest.sources import Source, read_source
from drift.model.calls import ChatReply, Embeddings, Prompt
from tests.bench.command import Options, read_options, run, show

ONE_THREAD = {
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
"""A worker is one thread, and Dask takes no samples of it."""


class NoChat:
    """A chat model that nobody asks."""

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        raise NotImplementedError


def models() -> tuple[Asked, LocalEmbedder]:
    return NoChat(), LocalEmbedder()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Stages and an embedder of any engine that takes a function with its arguments."""

    submit: Callable[..., Awaitable[Any]]
    at_once: int
    texts_a_call: int = scheduling.TEXTS_A_BATCH

    async def read(self, batch: Sequence[Work]) -> list[Any]:
        sent = await asyncio.to_thread(lambda: [scheduling._with_content(work) for work in batch])
        read: list[Any] = await self.submit(scheduling._read, RULES, sent)
        return read

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        del deadline
        return Embeddings(await self.submit(_embed, texts))


@asynccontextmanager
async def engine(name: str, number: int) -> AsyncIterator[tuple[Stages, Any]]:
    """Yield the stages and the embedder of so many workers."""
    at_once = scheduling.BATCHES_A_THREAD * number
    with ExitStack() as stack:
        if name == "here":
            process = stack.enter_context(ReadingProcess())
            yield InProcess(process.guarded), LocalEmbedder()
        elif name == "dask":
            cluster = stack.enter_context(SubprocessCluster(n_workers=number, threads_per_worker=1))
            await asyncio.to_thread(cluster.wait_for_workers, number)
            async with workers(cluster.scheduler_address, models) as both:
                yield both, both
        elif name == "processes":
            pool = stack.enter_context(ProcessPoolExecutor(number, get_context("spawn")))
            loop = asyncio.get_running_loop()
            there = Elsewhere(lambda *given: loop.run_in_executor(pool, *given), at_once)
            yield there, there
        elif name == "ray":
            import ray  # noqa: PLC0415 - measured once, and no part of the extras

            ray.init(num_cpus=number, include_dashboard=False, log_to_driver=False)
            stack.callback(ray.shutdown)
            call = ray.remote(lambda work, *given: work(*given))
            there = Elsewhere(call.remote, at_once)
            yield there, there


async def records(source: Source, stages: Stages, embedder: Any) -> list[DocumentBatch]:
    """Return what a first run would write."""
    state = ProjectState({}, "")
    changes = SourceChanges(source, "bench", "local/256", stages=stages)
    embed = BatchEmbedder(embedder, DIMENSIONS, stages.at_once, stages.texts_a_call).embed_chunks
    async with (
        aclosing(changes.compare(state, await changes.identity(state))) as changed,
        aclosing(ahead(batches(changed), embed, stages.at_once)) as made,
    ):
        return [batch async for batch in made]


async def bench(asked: Options) -> None:
    """Measure each engine with each number of workers, the best of some runs."""
    os.environ.update(ONE_THREAD)
    sources = [read_source(folder) for folder in asked.folder]
    files = sum(len(source.documents) for source in sources)
    first: list[DocumentBatch] = []
    for name, number in chain([("here", 1)], ((asked.engine, n) for n in asked.workers)):
        seconds = []
        async with engine(name, number) as (stages, embedder):
            for _ in range(asked.repeat + 1):  # the first loads the model
                began = time.perf_counter()
                made = [b for one in sources for b in await records(one, stages, embedder)]
                seconds.append(time.perf_counter() - began)
        first = first or made
        if made != first:
            raise LocalStackError(f"{number} workers of {name} made other records.")
        chunks, best = sum(len(batch.chunks) for batch in made), min(seconds[1:])
        row = {"engine": name, "workers": number, "files": files, "chunks": chunks}
        rates = {"files_s": round(files / best, 1), "chunks_s": round(chunks / best)}
        show({**row, "seconds": round(best, 2), **rates, "load": os.getloadavg()[0]}, asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            folder=([Path], "a folder of documents"),
            engine=("dask", "what the workers are", ("dask", "processes", "ray")),
            workers=((1, 2), "how many of them"),
            repeat=(3, "runs of each, of which the best counts"),
        ),
    )
