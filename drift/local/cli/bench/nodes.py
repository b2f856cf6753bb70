"""`drift bench nodes`: how long a node takes that is written over HTTP."""

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
    stack_options,
)
from drift.local.cli.run import run


def nodes(
    number: Annotated[int, typer.Option("--nodes", help="How many are written.", min=1)] = 500,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Write nodes over HTTP, one at a time, into a project of their own, and remove them again."""
    from drift.local.cli.work import nodes as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.bench(options, number, as_json=as_json))
