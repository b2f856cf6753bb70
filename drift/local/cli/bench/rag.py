"""`drift bench rag`: the search of nodes on the databases of `bench graph`."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.bench.graph import MAX_CHUNKS, MAX_DIMENSIONS
from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    DataDir,
    Json,
    Neo4jVersion,
    numbers,
    stack_options,
)
from drift.local.cli.run import run


def rag(
    chunks: Annotated[
        str, typer.Option(help="Sizes of the database, with commas between them.")
    ] = "1000,10000,100000",
    dims: Annotated[
        str, typer.Option(help="Lengths of the embeddings, with commas between them.")
    ] = "256,1536",
    repeat: Annotated[int, typer.Option(help="Runs of each statement that are timed.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Which random graph.", min=0)] = 1,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure the search of nodes, with the three most important nodes around each, and the sample
    of 2,000 pairs that a threshold is measured from, on the databases of `bench graph`.

    With --json as there: the rows `nodes`, whose `recall30` is the part of the five nearest chunks
    and communities that is found, and `nodes_sample`.
    """
    sizes = numbers(chunks, "--chunks", MAX_CHUNKS)
    lengths = numbers(dims, "--dims", MAX_DIMENSIONS)
    shapes = [(size, length) for length in lengths for size in sizes]

    from drift.local.cli.work import graph as work
    from drift.local.evals.graph.measure import Options

    options = stack_options(version, data_dir, cache_dir)
    asked = Options(repeat, seed, rivals=False, nodes_alone=True)
    run(work.graph(options, shapes, asked, as_json=as_json))
