"""`drift bench graph`: a database for each size and length, the measurement, and the table."""

from __future__ import annotations

from typing import Annotated

import typer

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

MAX_CHUNKS = 1_000_000
MAX_DIMENSIONS = 4096


def graph(
    chunks: Annotated[
        str, typer.Option(help="Sizes of the database, with commas between them.")
    ] = "1000,10000,100000",
    dims: Annotated[
        str, typer.Option(help="Lengths of the embeddings, with commas between them.")
    ] = "256,1536",
    repeat: Annotated[int, typer.Option(help="Runs of each statement that are timed.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Which random graph.", min=0)] = 1,
    others: Annotated[bool, typer.Option(help="Ask the statements of others as well.")] = True,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure the graph's two statements and those of the read routes on synthetic projects,
    beside other designs and neo4j-graphrag.

    Each database holds three tenants with 90, 8 and 2 % of the chunks; a second run loads nothing.
    With --json: `server`, `cores`, `rows` (one a size, length, tenant and statement: `p50_ms`,
    `p95_ms`, `db_hits`, `recall30` against exact scoring, `rows`, `trips`, and `error` where the
    statement fails; `read_...` are those of the read routes; `followup_exact` and
    `followup_indexed` are ours with all chunks scored and with the index alone) and `ratios` (by
    length: `growth_p95` of ours, `others_p50` over the follow-up's). NEO4J_URI, when set, must name
    a database whose vector indexes have the one length of --dims, or none.
    """
    sizes = numbers(chunks, "--chunks", MAX_CHUNKS)
    lengths = numbers(dims, "--dims", MAX_DIMENSIONS)
    shapes = [(size, length) for length in lengths for size in sizes]

    from drift.local.cli.work import graph as work
    from drift.local.evals.graph.measure import Options

    options = stack_options(version, data_dir, cache_dir)
    run(work.graph(options, shapes, Options(repeat, seed, others), as_json=as_json))
