"""`drift documents`: what a project holds, document by document, and which of them are seen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say, show_line
from drift.local.cli.run import command, stoppable

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Documents, as `drift documents list` names them.",
        metavar="PATH",
        callback=lambda paths: [options.checked_text(path) for path in paths],
    ),
]


@command()
async def list_documents(
    stack_options: options.StackOptions, project: options.Project, as_json: options.Json = False
) -> None:
    """List a project's documents with their sources and chunks, and which are off."""
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.facts import held_documents

    async with projects_of_graph(stack_options, "list") as graph:
        await graph.held(project)
        documents = await held_documents(project, graph.connection)

    if as_json:
        print_json({"project_id": project, "documents": documents})
        return
    for one in documents:
        updated = one["updated_at"]
        when = f", of {datetime.fromtimestamp(updated / 1000, UTC):%Y-%m-%d}" if updated else ""
        off = ", off" if one["off"] else ""
        show_line(f"{one['id']}: {one['chunks']:,} chunks{when}{off}, from {one['source']}")


@command(stoppable)
async def off(stack_options: options.StackOptions, paths: Paths, project: options.Project) -> None:
    """Have no question see these documents; they stay stored, and `on` brings them back."""
    await _switch(stack_options, paths, project, on=False)


@command(stoppable)
async def on(stack_options: options.StackOptions, paths: Paths, project: options.Project) -> None:
    """Have questions see these documents again."""
    await _switch(stack_options, paths, project, on=True)


async def _switch(
    stack_options: options.StackOptions, paths: list[str], project: str, *, on: bool
) -> None:
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.ingest import pipeline

    async with projects_of_graph(stack_options, "switch") as graph:
        await graph.held(project)
        report = await graph.change(lambda run: pipeline.switch(paths, project, run, on=on))

    state = f"{len(report.changed)} documents are {'on' if on else 'off'} now"
    say(f"Project {project}: {state}. Questions see {report.held_chunks:,} chunks.")
