"""`drift nodes index` and `drift reconcile`: vectors of people's own nodes, and what differs."""

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
    from drift.local.exchange.differences import Difference
    from drift.model.nodes import Taking
    from drift.nodes.ports import LabelledNodes
    from drift.nodes.reconciling import NodeReconciling, NodesReport, Tell
    from drift.ports import Embedder

RUN_S = 24 * 3600.0
"""How long one label of one project may take."""
SAID_EVERY = 1000


@command()
async def index(
    stack_options: options.StackOptions,
    project: options.Project,
    label: Annotated[str, options.text("A label of RAG_LABELS that is not one of ingestion's.")],
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take nodes that belong to no project into this one.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Make nodes that stand in the graph searchable: embed their title and description.

    A second run does only what is left; exit code 1 says that something is.
    """
    from drift.local.cli.servers import recommend_up, running

    async with running(stack_options, reads=True) as (stack, values), _tools(values) as tools:
        if label not in tools.labels:
            known = ", ".join(tools.labels) or "none, until RAG_LABELS names one"
            message = f"must be a label of people's own that is searched: {known}"
            raise InvalidRequestError((FieldProblem("--label", message),))
        report = await tools.run(project, label, "unowned" if adopt else "unmarked")
        is_done = _tell([report], {}, as_json=as_json)
        recommend_up(stack)

    if not is_done:
        raise typer.Exit(1)


@command()
async def reconcile(
    stack_options: options.StackOptions,
    project: Annotated[
        str | None,
        options.optional_project("One project alone."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say what differs between files, graph and vectors, with what mends it, and mend the rest.

    Documents whose file is gone or changed or that are not whole, chunks without a document, what
    has no vector or one of another length, knowledge that is behind; then the nodes of your own,
    of the labels of RAG_LABELS, that have no vector or one of another text or model.

    Exit code 1 says that something is left to mend.
    """
    from drift.local.cli.servers import recommend_up, running

    async with running(stack_options, reads=True) as (stack, values), _tools(values) as tools:
        reports = [
            await tools.run(one, label)
            for label in tools.labels
            for one in ([project] if project else await tools.nodes.projects(label))
        ]
        found = await tools.differences(values, project)
        is_done = _tell(reports, found, as_json=as_json)
        recommend_up(stack)

    if not is_done:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _NodeTools:
    nodes: LabelledNodes
    reconciling: NodeReconciling
    labels: tuple[str, ...]
    embedder: Embedder

    async def run(self, project: str, label: str, taking: Taking = "marked") -> NodesReport:
        deadline = Deadline.after(RUN_S)
        return await self.reconciling.run(project, label, deadline, taking=taking, tell=_telling())

    async def differences(
        self, values: Settings, project: str | None
    ) -> dict[str, list[Difference]]:
        """Return what differs, by project; a graph without projects has none."""
        from drift.local.cli.project_graph import run_context
        from drift.local.exchange.differences import ProjectDifferences
        from drift.local.wiring import build_writer, closing

        if values.graph_schema != "default":
            return {}
        async with closing(build_writer(values)) as writer:
            if writer.copy is not None:
                writer.copy.trusts = False
            context = run_context(values, writer, self.embedder)
            return {
                held.project_id: await ProjectDifferences(held.project_id, context).found()
                for held in await writer.held_projects(project)
            }


@asynccontextmanager
async def _tools(values: Settings) -> AsyncIterator[_NodeTools]:
    from drift.http import wiring
    from drift.local.wiring import closing
    from drift.nodes.embedding_calls import EmbeddingCalls
    from drift.nodes.reconciling import NodeReconciling

    rules = values.node_rules
    chat, model = wiring.build_models(values)
    async with aclosing(chat), closing(wiring.build_graph(values)) as graph:
        nodes = graph.node_store()
        await nodes.prepare(rules.dimensions)
        embedder = EmbeddingCalls(model.of_passages, rules.dimensions)
        reconciling = NodeReconciling(nodes, embedder, rules)
        yield _NodeTools(nodes, reconciling, rules.own_labels, model.of_passages)


def _telling() -> Tell:
    """Return what says how far a label is, every thousand nodes."""
    said = 0

    def tell(report: NodesReport) -> None:
        nonlocal said
        if report.mended // SAID_EVERY > said:
            said = report.mended // SAID_EVERY
            say(f"{report.label}: {report.seen} seen, {report.mended} indexed")

    return tell


def _tell(
    reports: list[NodesReport], differences: dict[str, list[Difference]], *, as_json: bool
) -> bool:
    """Say what was found; return whether nothing is left to mend."""
    from drift.nodes.reconciling import UNFINISHED

    is_done = not any(one.mend for listed in differences.values() for one in listed)
    is_done = is_done and all(report.outcome != UNFINISHED for report in reports)
    if as_json:
        found = [
            {"project_id": project, "differences": [asdict(one) for one in listed]}
            for project, listed in differences.items()
        ]
        print_json({"labels": [asdict(report) for report in reports], "projects": found})
        return is_done

    for project, listed in differences.items():
        if not listed:
            say(f"Project {project}: files, graph and vectors are the same.")
        for one in listed:
            named = f" ({', '.join(one.examples)})" if one.examples else ""
            mend = f"`{one.mend}` mends that" if one.mend else "mended"
            say(f"Project {project}: {one.number:,} {one.what}{named}; {mend}.")

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

    return is_done
