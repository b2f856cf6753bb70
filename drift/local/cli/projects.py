"""`drift projects` and `drift remove`: what projects hold, and taking it out again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drift.core.errors import IngestError
from drift.local.cli import options
from drift.local.cli.console import print_json, say, stderr, stdout
from drift.local.cli.run import command, stoppable
from drift.local.cli.terminal import on_one_line
from drift.local.ingest.places import is_gone, is_inside, known_as

if TYPE_CHECKING:
    from drift.http.settings import Settings
    from drift.local.ingest.graph_records import HeldProject
    from drift.local.ingest.neo4j.writer import Neo4jWriter
    from drift.local.ingest.report import IngestReport
    from drift.local.stack.stack import StackOptions

MOST_NAMED = 10
"""Projects or sources that are named in an error."""


@command()
async def projects(stack_options: StackOptions, as_json: options.Json = False) -> None:
    """List the projects, and the sources that their documents come from."""
    from drift.local.cli.work.ingestion import require_default_schema
    from drift.local.cli.work.servers import recommend_up, running
    from drift.local.wiring import build_writer, closing

    async with running(stack_options) as (stack, values):
        require_default_schema(values, "list")
        async with closing(build_writer(values)) as writer:
            held = await writer.held_projects()
        recommend_up(stack)

    if as_json:
        documents = [
            {
                "project_id": one.project_id,
                "documents": one.documents,
                "chunks": one.chunks,
                "nodes": one.nodes,
                "sources": _sources(one.sources),
            }
            for one in held
        ]
        print_json({"projects": documents})
        return

    for one in held:
        _show(one)

    if not held:
        say("There is no project. `drift ingest FOLDER --project NAME` makes one.")


@command(stoppable)
async def remove(
    stack_options: StackOptions,
    project: options.Project,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="A folder or file that was ingested; without it, all of them.",
            callback=options.checked_text,
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it; without it nothing is removed.")
    ] = False,
    wait: options.Wait = 600,
    as_json: options.Json = False,
) -> None:
    """Remove documents from a project, with all that was made of them.

    It says what it will remove, and removes it with --yes. Files stay as they are, and so do nodes
    of your own. Questions see the project as it was before until all of it is done.
    """
    from drift.local.cli.work.ingestion import require_default_schema
    from drift.local.cli.work.servers import recommend_up, running
    from drift.local.wiring import build_writer, closing

    async with running(stack_options) as (stack, values):
        require_default_schema(values, "remove")
        async with closing(build_writer(values)) as writer:
            held = next(iter(await writer.held_projects(project)), None)
            if held is None:
                names = [one.project_id for one in await writer.held_projects()]
                there = _named("The graph holds", names)
                raise IngestError(f"There is no project {project}. {there}")

            known = None if source is None else _known_source(held, source)
            sources = held.sources if known is None else {known: held.sources[known]}
            _announce(held, sources)
            report = None
            if yes:
                report = await _remove_from(values, writer, project, known, wait)
                after = next(iter(await writer.held_projects(project)), None)
                _say_done(project, report, after)

        recommend_up(stack)

    if as_json:
        print_json(_outcome(held, sources, report))
    if report is None:
        say("Nothing was removed. The same command with --yes removes it.")
        raise typer.Exit(1)


def _known_source(held: HeldProject, given: str) -> str:
    """Return the name of a source as the project has it."""
    from drift.local.ingest.sources import source_name

    if given in held.sources:
        return given

    place = known_as(source_name(Path(given)), held.sources)
    if place in held.sources:
        return place

    around = next((one for one in held.sources if one and is_inside(place, one)), None)
    if around is not None:
        raise IngestError(
            f"{place} is part of the source {around}, and only whole sources are removed. Take it "
            f"out of that folder, and ingest the folder again."
        )

    raise IngestError(
        f"Project {held.project_id} holds nothing of {place}. "
        f"{_named('It holds', sorted(held.sources))}"
    )


def _named(begin: str, names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{begin} {', '.join(names[:MOST_NAMED]) or 'nothing'}{more}."


async def _remove_from(
    values: Settings, writer: Neo4jWriter, project_id: str, source: str | None, wait_s: float
) -> IngestReport:
    from drift.http import wiring
    from drift.local.cli.work.ingestion import measure_threshold
    from drift.local.ingest import pipeline
    from drift.local.ingest.progress_bar import progress_bar
    from drift.local.prepare.second_vectors import fill_second_vectors

    _, embedder = wiring.build_models(values)
    with progress_bar(stderr) as show:
        report = await pipeline.remove(
            source,
            project_id,
            writer,
            embedder.of_passages,
            values.vector_index_dimensions,
            report=show,
            embedding_model=values.oai_embed_model_name,
            wait_s=wait_s,
            say=say,
        )

    await measure_threshold(values, writer, embedder, report)
    await fill_second_vectors(values, project_id, say)
    return report


def _announce(held: HeldProject, sources: Mapping[str, int]) -> None:
    for name, documents in sources.items():
        say(
            f"To remove from project {held.project_id}: {_documents(documents)} of {_called(name)}."
        )

    if not sources:
        say(f"Project {held.project_id} holds no documents.")


def _say_done(project_id: str, report: IngestReport, after: HeldProject | None) -> None:
    say(f"Project {project_id}: {_documents(len(report.removed))} removed.")
    if after is None:
        say("It holds nothing now, and is not there any more.")
        return
    own = f" {after.nodes:,} nodes of your own stay as they are." if after.nodes else ""
    say(f"It holds {_documents(after.documents)} and {after.chunks:,} chunks.{own}")


def _outcome(
    held: HeldProject, sources: Mapping[str, int], report: IngestReport | None
) -> dict[str, Any]:
    return {
        "project_id": held.project_id,
        "sources": _sources(sources),
        "removed": report is not None,
        "documents": report.removed if report else [],
        "held_documents": report.held_documents if report else held.documents,
        "held_chunks": report.held_chunks if report else held.chunks,
        "nodes": held.nodes,
    }


def _sources(sources: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return sources as JSON; one that `is_gone` is a place of this machine where nothing is."""
    return [
        {"source": name, "documents": number, "is_gone": is_gone(name)}
        for name, number in sources.items()
    ]


def _show(held: HeldProject) -> None:
    own = f", {held.nodes:,} nodes of your own" if held.nodes else ""
    counts = f"{_documents(held.documents)}, {held.chunks:,} chunks{own}"
    stdout.print(on_one_line(f"{held.project_id}: {counts}"), markup=False)
    for name, number in held.sources.items():
        gone = ", where nothing is on this machine" if is_gone(name) else ""
        stdout.print(on_one_line(f"  {_called(name)}: {_documents(number)}{gone}"), markup=False)


def _called(source: str) -> str:
    return source or "no source that is known"


def _documents(number: int) -> str:
    return f"{number:,} document{'' if number == 1 else 's'}"
