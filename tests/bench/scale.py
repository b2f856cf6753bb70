"""How fast files become chunks with vectors: in this process, and on Dask's workers.

Reading, cutting and embedding by the local model, without a graph; all make the same records.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from distributed.deploy.subprocess import SubprocessCluster

from drift.core.deadline import Deadline
from drift.core.errors import LocalStackError
from drift.graph.writing.records import DocumentBatch, ProjectState
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.reading_process import ReadingProcess
from drift.indexing.records import batches
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.local.ingest.by_model.asking import Asked
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.scheduling import InProcess, Stages, ahead, workers
from drift.local.ingest.sources import Source, read_source
from drift.model.calls import ChatReply, Prompt
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


@asynccontextmanager
async def engine(number: int) -> AsyncIterator[tuple[Stages, Any]]:
    """Yield the stages and the embedder of so many workers; of none in this process."""
    with ExitStack() as stack:
        if not number:
            process = stack.enter_context(ReadingProcess())
            yield InProcess(process.guarded), LocalEmbedder()
            return

        cluster = stack.enter_context(SubprocessCluster(n_workers=number, threads_per_worker=1))
        await asyncio.to_thread(cluster.wait_for_workers, number)
        async with workers(cluster.scheduler_address, models) as both:
            yield both, both


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
    """Measure this process and each number of workers, the best of some runs."""
    os.environ.update(ONE_THREAD)
    sources = [read_source(folder) for folder in asked.folder]
    files = sum(len(source.documents) for source in sources)
    first: list[DocumentBatch] = []
    for number in (0, *asked.workers):
        seconds = []
        async with engine(number) as (stages, embedder):
            for _ in range(asked.repeat + 1):  # the first loads the model
                began = time.perf_counter()
                made = [b for one in sources for b in await records(one, stages, embedder)]
                seconds.append(time.perf_counter() - began)
        first = first or made
        if made != first:
            raise LocalStackError(f"{number} workers made other records.")
        chunks, best = sum(len(batch.chunks) for batch in made), min(seconds[1:])
        place = {"engine": "dask" if number else "here", "workers": number or 1}
        row = {**place, "files": files, "chunks": chunks}
        rates = {"files_s": round(files / best, 1), "chunks_s": round(chunks / best)}
        show({**row, "seconds": round(best, 2), **rates, "load": os.getloadavg()[0]}, asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            folder=([Path], "a folder of documents"),
            workers=((1, 2), "how many of them"),
            repeat=(3, "runs of each, of which the best counts"),
        ),
    )
