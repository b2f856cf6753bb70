"""`drift nodes index` and `drift reconcile`: vectors of people's own nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from drift.core.deadline import Deadline
from drift.core.errors import FieldProblem, InvalidRequestError
from drift.local.cli import options
from drift.local.cli.console import print_json, say
from drift.local.cli.run import command

if TYPE_CHECKING:
    from drift.http.settings import Settings
    from drift.local.stack.stack import StackOptions
    from drift.model.nodes import Taking
    from drift.nodes.reconciling import NodeReconciling, NodesReport, Tell
    from drift.ports import LabelledNodes

RUN_S = 24 * 3600.0
"""How long one label of one project may take."""
SAID_EVERY = 1000


@command()
async def index(
    stack_options: StackOptions,
    project: options.Project,
    label: Annotated[
        str,
        typer.Option(
            help="A label of RAG_LABELS that is not one of ingestion's.",
            callback=options.checked_text,
        ),
    ],
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take nodes that belong to no project into this one.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Make nodes that stand in the graph searchable: embed their title and description.

    A second run does only what is left.
    """
    from drift.local.cli.work.servers import recommend_up, running

    async with running(stack_options, reads=True) as (stack, values), _tools(values) as tools:
        if label not in tools.labels:
            known = ", ".join(tools.labels) or "none, until RAG_LABELS names one"
            message = f"must be a label of people's own that is searched: {known}"
            raise InvalidRequestError((FieldProblem("--label", message),))
        report = await tools.run(project, label, "unowned" if adopt else "unmarked")
        _tell([report], as_json=as_json)
        recommend_up(stack)


@command()
async def reconcile(
    stack_options: StackOptions,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="One project alone.", callback=options.checked_text),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which nodes have no vector or one of another text or model, and embed them.

    It looks at the labels of RAG_LABELS that people's own nodes have, in every project that has
    such nodes.
    """
    from drift.local.cli.work.servers import recommend_up, running

    async with running(stack_options, reads=True) as (stack, values), _tools(values) as tools:
        reports = [
            await tools.run(one, label)
            for label in tools.labels
            for one in ([project] if project else await tools.nodes.projects(label))
        ]
        _tell(reports, as_json=as_json)
        recommend_up(stack)


@dataclass(frozen=True, slots=True)
class _Tools:
    nodes: LabelledNodes
    reconciling: NodeReconciling
    labels: tuple[str, ...]

    async def run(self, project: str, label: str, taking: Taking = "marked") -> NodesReport:
        deadline = Deadline.after(RUN_S)
        return await self.reconciling.run(project, label, deadline, taking=taking, tell=_telling())


@asynccontextmanager
async def _tools(values: Settings) -> AsyncIterator[_Tools]:
    from drift.graph.connection import Connection
    from drift.graph.node_store import Neo4jNodeStore
    from drift.http import wiring
    from drift.http.service import node_rules
    from drift.nodes.embedding_calls import EmbeddingCalls
    from drift.nodes.reconciling import NodeReconciling

    rules = node_rules(values)
    chat, model = wiring.build_models(values)
    async with aclosing(chat), Connection(*wiring.database(values)) as connection:
        nodes = Neo4jNodeStore(connection)
        await nodes.prepare(rules.dimensions)
        embedder = EmbeddingCalls(model.of_passages, rules.dimensions)
        yield _Tools(nodes, NodeReconciling(nodes, embedder, rules), rules.own_labels)


def _telling() -> Tell:
    """Return what says how far a label is, every thousand nodes."""
    said = 0

    def tell(report: NodesReport) -> None:
        nonlocal said
        if report.mended // SAID_EVERY > said:
            said = report.mended // SAID_EVERY
            say(f"{report.label}: {report.seen} seen, {report.mended} indexed")

    return tell


def _tell(reports: list[NodesReport], *, as_json: bool) -> None:
    from drift.nodes.reconciling import UNFINISHED

    if as_json:
        print_json({"labels": [asdict(report) for report in reports]})
        return

    for report in reports:
        more = " and others" if report.mended > len(report.examples) else ""
        named = f": {', '.join(report.examples)}{more}" if report.examples else ""
        say(
            f"{report.label} in {report.project}: {report.seen} nodes, {report.missing} had no "
            f"vector, {report.stale} one of another text or model, {report.without_text} have no "
            f"title or description; {report.mended} mended{named}."
        )
        if report.foreign:
            say(f"{report.foreign} of them are another program's (:__Node__), and were left.")
        if report.outcome == UNFINISHED:
            say("That took too long, and was ended; what is done stays done. Run this again.")

    if not reports:
        say(
            "No project has nodes of people's own with a label of RAG_LABELS. `drift nodes index` "
            "takes in nodes that stand in the graph."
        )
