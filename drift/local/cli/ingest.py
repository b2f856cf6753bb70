"""`drift ingest`: documents into a project's graph."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say
from drift.local.cli.run import command, stoppable
from drift.local.ingest.by_model import Tier
from drift.local.ingest.places import REMOTE

if TYPE_CHECKING:
    from drift.local.ingest.sources import Source
    from drift.local.stack.stack import StackOptions


@command(stoppable)
async def ingest(  # noqa: C901 - a branch for each kind of source
    stack_options: StackOptions,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders or files: text, HTML, PDF, Word, slides, workbooks, CSV, notebooks, "
            "source code. Or blobs of Azure: az://ACCOUNT/CONTAINER[/PREFIX].",
            metavar="[PATH]...",
            parser=options.checked_source,
            show_default=False,
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed",
            help="The first PATH is a folder, and the others the files in it that were changed, "
            "added or removed, as after a merge; - reads their names from standard input, one a "
            "line or with NUL bytes between them.",
        ),
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            help="The project's id; wanted with a PATH.",
            callback=options.checked_text,
        ),
    ] = None,
    graphrag: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The output of Microsoft GraphRAG, in the place of SOURCE: its texts, entities, "
            "relations and communities, as they are.",
            show_default=False,
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
            help="Address of the one PATH, such as https://docs.example.com/manual: citations show "
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
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler, such as tcp://host:8786, whose workers read the files and call "
            "the models.",
            show_default=False,
        ),
    ] = None,
    calls_a_minute: Annotated[
        int,
        typer.Option(metavar="N", help="The most calls of models a minute; 0 for any.", min=0),
    ] = 0,
    tokens_a_minute: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="The most tokens that models are given and reply a minute; 0 for any.",
            min=0,
        ),
    ] = 0,
    wait: options.Wait = 600,
    as_json: options.Json = False,
) -> None:
    """Ingest documents into a project's graph.

    Chunks, topics with their summaries, embeddings; with --knowledge what a chat model writes.

    A second run changes nothing; a changed file replaces only its own chunks. Only one run writes a
    project at a time, and questions see whole documents meanwhile, and the earlier knowledge until
    the new one is complete.
    """
    paths = list(dict.fromkeys(paths or []))
    by_hand = knowledge is not None or knowledge_tokens is not None
    if graphrag is not None and (
        paths or sample or scheduler or source_uri or dry_run or yes or by_hand
    ):
        raise typer.BadParameter(
            "goes with --project, --force, --wait and the calls and tokens a minute alone",
            param_hint="--graphrag",
        )
    if knowledge == "none" and knowledge_tokens is not None:
        raise typer.BadParameter("goes with reports or graph", param_hint="--knowledge-tokens")
    given = paths if graphrag is None else [str(graphrag)]
    _check_usage(given, sample=sample, changed=changed, project=project, uri=source_uri, yes=yes)
    project = options.DEMO_PROJECT if project is None else project
    _check(project, source_uri)
    if graphrag is not None:
        from drift.local.cli.work.importing import import_graphrag

        pace = calls_a_minute, tokens_a_minute
        document = await import_graphrag(stack_options, graphrag, project, force, wait, pace)
        if as_json:
            print_json(document)
        return

    from drift.http.settings import load_reading
    from drift.indexing.reading_process import ReadingProcess
    from drift.local.cli.work.ingestion import (
        as_document,
        ingest_documents,
        left_out,
        require_default_schema,
    )
    from drift.local.cli.work.knowledge import confirmed, plan, wanted_knowledge
    from drift.local.cli.work.placing import placed
    from drift.local.cli.work.sample import sample_sources
    from drift.local.cli.work.servers import recommend_up, running
    from drift.local.ingest.blobs import read_container
    from drift.local.ingest.sources import read_changed, read_source

    names = _named(paths[1:]) if changed else []
    with ReadingProcess(load_reading().reading_memory_mb) as process:

        def read(path: str) -> Source:
            if sample:
                return sample_sources()
            if path.startswith(REMOTE):
                return read_container(path, source_uri, may_be_empty=yes)
            if changed:
                return read_changed(Path(path), names, source_uri, guard=process.guarded)
            return read_source(Path(path), source_uri, may_be_empty=yes, guard=process.guarded)

        places = paths[:1] if changed else paths or [""]
        sources = {path: await asyncio.to_thread(read, path) for path in places}
        for line in chain.from_iterable(map(left_out, sources.values())):
            say(line)

        async with (
            running(stack_options) as (stack, values),
            placed(values, process.guarded, scheduler, calls_a_minute, tokens_a_minute) as place,
        ):
            require_default_schema(values, "ingest")
            by_model = wanted_knowledge(place, knowledge, knowledge_tokens)
            every = [*sources.values()]
            if not dry_run and by_model and knowledge is None and knowledge_tokens is None:
                by_model = await confirmed(values, every, project, by_model, place.stages)
            told: list[dict[str, Any]] = []
            for path, documents in sources.items():
                if dry_run:
                    told.append(
                        await plan(values, documents, project, by_model, place.stages, force=force)
                    )
                    continue
                report = await ingest_documents(
                    values,
                    documents,
                    project,
                    place,
                    force=force,
                    wait_s=wait,
                    again=partial(read, path),
                    guard=process.guarded,
                    # The model is asked once, about all that the project holds in the end.
                    by_model=by_model if path == places[-1] else None,
                )
                told.append(as_document(report))
            recommend_up(stack)

    if as_json:
        print_json(told if len(places) > 1 else told[0])


def _check_usage(
    paths: list[str],
    *,
    sample: bool,
    changed: bool,
    project: str | None,
    uri: str,
    yes: bool,
) -> None:
    """Refuse options that do not go together."""
    if bool(paths) == sample:
        raise typer.BadParameter("give either a folder or file, or --sample")
    if project is None and not sample:
        raise typer.BadParameter("say which project the documents belong to: --project NAME")
    if changed and len(paths) < 2:  # noqa: PLR2004 - the folder and a file
        raise typer.BadParameter("goes with files behind their folder", param_hint="--changed")
    if changed and paths[0].startswith(REMOTE):
        raise typer.BadParameter(
            "goes with a folder: what changed of a container is seen at once",
            param_hint="--changed",
        )
    if yes and (sample or changed):
        raise typer.BadParameter("goes with whole folders or files of yours", param_hint="--yes")
    if uri and (sample or (len(paths) > 1 and not changed)):
        raise typer.BadParameter("goes with one folder or file of yours", param_hint="--source-uri")


def _named(files: list[str]) -> list[Path]:
    """Return the files, with those that standard input names in the place of a dash."""
    named = [Path(file) for file in files if file != "-"]
    if len(named) < len(files):
        told = sys.stdin.buffer.read()
        names = told.split(b"\0" if b"\0" in told else b"\n")
        named += [Path(os.fsdecode(name)) for name in names if name]
    return named


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
