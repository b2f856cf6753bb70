"""`drift projects` and `drift remove`: what projects hold, and taking it out again."""

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
    Project,
    checked_text,
    stack_options,
)
from drift.local.cli.run import run, stoppable


def projects(
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """List the projects, and the sources that their documents come from."""
    from drift.local.cli.work import projects as work

    run(work.projects(stack_options(version, data_dir, cache_dir), as_json=as_json))


def remove(
    project: Project,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="A folder or file that was ingested; without it, all of them.",
            callback=checked_text,
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it; without it nothing is removed.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            help="Seconds to wait for another run over the project; 0 refuses at once.", min=0
        ),
    ] = 600,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Remove documents from a project, with all that was made of them.

    It says what it will remove, and removes it with --yes. Files stay as they are, and so do nodes
    of your own. Questions see the project as it was before until all of it is done.
    """
    from drift.local.cli.work import projects as work

    how = work.HowToRemove(source, yes=yes, wait_s=wait)
    options = stack_options(version, data_dir, cache_dir)
    run(stoppable(work.remove(options, project, how, as_json=as_json)))
