"""What `drift nodes index` and `drift reconcile` do: look at nodes, embed what is missing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from drift.core.deadline import Deadline
from drift.core.errors import FieldProblem, InvalidRequestError
from drift.http import wiring
from drift.http.service import node_rules
from drift.http.settings import Settings
from drift.local.cli.console import print_json, say
from drift.local.cli.work.servers import recommend_up, running
from drift.local.stack.stack import StackOptions
from drift.local.wiring import build_nodes
from drift.model.nodes import Taking
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.reconciling import UNFINISHED, NodeReconciling, NodesReport, Tell
from drift.ports import LabelledNodes

RUN_S = 24 * 3600.0
"""How long one label of one project may take."""
SAID_EVERY = 1000


@dataclass(frozen=True, slots=True)
class _Tools:
    nodes: LabelledNodes
    reconciling: NodeReconciling
    labels: tuple[str, ...]

    async def run(self, project: str, label: str, taking: Taking = "marked") -> NodesReport:
        deadline = Deadline.after(RUN_S)
        return await self.reconciling.run(project, label, deadline, taking=taking, tell=_telling())


async def index(
    options: StackOptions, project: str, label: str, *, adopts: bool, as_json: bool
) -> None:
    """Index the nodes of a label.

    Raises:
        InvalidRequestError: the label is not one of people's own.
    """
    async with running(options, reads=True) as (stack, values), _tools(values) as tools:
        if label not in tools.labels:
            known = ", ".join(tools.labels) or "none, until RAG_LABELS names one"
            message = f"must be a label of people's own that is searched: {known}"
            raise InvalidRequestError((FieldProblem("--label", message),))
        report = await tools.run(project, label, "unowned" if adopts else "unmarked")
        _tell([report], as_json=as_json)
        recommend_up(stack)


async def reconcile(options: StackOptions, project: str | None, *, as_json: bool) -> None:
    """Name and mend what differs, in one project or in all."""
    async with running(options, reads=True) as (stack, values), _tools(values) as tools:
        reports = [
            await tools.run(one, label)
            for label in tools.labels
            for one in ([project] if project else await tools.nodes.projects(label))
        ]
        _tell(reports, as_json=as_json)
        recommend_up(stack)


@asynccontextmanager
async def _tools(values: Settings) -> AsyncIterator[_Tools]:
    rules = node_rules(values)
    chat, model = wiring.build_models(values)
    nodes = build_nodes(values)
    async with chat.client:
        try:
            await nodes.prepare(rules.dimensions)
            embedder = EmbeddingCalls(model, rules.dimensions)
            yield _Tools(nodes, NodeReconciling(nodes, embedder, rules), rules.own_labels)
        finally:
            await nodes.close()


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
    if as_json:
        print_json({"labels": [asdict(report) for report in reports]})
        return
    for report in reports:
        say(
            f"{report.label} in {report.project}: {report.seen} nodes, {report.missing} had no "
            f"vector, {report.stale} one of another text or model, {report.without_text} have no "
            f"title or description; {report.mended} mended{_named(report)}."
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


def _named(report: NodesReport) -> str:
    more = " and others" if report.mended > len(report.examples) else ""
    return f": {', '.join(report.examples)}{more}" if report.examples else ""
