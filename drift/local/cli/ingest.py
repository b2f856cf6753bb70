"""`drift ingest`: documents into a project's graph."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli import options
from drift.local.cli.run import run, stoppable


def ingest(
    source: options.DocumentSource = None,
    project: options.ProjectToWrite = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Ingest the Python reference manual instead.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write all documents and their knowledge anew, changed or not."
        ),
    ] = False,
    source_uri: Annotated[
        str,
        typer.Option(
            "--source-uri",
            help="Address of the folder, such as https://docs.example.com/manual: citations show "
            "it with each document's path behind it.",
        ),
    ] = "",
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Take out of the project what an emptied or removed folder or file held.",
        ),
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            help="Seconds to wait for another run over the project; 0 refuses at once.", min=0
        ),
    ] = 600,
    version: options.Neo4jVersion = options.DEFAULT_VERSION,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    cache_dir: options.CacheDir = None,
    as_json: options.Json = False,
) -> None:
    """Ingest documents into a project's graph.

    Chunks, entities, relations, communities, summaries, embeddings.

    A second run changes nothing; a changed file replaces only its own chunks. Only one run writes a
    project at a time, and questions see whole documents meanwhile, and the earlier knowledge until
    the new one is complete.
    """
    if (source is None) != sample:
        raise typer.BadParameter("give either a folder or file, or --sample")
    if project is None and not sample:
        raise typer.BadParameter("say which project the documents belong to: --project NAME")
    if sample and source_uri:
        raise typer.BadParameter("goes with a folder or file of yours", param_hint="--source-uri")
    project = _checked(options.DEMO_PROJECT if project is None else project)
    _check_address(source_uri)

    from drift.local.cli.work import ingestion as work

    how = work.HowToIngest(force, wait, source_uri, yes=yes)
    stack_options = options.stack_options(version, data_dir, cache_dir)
    run(stoppable(work.ingest(stack_options, source, project, how, as_json=as_json)))


def _checked(project: str) -> str:
    from drift.contracts.request import project_id_problem

    if problem := project_id_problem(project):
        raise typer.BadParameter(f"{problem}, as in every request", param_hint="--project")
    return project


def _check_address(prefix: str) -> None:
    from drift.core.source_uri import WANTED, is_shown

    if prefix and (not is_shown(prefix) or {"?", "#"} & set(prefix)):
        raise typer.BadParameter(
            f"has to be {WANTED}, without a password, a query or a fragment",
            param_hint="--source-uri",
        )
