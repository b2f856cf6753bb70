"""`drift ingest`: documents into a project's graph."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say
from drift.local.cli.run import command, stoppable
from drift.local.ingest.by_model import Tier

if TYPE_CHECKING:
    from drift.local.ingest.sources import Source
    from drift.local.stack.stack import StackOptions


@command(stoppable)
async def ingest(
    stack_options: StackOptions,
    source: Annotated[
        Path | None,
        typer.Argument(
            help="A folder or a file: Markdown, reStructuredText, text, HTML.",
            metavar="SOURCE",
            parser=options.checked_path,
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            help="The project's id; wanted with a folder or file.",
            callback=options.checked_text,
        ),
    ] = None,
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
            "--yes", help="Take out of the project what an emptied or removed folder or file held."
        ),
    ] = False,
    knowledge: Annotated[
        Tier | None,
        typer.Option(
            help="What the chat model writes: nothing, reports on topics, or also entities and "
            "relations (graph). By default reports, once the estimate is confirmed.",
            show_default=False,
        ),
    ] = None,
    knowledge_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The most tokens that the chat model may take in this run, prompts and replies.",
            min=0,
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would change and what the chat model would take, no more."
        ),
    ] = False,
    wait: options.Wait = 600,
    as_json: options.Json = False,
) -> None:
    """Ingest documents into a project's graph.

    Chunks, topics with their summaries, embeddings; with --knowledge what a chat model writes.

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

    project = options.DEMO_PROJECT if project is None else project
    _check(project, source_uri)

    from drift.local.cli.work.ingestion import (
        as_document,
        ingest_documents,
        left_out,
        require_default_schema,
    )
    from drift.local.cli.work.knowledge import confirmed, plan, wanted_knowledge
    from drift.local.cli.work.sample import sample_sources
    from drift.local.cli.work.servers import recommend_up, running
    from drift.local.ingest.reading_process import ReadingProcess
    from drift.local.ingest.sources import read_source

    with ReadingProcess() as process:

        def read() -> Source:
            if source is None:
                return sample_sources()
            return read_source(source, source_uri, may_be_empty=yes, guard=process.guarded)

        documents = await asyncio.to_thread(read)
        for line in left_out(documents):
            say(line)

        async with running(stack_options) as (stack, values):
            require_default_schema(values, "ingest")
            by_model = wanted_knowledge(values, knowledge, knowledge_tokens)
            if dry_run:
                planned = await plan(values, documents, project, by_model, process.guarded)
            else:
                if by_model and knowledge is None and knowledge_tokens is None:
                    by_model = await confirmed(
                        values, documents, project, by_model, process.guarded
                    )
                report = await ingest_documents(
                    values,
                    documents,
                    project,
                    force=force,
                    wait_s=wait,
                    again=read,
                    guard=process.guarded,
                    by_model=by_model,
                )
            recommend_up(stack)

    if as_json:
        print_json(planned if dry_run else as_document(report))


def _check(project: str, prefix: str) -> None:
    from drift.contracts.request import project_id_problem
    from drift.core.source_uri import WANTED, is_shown

    if problem := project_id_problem(project):
        raise typer.BadParameter(f"{problem}, as in every request", param_hint="--project")

    if prefix and (not is_shown(prefix) or {"?", "#"} & set(prefix)):
        raise typer.BadParameter(
            f"has to be {WANTED}, without a password, a query or a fragment",
            param_hint="--source-uri",
        )
