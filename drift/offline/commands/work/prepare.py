"""What `drift prepare` does, and how it says what it changed or would change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drift.errors import LocalStackError
from drift.offline.commands.console import print_json, stderr, stdout
from drift.offline.commands.work.servers import running
from drift.offline.stack.stack import StackOptions
from drift.offline.wiring import build_preparer

_NOT_SPOKEN_TO = {
    "OAI_BASE_URL": "http://127.0.0.1:1",
    "OAI_MODEL": "unused",
    "OAI_EMBED_MODEL_NAME": "unused",
    "REDIS_URL": "redis://127.0.0.1:1",
}
"""Stand for settings that preparing does not need, so that no server is started for them."""


async def prepare(options: StackOptions, *, dry_run: bool, wait_s: float, as_json: bool) -> None:
    """Prepare the graph and print the report; a dry run changes nothing.

    Raises:
        GraphMisconfiguredError: with every reason why the graph cannot be prepared as it is.
        LocalStackError: NEO4J_URI is set and VECTOR_INDEX_DIMENSIONS is not.
    """
    async with running(_graph_alone(options)) as (_, values):
        preparer = build_preparer(values)
        try:
            report = await preparer.prepare(
                values.vector_index_dimensions, dry_run=dry_run, wait_s=wait_s, say=_remark
            )
        finally:
            await preparer.close()
    if as_json:
        print_json(report.document())
    else:
        _show(report.document())


def _graph_alone(options: StackOptions) -> StackOptions:
    """Return options that start nothing beside a given graph.

    What the local stack's model would imply is not assumed of it.
    """
    if not options.given.get("NEO4J_URI"):
        return options
    if not options.given.get("VECTOR_INDEX_DIMENSIONS"):
        raise LocalStackError(
            "Vector indexes have one length: set VECTOR_INDEX_DIMENSIONS to the floats of the "
            "embeddings in this graph, 3072 for text-embedding-3-large."
        )
    return replace(options, given={**_NOT_SPOKEN_TO, **options.given})


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
