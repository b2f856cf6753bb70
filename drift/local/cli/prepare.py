"""`drift prepare`: makes the configured graph searchable, and says what it changed or would."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from drift.core.errors import LocalStackError
from drift.local.cli import options
from drift.local.cli.console import print_json, stderr, stdout
from drift.local.cli.run import command

_NO_MODEL = {"OAI_BASE_URL": "http://127.0.0.1:1", "OAI_EMBED_MODEL_NAME": "unused"}
_NOT_SPOKEN_TO = {"OAI_MODEL": "unused", "REDIS_URL": "redis://127.0.0.1:1"}
"""Stand for settings that preparing does not need, so that no server is started for them."""


@command()
async def prepare(
    stack_options: options.StackOptions,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Cypher instead of running it.")
    ] = False,
    project: Annotated[
        str | None,
        options.optional_project("Look at this project as well."),
    ] = None,
    embed: Annotated[
        bool,
        typer.Option(
            "--embed", help="Embed chunks and communities of --project that have no embedding."
        ),
    ] = False,
    like: Annotated[
        Literal["auto"] | None,
        typer.Option("--like", help="Find out how the graph is built, instead of by GRAPH_SCHEMA."),
    ] = None,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait until the indexes are online.", min=0)
    ] = 600,
    as_json: options.Json = False,
) -> None:
    """Make a graph searchable: project ids on its nodes, constraints, indexes.

    Say what was changed. Safe to repeat. Exit code 1 says that a problem is named, or that nothing
    can be asked.

    A graph from elsewhere gets `project_id` from its IN_PROJECT edges. One without projects is
    described by GRAPH_SCHEMA: `--like auto` looks how it is built, and prints what to set. What
    forbids preparing is named before anything is changed.

    With --embed, chunks and communities of --project that lack an embedding get one from the
    configured model, and a sample of the communities' vectors is compared with their summaries.
    """
    options.refuse(embed and project is None, "wants --project as well", "--embed")

    from drift.http import wiring
    from drift.local.cli.project_graph import measure_threshold
    from drift.local.cli.servers import running
    from drift.local.prepare.vectors import fill_second_vectors
    from drift.local.wiring import build_preparer, build_writer, closing

    async with running(graph_alone(stack_options, embeds=embed)) as (_, given):
        embedder, values = wiring.build_models(given)[1] if embed else None, given
        async with closing(build_preparer(given)) as preparer:
            if like:
                found = await preparer.recognise()
                values = given.model_copy(update={"graph_schema": found.value})
                for line in (*found.lines, f"GRAPH_SCHEMA={shlex.quote(found.value)}"):
                    stderr.print(line, markup=False, highlight=False, soft_wrap=True)
            report = await preparer.prepare(
                values.vector_index_dimensions, dry_run=dry_run, wait_s=wait, say=_remark
            )
            if project is not None:
                passages = embedder.of_passages if embedder else None
                await preparer.tend(
                    project, values.vector_index_dimensions, report, embedder=passages, say=_remark
                )
                if not dry_run:
                    async with closing(build_writer(values)) as writer:
                        await measure_threshold(values, writer, embedder, project, _remark)
                    await fill_second_vectors(values, project, _remark)

    document = report.document()
    if as_json:
        print_json(document)
    else:
        _show(document)

    if document["problems"]:
        raise typer.Exit(1)


def graph_alone(stack_options: options.StackOptions, *, embeds: bool) -> options.StackOptions:
    """Return options that start nothing beside a given graph, and assume no model of it."""
    if not stack_options.given.get("NEO4J_URI"):
        return stack_options

    if embeds and not all(stack_options.given.get(name) for name in _NO_MODEL):
        raise LocalStackError(
            "Only the model that questions are embedded with fits this graph: set OAI_BASE_URL and "
            "OAI_EMBED_MODEL_NAME."
        )

    if not stack_options.given.get("VECTOR_INDEX_DIMENSIONS"):
        raise LocalStackError(
            "Vector indexes have one length: set VECTOR_INDEX_DIMENSIONS to the floats of the "
            "embeddings in this graph, 3072 for text-embedding-3-large."
        )

    return replace(stack_options, given={**_NO_MODEL, **_NOT_SPOKEN_TO, **stack_options.given})


def _remark(line: str) -> None:
    stderr.print(line, style="dim", markup=False)


def _show(document: dict[str, Any]) -> None:
    for statement in document["cypher"]:
        stdout.print(f"{statement}\n", markup=False)

    # in a dry run standard output is a script, so everything else goes to the other one
    out = stderr if document["dry_run"] else stdout
    sets, creates = ("Would set", "Would create") if document["dry_run"] else ("Set", "Created")
    if document["changed"]:
        changed = ", ".join(f"{name} ({count:,})" for name, count in document["changed"].items())
        out.print(f"{sets} {changed}.", markup=False)
    if document["created"]:
        out.print(f"{creates} {', '.join(document['created'])}.", markup=False)
    if not (document["changed"] or document["created"] or document["cypher"]):
        out.print("[green]Nothing had to be changed.[/]")

    for index in document["indexes"]:
        out.print(_line(index), style="dim", markup=False)

    for problem in document["problems"]:
        out.print("[yellow]Problem:[/] ", end="")
        out.print(problem, markup=False)


def _line(index: dict[str, Any]) -> str:
    place = f":{'|'.join(index['labels'])}({', '.join(index['properties'])})"
    size = f" of {index['dimensions']} floats" if index.get("dimensions") else ""
    kind = f"{index['type'].lower()}{size}"
    return f"  {index['name']:<24} {index['state'].lower():<10} {kind} on {place}"
