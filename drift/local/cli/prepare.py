"""`drift prepare`: makes the configured graph searchable, and says what it changed or would."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    DataDir,
    Json,
    MaybeProject,
    Neo4jVersion,
    stack_options,
)
from drift.local.cli.run import run


def prepare(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Cypher instead of running it.")
    ] = False,
    project: MaybeProject = None,
    embed: Annotated[
        bool,
        typer.Option(
            "--embed", help="Embed chunks and communities of --project that have no embedding."
        ),
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

    Say what was changed. Safe to repeat. Exit code 1 says that a problem is named, or that nothing
    can be asked.

    A graph from elsewhere gets `project_id` from its IN_PROJECT edges, or labels with
    GRAPH_SCHEMA=v1. What forbids that is named before anything is changed.

    With --embed, chunks and communities of --project that lack an embedding get one from the
    configured model, and a sample of the communities' vectors is compared with their summaries.
    """
    if embed and project is None:
        raise typer.BadParameter("wants --project as well", param_hint="--embed")
    from drift.local.cli.work import prepare as work

    options = stack_options(version, data_dir, cache_dir)
    how = work.HowToPrepare(project, embed=embed, dry_run=dry_run, wait_s=wait)
    if not run(work.prepare(options, how, as_json=as_json)):
        raise typer.Exit(1)
