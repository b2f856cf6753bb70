"""How much room chunks take in Neo4j on disk, and how much of its time to write them.

Real chunks of a folder with vectors of chance, written as an ingestion does, into a database of its
own: --data-dir must be new. The files are counted while the server is stopped.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import chain, cycle
from pathlib import Path

import numpy as np
import psutil

from drift.graph.indexes import IndexNames
from drift.graph.writing.records import DocumentBatch
from drift.indexing.records import batches
from drift.local.ingest.changes import read_chunks
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.scheduling import InProcess, read_all
from drift.local.ingest.sources import read_source
from drift.local.stack.stack import Stack
from tests.bench.command import Options, read_options, run, show, stack_of
from tests.bench.graph import MEMORY, UNUSED

KINDS = {
    "vector": "index/vector",
    "full text": "index/fulltext",
    "texts": ".strings",
    "arrays": ".arrays",
}


async def documents(folder: Path) -> list[DocumentBatch]:
    source = read_source(folder)
    works = [
        (one, partial(read_chunks, project_id="p", name=one.id, owner="bench", key=one.id))
        for one in source.documents
    ]
    async with aclosing(read_all(InProcess(), works)) as read:
        return [DocumentBatch((one[0],), one[1]) async for one in read if isinstance(one, tuple)]


def endless(read: list[DocumentBatch], dims: int) -> Iterator[DocumentBatch]:
    """Yield the documents again and again, each time under other ids and with other vectors."""
    chance = np.random.default_rng(1)
    for round_, batch in enumerate(chain.from_iterable(cycle([read]))):
        mark = f"{round_ // len(read)}/"
        document = replace(batch.documents[0], id=mark + batch.documents[0].id)
        vectors = chance.standard_normal((len(batch.chunks), dims), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        placed = zip(batch.chunks, vectors.tolist(), strict=True)
        yield DocumentBatch(
            (document,),
            tuple(
                replace(c, id=mark + c.id, document_id=document.id, embedding=tuple(v))
                for c, v in placed
            ),
        )


async def bench(asked: Options) -> None:
    """Write up to each number of chunks, and count after each."""
    options = replace(stack_of(asked), neo4j_memory=MEMORY, given=UNUSED)
    new = endless(await documents(asked.folder), asked.dims)
    written, project = 0, 0
    for wanted in asked.chunks:
        async with Stack(options) as stack:
            login = "neo4j", stack.env["NEO4J_PASSWORD"], "neo4j"
            writer = Neo4jWriter.connect(stack.env["NEO4J_URI"], *login, names=IndexNames())
            await writer.prepare(asked.dims)
            server = psutil.Process(stack.pids["neo4j"])
            began, used, first = time.perf_counter(), sum(server.cpu_times()[:2]), written
            while written < wanted:
                project += 1
                async with writer.writing(f"p{project}") as held:
                    async for batch in batches(_some(new, min(asked.a_project, wanted - written))):
                        await held.write_documents(batch)
                        written += len(batch.chunks)
            row = {
                "chunks": written,
                "chunks_s": round((written - first) / (time.perf_counter() - began)),
                "server_ms_a_chunk": round(
                    1000 * (sum(server.cpu_times()[:2]) - used) / (written - first), 2
                ),
            }
            await writer.close()
        show(row | room(options.data_dir), asked)


async def _some(new: Iterator[DocumentBatch], chunks: int) -> AsyncIterator[DocumentBatch]:
    while chunks > 0:
        batch = next(new)
        chunks -= len(batch.chunks)
        yield batch


def room(data_dir: Path) -> dict[str, int]:
    """Return the kilobytes of the database's files by kind."""
    sizes = dict.fromkeys((*KINDS, "other"), 0)
    for path in data_dir.glob("neo4j-*/data/databases/neo4j/**/*"):
        if path.is_file():
            kind = next((kind for kind, part in KINDS.items() if part in str(path)), "other")
            sizes[kind] += path.stat().st_size // 1024
    return sizes


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            folder=(Path, "a folder of documents"),
            chunks=((5000, 25000), "chunks after which the files are counted"),
            dims=(1536, "floats of a vector"),
            a_project=(10000, "chunks of a project"),
        ),
    )
