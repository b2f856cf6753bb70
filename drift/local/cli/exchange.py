"""`drift projects export`, `restore`, `copy` and `delete`: projects as a whole."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import say
from drift.local.cli.run import command, stoppable, typed_answer

if TYPE_CHECKING:
    from drift.local.cli.project_graph import ProjectGraph
    from drift.local.exchange.folder import Manifest

Place = Annotated[
    str,
    typer.Argument(
        help="The folder of the export, or az://ACCOUNT/CONTAINER/PREFIX.",
        metavar="FOLDER",
        parser=options.checked_source,
    ),
]


@command(stoppable)
async def export(
    stack_options: options.StackOptions, place: Place, project: options.Project
) -> None:
    """Write a project into a new folder, as it is at one moment, with its vectors.

    Nobody writes the project meanwhile. Questions go on.
    """
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.container import written_to
    from drift.local.exchange.transfer import export_project

    async with projects_of_graph(stack_options, "export") as graph:
        await graph.held(project)
        async with written_to(place) as folder:
            manifest = await export_project(project, folder, graph.writer, say)
    _tell(manifest, f"Project {project} is in {place}")


@command(stoppable)
async def restore(
    stack_options: options.StackOptions,
    place: Place,
    project: Annotated[
        str | None, options.optional_project("The project's id, where it is to be another one.")
    ] = None,
) -> None:
    """Make a project of an exported folder, with its vectors: no model is asked.

    A project that is there is never written over. Nobody sees it before it is whole.
    """
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.container import read_from

    async with projects_of_graph(stack_options, "restore") as graph, read_from(place) as folder:
        manifest = await _restored(graph, folder, project)
    _tell(manifest, f"Project {project or manifest.project_id} is there")


@command(stoppable)
async def copy(
    stack_options: options.StackOptions,
    project: options.Project,
    to: Annotated[str, options.text("The id of the copy.", "--to")],
) -> None:
    """Make a second project of all that a project holds now."""
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.transfer import export_project

    async with projects_of_graph(stack_options, "copy") as graph:
        await graph.held(project)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "project"
            await export_project(project, folder, graph.writer, say)
            manifest = await _restored(graph, folder, to)
    _tell(manifest, f"Project {to} is a copy of {project}")


@command(stoppable)
async def delete(
    stack_options: options.StackOptions,
    project: options.Project,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it without a question.")] = False,
) -> None:
    """Delete a project for good, with the nodes of your own in it.

    It says what will go and has its name typed; without a terminal it wants --yes. Files stay.
    """
    from drift.local.cli.project_graph import projects_of_graph
    from drift.local.exchange.facts import held_nodes
    from drift.local.exchange.transfer import delete_project

    async with projects_of_graph(stack_options, "delete") as graph:
        await graph.held(project)
        say(f"To delete: {_in_words(await held_nodes(project, graph.connection))} of {project}.")
        agreed = yes or await _is_typed(project)
        if agreed:
            await delete_project(project, graph.writer, say)

    say(f"Project {project} is gone." if agreed else "Nothing was deleted.")
    if not agreed:
        raise typer.Exit(1)


async def _restored(graph: ProjectGraph, folder: Path, project: str | None) -> Manifest:
    from drift.local.exchange.transfer import restore_project
    from drift.local.prepare.vectors import fill_second_vectors

    dimensions = graph.values.vector_index_dimensions
    manifest = await restore_project(folder, project, graph.writer, dimensions, say)
    await fill_second_vectors(graph.values, project or manifest.project_id, say)
    return manifest


async def _is_typed(project: str) -> bool:
    typed = await typed_answer(
        "Type the project's name to delete it for good:",
        "Without a terminal, --yes says that this is meant.",
    )
    return typed.rstrip("\n") == project


def _in_words(nodes: Mapping[str, int]) -> str:
    """Return how many nodes of each kind there are, on one line."""
    return (
        ", ".join(f"{number:,} {kind}" for kind, number in nodes.items() if number)
        or "what is left"
    )


def _tell(manifest: Manifest, what: str) -> None:
    say(f"{what}: {_in_words(manifest.nodes)}.")
    if manifest.left_out:
        say(f"{manifest.left_out:,} edges to nodes outside of the project are not in it.")
