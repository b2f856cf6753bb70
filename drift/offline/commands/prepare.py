"""`drift prepare`: makes the configured graph searchable, and says what it changed or would."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.offline.commands.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    DataDir,
    Json,
    Neo4jVersion,
    stack_options,
)
from drift.offline.commands.run import run


def prepare(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Cypher instead of running it.")
    ] = False,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait until the indexes are online.", min=0)
    ] = 600,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Make a graph searchable: project ids on its nodes, constraints, indexes.

    Say what was changed. Safe to repeat.

    A graph from elsewhere gets `project_id` from its IN_PROJECT edges, or labels with
    GRAPH_SCHEMA=v1. What forbids that is named before anything is changed.
    """
    from drift.offline.commands.work import prepare as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.prepare(options, dry_run=dry_run, wait_s=wait, as_json=as_json))
