"""`drift reindex`: another model's vectors. `drift upgrade`: the format of this release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import say, stderr
from drift.local.cli.prepare import graph_alone
from drift.local.cli.run import command, stoppable

if TYPE_CHECKING:
    from drift.http.settings import Settings
    from drift.local.prepare.reindex import Reindexing

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what there is to do, no more.")]


@command(stoppable)
async def reindex(
    stack_options: options.StackOptions,
    model_version: Annotated[
        str | None,
        typer.Option(
            metavar="V", help="What the vectors of the configured model are called, such as v2."
        ),
    ] = None,
    drop: Annotated[
        str | None,
        options.text(
            "Remove a version instead; `first` is what was there before any other.", metavar="V"
        ),
    ] = None,
    project: Annotated[
        str | None, options.optional_project("Say what there is to do of this project alone.")
    ] = None,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; without it nothing is.")] = False,
) -> None:
    """Embed everything with another model, beside the old vectors, and use them once all are there.

    OAI_EMBED_MODEL_NAME and VECTOR_INDEX_DIMENSIONS name the new model. Questions go on meanwhile
    with the old one. A run that ends is continued by the same command.
    """
    from drift.graph.connection import Connection
    from drift.graph.versions import is_version_name
    from drift.http import wiring
    from drift.local.cli.servers import running
    from drift.local.prepare.reindex import Reindexing

    is_new = model_version is not None
    refuse = options.refuse
    refuse(is_new == (drop is not None), "give either --model-version or --drop")
    refuse(
        not is_new and (dry_run or project is not None),
        "goes with --model-version: without --yes, --drop only says what of all projects goes",
        "--dry-run" if dry_run else "--project",
    )
    refuse(is_new and yes, "goes with --drop", "--yes")
    is_part = project is not None and not dry_run
    refuse(is_part, "goes with --dry-run: a version is of all projects")
    refuse(
        model_version is not None and not is_version_name(model_version),
        "wants up to 100 letters, digits and - _ . : / @ +, such as v2 or text-embedding-3-large, "
        "and is neither first nor local",
        "--model-version",
    )
    embeds = is_new and not dry_run
    async with (
        running(graph_alone(stack_options, embeds=embeds)) as (_, values),
        Connection(*wiring.database(values)) as connection,
    ):
        work = Reindexing(connection, wiring.index_names(values), values.graph_schema)
        if model_version is not None:
            await _build(work, values, model_version, project, dry_run=dry_run)
        elif drop is not None:
            await work.drop(drop, say=say, is_meant=yes)
            say(f"Version {drop} is removed.")


async def _build(
    work: Reindexing, values: Settings, name: str, project: str | None, *, dry_run: bool
) -> None:
    from drift.graph.versions import VectorVersion
    from drift.http import wiring
    from drift.indexing.batch_embedder import BatchEmbedder
    from drift.local.ingest.by_model.estimate import CHARACTERS_A_TOKEN
    from drift.local.ingest.progress_bar import progress_bar
    from drift.local.prepare.reindex import KINDS

    version = VectorVersion(name, values.oai_embed_model_name, values.vector_index_dimensions)
    texts = await work.count(version, project)
    number = sum(one.lacking for one in texts.values())
    tokens = sum(one.characters for one in texts.values()) // CHARACTERS_A_TOKEN
    kinds = [f"{one.lacking:,} {KINDS[label]}" for label, one in texts.items() if one.lacking]
    said = ", ".join(kinds) or "nothing"
    say(f"To embed for version {name}: {said}; {number:,} texts, about {tokens:,} tokens.")
    if dry_run:
        return

    _, embedder = wiring.build_models(values)
    batches = BatchEmbedder(embedder.of_passages, version.dimensions)
    with progress_bar(stderr) as show:
        await work.build(version, batches, report=show, say=say)
    say(f"Version {name} is whole: who asks with {version.model} uses it within a minute.")


@command(stoppable)
async def upgrade(
    stack_options: options.StackOptions,
    project: Annotated[str | None, options.optional_project("Bring this project alone.")] = None,
    dry_run: DryRun = False,
    wait: options.Wait = 600,
) -> None:
    """Bring a graph of the release before to the format of this one.

    No chunk is embedded, neither now nor by the next ingest. A run that ends is continued by the
    same command.
    """
    from drift.local.cli.project_graph import ProjectGraph
    from drift.local.cli.servers import running
    from drift.local.ingest.progress_bar import progress_bar
    from drift.local.prepare import upgrade as work
    from drift.local.wiring import build_writer, closing

    async with (
        running(graph_alone(stack_options, embeds=False)) as (_, values),
        closing(build_writer(values)) as writer,
    ):
        connection = writer.connection
        if project is not None:
            await ProjectGraph(values, connection, writer).held(project)
        older = await work.older_documents(connection, project)
        unsaid = await work.unsaid_formats(connection, project)
        for name, (documents, chunks) in older.items():
            counts = f"{documents:,} documents, {chunks:,} chunks"
            say(f"Project {name}: {counts} of the release before.")
        if dry_run:
            words = await work.older_words(connection, project)
        else:
            with progress_bar(stderr) as show:
                words = await work.upgrade(connection, project, report=show, say=say, wait_s=wait)
        for name in unsaid:
            say(f"Project {name}: its format is {'not said' if dry_run else 'said now'}.")
        how = "are found by fewer words than now" if dry_run else "are found by more words now"
        for name, number in words.items():
            say(f"Project {name}: {number:,} chunks {how}.")
        if not (older or words or unsaid):
            say("Nothing is of the release before.")
        if not dry_run:
            what = "The graph" if project is None else f"Project {project}"
            say(f"{what} is of this release's format.")
