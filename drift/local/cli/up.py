"""`drift up`: the local servers, and the environment that leads to them."""

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
from drift.local.cli.run import run, until_stopped


def up(
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Open Neo4j's own Browser as well, to look at the graph."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local servers and print the environment they provide; Ctrl-C ends them.

    Neo4j, Valkey and the model server run on loopback, for all commands in this folder, and end
    with the last of them.
    """
    from drift.local.cli.work import up as work

    options = stack_options(version, data_dir, cache_dir)
    run(until_stopped(work.up(options, browser=browser, as_json=as_json)))
