"""`drift projects`, `show` and `drift remove`: what projects hold, and taking it out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drift.core.errors import IngestError
from drift.local.cli import options
from drift.local.cli.console import listed, print_json, say, show_line
from drift.local.cli.run import command, stoppable
from drift.local.ingest.places import REMOTE, is_gone, is_inside, known_as

if TYPE_CHECKING:
    from drift.graph.writing.records import HeldProject
    from drift.local.ingest.report import IngestReport


@command()
async def projects(stack_options: options.StackOptions, as_json: options.Json = False) -> None:
    """List the projects, and the sources that their documents come from."""
    from drift.local.cli.project_graph import projects_of_graph

    async with projects_of_graph(stack_options, "list") as graph:
        held = await graph.writer.held_projects()

    if as_json:
        print_json({"projects": [_facts(one) for one in held]})
        return

    for one in held:
        _show(one)

    if not held:
        say("There is no project. `drift ingest FOLDER --project NAME` makes one.")


@command()
async def show(
    stack_options: options.StackOptions, project: options.Project, as_json: options.Json = False
) -> None:
    """Show what a project holds: how much, of which sources, how old it is and what is behind."""
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.facts import project_facts

    async with projects_of_graph(stack_options, "show") as graph:
        await graph.held(project)
        facts = await project_facts(project, graph.writer)

    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        for line in _lines(value):
            show_line(f"{name.replace('_', ' ')}: {line}")


def _lines(value: object) -> Iterator[str]:
    """Yield what is told of a project under one name, a line for each thing."""
    match value:
        case {"number": int(number), "first": [*first]}:
            yield from _lines(first)
            yield f"{number:,} in all"
        case {"file": file, "reason": reason}:
            yield f"{file} {reason}"
        case {"source": source, "documents": int(number)}:
            yield f"{_called(source)}: {_documents(number)}"
        case dict():
            yield ", ".join(f"{n:,} of level {level}" for level, n in value.items()) or "none"
        case list():
            for one in value:
                yield from _lines(one)
        case bool() | None:
            yield {True: "yes", False: "no", None: "unknown"}[value]
        case int():
            yield f"{value:,}"
        case _:
            yield str(value)


@command(stoppable)
async def remove(
    stack_options: options.StackOptions,
    project: options.Project,
    source: Annotated[
        str | None,
        options.text("A folder, file or az:// place that was ingested; without it, all of them."),
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
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.facts import would_go
    from drift.local.ingest import pipeline

    async with projects_of_graph(stack_options, "remove") as graph:
        held = await graph.held(project)
        known = None if source is None else _known_source(held, source)
        sources = held.sources if known is None else {known: held.sources[known]}
        made = await would_go(project, known, graph.connection)
        _announce(held, sources, made)
        report = None
        if yes:
            report = await graph.change(lambda run: pipeline.remove(known, project, run), wait)
            after = next(iter(await graph.writer.held_projects(project)), None)
            _say_done(project, report, after)

    if as_json:
        print_json(_outcome(held, sources, report) | {"made": made})
    if report is None:
        say("Nothing was removed. The same command with --yes removes it.")
        raise typer.Exit(1)


def _known_source(held: HeldProject, given: str) -> str:
    """Return the name of a source as the project has it."""
    from drift.local.cli.project_graph import MOST_NAMED
    from drift.local.ingest.sources import source_name

    if given in held.sources:
        return given

    is_far = given.startswith(REMOTE)
    place = given.rstrip("/") if is_far else known_as(source_name(Path(given)), held.sources)
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
        f"It holds {listed(sorted(held.sources), MOST_NAMED) or 'nothing'}."
    )


def _announce(held: HeldProject, sources: Mapping[str, int], made: Mapping[str, int]) -> None:
    for name, documents in sources.items():
        say(
            f"To remove from project {held.project_id}: {_documents(documents)} of {_called(name)}."
        )

    if sources:
        say(
            f"With them go {made['chunks']:,} chunks, and what is made of these alone: "
            f"{made['entities']:,} entities and {made['communities']:,} communities."
        )
    else:
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


def _facts(held: HeldProject) -> dict[str, Any]:
    return {
        "project_id": held.project_id,
        "documents": held.documents,
        "chunks": held.chunks,
        "nodes": held.nodes,
        "sources": _sources(held.sources),
    }


def _sources(sources: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return sources as JSON; one that `is_gone` is a place of this machine where nothing is."""
    return [
        {"source": name, "documents": number, "is_gone": is_gone(name)}
        for name, number in sources.items()
    ]


def _show(held: HeldProject) -> None:
    own = f", {held.nodes:,} nodes of your own" if held.nodes else ""
    show_line(f"{held.project_id}: {_documents(held.documents)}, {held.chunks:,} chunks{own}")
    for name, number in held.sources.items():
        gone = ", where nothing is on this machine" if is_gone(name) else ""
        show_line(f"  {_called(name)}: {_documents(number)}{gone}")


def _called(source: str) -> str:
    return source or "no source that is known"


def _documents(number: int) -> str:
    return f"{number:,} document{'' if number == 1 else 's'}"
