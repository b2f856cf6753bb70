"""`drift bench retrieval`: requests to the function's own route on the sample corpus."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    DEMO_QUESTION,
    CacheDir,
    DataDir,
    Json,
    Neo4jVersion,
    stack_options,
)
from drift.local.cli.run import run


def retrieval(
    question: Annotated[str, typer.Option("--question", "-q", help="What to ask.")] = DEMO_QUESTION,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure requests to the function's route on the sample corpus.

    Median and 95th percentile of 20.
    """
    from drift.local.cli.work import retrieval as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.retrieval(options, question, as_json=as_json))
