"""People's nodes and their vectors: missing and stale ones are named and embedded, in batches.

The commands and the function's timer do the same. Finished batches stay, so that an interrupted run
can continue.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    GraphTimeoutError,
    GraphUnavailableError,
    ModelUnavailableError,
    ProjectHeldError,
    UpstreamError,
)
from drift.core.logs import log
from drift.model.nodes import LabelledNode, Taking
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.node_text import searchable_text
from drift.nodes.ports import LabelledNodes
from drift.nodes.writing import NodeRules
from drift.telemetry import parts

BATCH = 128
NAMED = 10
"""The most nodes that a report names by their ids."""
UNFINISHED = "unfinished"
"""The outcome of a run that stopped at its deadline."""


@dataclass(slots=True)
class NodesReport:
    """The state of a label in a project, and how many of its nodes were mended.

    `missing` had no vector, `stale` one of another text or model, `without_text` lack a title or a
    description and are not searched, and `foreign` are another program's and left alone.
    `examples` are the ids of the first nodes that were mended or were to be.
    """

    project: str
    label: str
    seen: int = 0
    missing: int = 0
    stale: int = 0
    without_text: int = 0
    foreign: int = 0
    mended: int = 0
    prompt_tokens: int = 0
    examples: list[str] = field(default_factory=list)
    outcome: str = "ok"

    @property
    def differs(self) -> int:
        """The number of missing and stale nodes."""
        return self.missing + self.stale

    def counts(self) -> dict[str, object]:
        """Return the counts for the log."""
        said = ("seen", "missing", "stale", "without_text", "mended", "prompt_tokens", "examples")
        return {name: getattr(self, name) for name in said}


@dataclass(slots=True)
class Summary:
    """The result for all labels in all projects: how many were looked at, and how each ended."""

    looked_at: int = 0
    mended: int = 0
    held: int = 0
    failed: int = 0
    outcome: str = "ok"


Tell = Callable[[NodesReport], None]


class NodeReconciling:
    """Looks at nodes, and embeds by the rules of every write; it holds nothing about a run."""

    def __init__(self, nodes: LabelledNodes, embedder: EmbeddingCalls, rules: NodeRules) -> None:
        """Keep the servers and the rules."""
        self._nodes = nodes
        self._embedder = embedder
        self._rules = rules

    async def everything(self, deadline: Deadline) -> Summary:
        """Look at every label of people's own in every project that has such nodes; log failures.

        A project that an ingest holds, or whose nodes cannot be mended, is left for the next run.
        Without the graph or the model the run ends. UpstreamError: not even the projects can be
        listed.
        """
        summary = Summary()
        for label in self._rules.own_labels:
            for project_id in await self._projects(label, deadline):
                if not deadline.remaining():
                    summary.outcome = UNFINISHED
                    return summary
                report = await self._one(summary, project_id, label, deadline)
                summary.mended += report.mended
                if summary.outcome != "ok":
                    return summary

        return summary

    async def _projects(self, label: str, deadline: Deadline) -> list[str]:
        async with deadline.enforced():
            projects = await self._nodes.projects(label)
            if projects:
                await self._nodes.prepare(self._rules.dimensions)
        return projects

    async def _one(
        self, summary: Summary, project_id: str, label: str, deadline: Deadline
    ) -> NodesReport:
        """Look at one label; a reason to end the whole run becomes the summary's outcome."""
        report = NodesReport(project_id, label)
        summary.looked_at += 1
        try:
            await self._measured(report, deadline)
        except ProjectHeldError:
            summary.held += 1
        except UpstreamError as error:
            summary.failed += 1
            about = {"project_id": project_id, "label": label}
            log.warning("reconcile_failed", exc_info=error, extra=about)
            is_away = isinstance(error, GraphUnavailableError | ModelUnavailableError)
            if is_away and not isinstance(error, GraphTimeoutError):
                summary.outcome = error.code

        if report.outcome == UNFINISHED:
            summary.outcome = UNFINISHED
        return report

    async def run(
        self,
        project_id: str,
        label: str,
        deadline: Deadline,
        *,
        taking: Taking = "marked",
        tell: Tell = lambda _: None,
    ) -> NodesReport:
        """Look at every node of a label in a project, and embed missing and stale ones.

        Unmarked nodes that are taken become the project's, and marked. `tell` hears of each batch.
        At the deadline the run ends by itself, and says so. Finished batches stay, also after an
        error.
        """
        report = NodesReport(project_id, label)
        await self._measured(report, deadline, taking, tell)
        return report

    async def _measured(
        self,
        report: NodesReport,
        deadline: Deadline,
        taking: Taking = "marked",
        tell: Tell = lambda _: None,
    ) -> None:
        found = self._nodes.labelled(report.project, report.label, taking)
        with parts.reconciling(report.project, report.label) as part:
            try:
                async with deadline.enforced():
                    await self._look(report, found, deadline, tell)
            except DeadlineError:
                report.outcome = part.outcome = UNFINISHED
            finally:
                part.add(**report.counts())

    async def _look(
        self,
        report: NodesReport,
        found: AsyncGenerator[LabelledNode],
        deadline: Deadline,
        tell: Tell,
    ) -> None:
        waiting: list[tuple[LabelledNode, str]] = []
        async with aclosing(found):
            async for node in found:
                text = searchable_text(node.texts)
                if self._differs(report, node, text):
                    waiting.append((node, text))
                if len(waiting) == BATCH:
                    await self._mend(report, waiting, deadline)
                    tell(report)
                    waiting = []

        if waiting:
            await self._mend(report, waiting, deadline)

    def _differs(self, report: NodesReport, node: LabelledNode, text: str) -> bool:
        """Count a node; tell whether it has to be mended."""
        report.seen += 1
        if node.is_foreign:
            report.foreign += 1
            return False

        is_complete = node.has_vector and node.is_known
        is_missing = bool(text) and not is_complete
        is_stale = bool(text) and is_complete and node.text_hash != self._rules.hash_of(text)
        report.without_text += not text
        report.missing += is_missing
        report.stale += is_stale

        differs = is_missing or is_stale or (not text and node.has_vector)
        if differs and len(report.examples) < NAMED:
            report.examples.append(node.id)
        return differs

    async def _mend(
        self, report: NodesReport, waiting: list[tuple[LabelledNode, str]], deadline: Deadline
    ) -> None:
        await self._nodes.require_free(report.project)  # before a model is paid
        made = await self._embedder.embed([text for _, text in waiting if text], deadline)
        report.prompt_tokens += made.tokens.prompt
        vectors = iter(made.vectors)
        rows = [
            (node, self._rules.embedded(text, next(vectors)) if text else None)
            for node, text in waiting
        ]
        report.mended += await self._nodes.put(report.project, rows, deadline)
