"""`drift nodes index` and `drift reconcile`: vectors of people's own nodes."""

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
from drift.local.cli.run import run


def index(
    project: Project,
    label: Annotated[
        str,
        typer.Option(
            help="A label of RAG_LABELS that is not one of ingestion's.", callback=checked_text
        ),
    ],
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Take nodes that belong to no project into this one."),
    ] = False,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Make nodes that stand in the graph searchable: embed their title and description.

    A second run does only what is left.
    """
    from drift.local.cli.work import nodes as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.index(options, project, label, adopts=adopt, as_json=as_json))


def reconcile(
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="One project alone.", callback=checked_text),
    ] = None,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Say which nodes have no vector or one of another text or model, and embed them.

    It looks at the labels of RAG_LABELS that people's own nodes have, in every project that has
    such nodes.
    """
    from drift.local.cli.work import nodes as work

    run(work.reconcile(stack_options(version, data_dir, cache_dir), project, as_json=as_json))
