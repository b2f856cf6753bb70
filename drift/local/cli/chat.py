"""`drift chat`: a conversation in the terminal, with a project's documents or without."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    DEMO_PROJECT,
    CacheDir,
    DataDir,
    Neo4jVersion,
    Project,
    stack_options,
)
from drift.local.cli.run import run


def chat(
    project: Project = DEMO_PROJECT,
    rag: Annotated[
        bool,
        typer.Option("--rag", help="Answer from the project's documents, with references."),
    ] = False,
    depth: Annotated[
        str, typer.Option(help="How far to go with --rag: `quick`, `auto` or `drift`.")
    ] = "auto",
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
) -> None:
    """Talk in the terminal; the answer is shown while it is written.

    Without --rag the model is asked alone, so that one sees what the documents change. A question
    that needs the ones before it is first written out in full. /new forgets what was said, /help
    lists these commands, /quit or Ctrl-D ends.
    """
    if depth not in ("quick", "auto", "drift"):
        message = f"quick, auto or drift is expected, not {depth!r}"
        raise typer.BadParameter(message, param_hint="--depth")

    from drift.local.cli.work import chatting as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.chat(options, project if rag else None, depth))
