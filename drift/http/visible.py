"""The servers as one request sees them: of the documents alone that its filter leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drift.contracts.filter import Filter
from drift.core.deadline import Deadline
from drift.nodes.ports import LabelledNodes, NodeFinder, NodeStore
from drift.originals.store import DocumentStore
from drift.ports import GraphReader, Ports
from drift.telemetry import arrivals

if TYPE_CHECKING:  # it loads what reads documents
    from drift.indexing.indexer import Indexer


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """What is done with a graph besides searching it; one of v1 has nothing to write.

    `index` makes what writes the documents of a project, and tells the tokens that this takes.
    `originals` keeps the files that documents were read from.
    """

    reader: GraphReader
    finder: NodeFinder
    store: NodeStore | None = None
    labelled: LabelledNodes | None = None
    index: Callable[[str], Indexer] | None = None
    originals: DocumentStore | None = None


@dataclass(frozen=True, slots=True)
class Visible:
    """What searches the graph, and what reads it."""

    ports: Ports
    graph: WholeGraph

    async def within(self, project_id: str, allowed: Filter | None, deadline: Deadline) -> Visible:
        """Return the same servers, of which only what a filter leaves of a project is seen.

        Raises:
            InvalidRequestError: the graph's documents say nothing that can be asked for.
        """
        if allowed is None:
            return self
        arrivals.tell(filtered=True)
        ports, graph = self.ports, self.graph
        left = await graph.reader.allowed(project_id, allowed, deadline)
        return Visible(
            replace(ports, graph=ports.graph.within(left), passages=ports.passages.within(left)),
            replace(graph, reader=graph.reader.within(left), finder=graph.finder.within(left)),
        )
