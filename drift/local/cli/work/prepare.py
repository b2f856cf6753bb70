"""What `drift prepare` does, and how it says what it changed or would change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from drift.core.errors import LocalStackError
from drift.http import wiring
from drift.http.settings import Settings
from drift.local.cli.console import print_json, stderr, stdout
from drift.local.cli.work.servers import running
from drift.local.ingest.thresholds import measure_and_keep
from drift.local.stack.stack import StackOptions
from drift.local.wiring import build_preparer, build_writer
from drift.ports import Embedder

_NO_MODEL = {"OAI_BASE_URL": "http://127.0.0.1:1", "OAI_EMBED_MODEL_NAME": "unused"}
_NOT_SPOKEN_TO = {"OAI_MODEL": "unused", "REDIS_URL": "redis://127.0.0.1:1"}
"""Stand for settings that preparing does not need, so that no server is started for them."""


@dataclass(frozen=True, slots=True)
class HowToPrepare:
    """What to do: a `project` to look at and perhaps to `embed`; a dry run changes nothing.

    `wait_s` says how long to wait for indexes.
    """

    project: str | None = None
    embed: bool = False
    dry_run: bool = False
    wait_s: float = 600.0


async def prepare(options: StackOptions, how: HowToPrepare, *, as_json: bool) -> bool:
    """Prepare the graph and print the report; tell whether it names no problem.

    Raises:
        GraphMisconfiguredError: with every reason why the graph cannot be prepared as it is.
        LocalStackError: NEO4J_URI is set, and VECTOR_INDEX_DIMENSIONS or, where it is to be asked,
            the embedding model is not.
        IngestError, ModelUnavailableError, ModelMisconfiguredError: the model cannot embed for this
            graph; what was embedded before stays.
    """
    async with running(_graph_alone(options, embeds=how.embed)) as (_, values):
        preparer = build_preparer(values)
        embedder = wiring.build_models(values)[1] if how.embed else None
        try:
            report = await preparer.prepare(
                values.vector_index_dimensions,
                dry_run=how.dry_run,
                wait_s=how.wait_s,
                say=_remark,
            )
            if how.project is not None:
                await preparer.tend(
                    how.project,
                    values.vector_index_dimensions,
                    report,
                    embedder=embedder,
                    say=_remark,
                )
                if not how.dry_run:
                    await _measure(values, how, embedder)
        finally:
            await preparer.close()
    document = report.document()
    if as_json:
        print_json(document)
    else:
        _show(document)
    return not document["problems"]


async def _measure(values: Settings, how: HowToPrepare, embedder: Embedder | None) -> None:
    """Measure how near the project's nodes have to be to a question.

    The model of vectors that others have made is not known.
    """
    writer, graph = build_writer(values), wiring.build_graph(values)
    try:
        await measure_and_keep(
            graph.finder(),
            embedder,
            writer,
            str(how.project),
            values.vector_index_dimensions,
            values.oai_embed_model_name if embedder else "",
            say=_remark,
        )
    finally:
        await writer.close()
        await graph.close()


def _graph_alone(options: StackOptions, *, embeds: bool) -> StackOptions:
    """Return options that start nothing beside a given graph.

    What the local stack's model would imply is not assumed of it.
    """
    if not options.given.get("NEO4J_URI"):
        return options
    if embeds and not all(options.given.get(name) for name in _NO_MODEL):
        raise LocalStackError(
            "Only the model that questions are embedded with fits this graph: set OAI_BASE_URL and "
            "OAI_EMBED_MODEL_NAME."
        )
    if not options.given.get("VECTOR_INDEX_DIMENSIONS"):
        raise LocalStackError(
            "Vector indexes have one length: set VECTOR_INDEX_DIMENSIONS to the floats of the "
            "embeddings in this graph, 3072 for text-embedding-3-large."
        )
    return replace(options, given={**_NO_MODEL, **_NOT_SPOKEN_TO, **options.given})


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
