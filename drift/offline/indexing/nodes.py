"""People's nodes made searchable, and kept so: what is missing or stale is embedded, in batches.

What is done stays done, so that a run that broke off goes on where it was.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from drift.offline.indexing.batch_embedder import BatchEmbedder
from drift.offline.say import Say
from drift.offline.writing.neo4j.nodes import LabelledNode
from drift.rag.node_text import searchable_text, text_hash
from drift.values.nodes import Embedded

BATCH = 128
SAID_EVERY = 1000

Difference = Literal["missing", "stale", "without text"]


class Nodes(Protocol):
    """Where the nodes stand; see Neo4jNodes."""

    def labelled(self, project_id: str, label: str, *, adopts: bool) -> AsyncIterator[LabelledNode]:
        """Yield the project's nodes of a label."""
        ...

    async def put(self, project_id: str, nodes: list[tuple[LabelledNode, Embedded | None]]) -> int:
        """Give nodes their vectors."""
        ...


@dataclass(slots=True)
class NodesReport:
    """What was found, and how much of it is mended.

    `missing` had no vector, `stale` one of another text or model, `without_text` lack a title or a
    description and are not searched.
    """

    project: str
    label: str
    seen: int = 0
    missing: int = 0
    stale: int = 0
    without_text: int = 0
    mended: int = 0

    @property
    def differs(self) -> int:
        """How many nodes were not as they should be."""
        return self.missing + self.stale


@dataclass(frozen=True, slots=True)
class NodeIndexing:
    """Embeds nodes of one model; `dimensions` are the floats of its vectors."""

    nodes: Nodes
    embedder: BatchEmbedder
    model: str
    dimensions: int

    async def run(
        self, project_id: str, label: str, *, adopts: bool = False, say: Say = lambda _: None
    ) -> NodesReport:
        """Look at every node of a label, and embed what is missing or stale.

        Raises:
            ProjectBusyError: an ingest holds the project; what was done stays done.
            UpstreamError, IngestError: from the graph or the model.
        """
        report = NodesReport(project_id, label)
        waiting: list[tuple[LabelledNode, str]] = []
        async for node in self.nodes.labelled(project_id, label, adopts=adopts):
            report.seen += 1
            text = searchable_text(node.texts)
            difference = self._difference(node, text)
            report.without_text += not text
            report.missing += difference == "missing"
            report.stale += difference == "stale"
            if difference:
                waiting.append((node, text))
            if len(waiting) == BATCH:
                await self._mend(report, waiting, say)
                waiting = []
        if waiting:
            await self._mend(report, waiting, say)
        return report

    def _difference(self, node: LabelledNode, text: str) -> Difference | None:
        """Return what is wrong with a node; None where nothing is to be done."""
        if not text:
            return "without text" if node.has_vector else None
        if not (node.has_vector and node.is_known):
            return "missing"
        wanted = text_hash(text, self.model, self.dimensions)
        return None if node.text_hash == wanted else "stale"

    async def _mend(
        self, report: NodesReport, waiting: list[tuple[LabelledNode, str]], say: Say
    ) -> None:
        vectors = iter(await self.embedder.embed([text for _, text in waiting if text]))
        rows = [
            (node, Embedded(next(vectors), self.model, self._hash(text)) if text else None)
            for node, text in waiting
        ]
        before = report.mended
        report.mended += await self.nodes.put(report.project, rows)
        if before // SAID_EVERY < report.mended // SAID_EVERY:
            say(f"{report.label}: {report.seen} seen, {report.mended} indexed")

    def _hash(self, text: str) -> str:
        return text_hash(text, self.model, self.dimensions)
