"""`drift demo`: the sample corpus ingested and asked about, end to end on real servers."""

from __future__ import annotations

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    DEMO_QUESTION,
    CacheDir,
    DataDir,
    DemoQuestion,
    Json,
    Neo4jVersion,
    stack_options,
)
from drift.local.cli.run import run


def demo(
    question: DemoQuestion = DEMO_QUESTION,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Ingest the Python reference manual and answer a question about it, end to end on real
    servers.

    Succeeds only with a cited answer.
    """
    from drift.local.cli.work import demo as work

    options = stack_options(version, data_dir, cache_dir)
    cited = run(work.demo(options, question, as_json=as_json))
    if not cited:
        raise typer.Exit(1)
