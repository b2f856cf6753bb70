"""The graph as questions to nodes and people's own nodes need it, as protocols.

Errors are those of drift.ports.GraphStore, and those that a method names.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from drift.auth.caller import Project
from drift.core.deadline import Deadline
from drift.model.allowed import Allowed
from drift.model.found_nodes import FoundNodes, NodesQuery, Sampled
from drift.model.nodes import Embedded, LabelledNode, OwnNode, StoredNode, Taking


class NodeFinder(Protocol):
    """Nodes of any kind, of one project at a time, a round trip each."""

    def within(self, allowed: Allowed) -> NodeFinder:
        """Return what finds the chunks of these documents alone."""

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        """Return the nodes nearest to a vector, each with the three most important around it."""

    async def sample(
        self,
        project_id: str,
        dimensions: int,
        pairs: Sequence[Sequence[float]],
        least: int,
        deadline: Deadline,
    ) -> Sampled:
        """Return the cosines of pairs of the project's texts with vectors of this length.

        A pair is two places among the texts, as shares of their number. Of fewer texts than `least`
        there is no cosine.
        """


class NodeStore(Protocol):
    """Writes people's own nodes, each with its vector in one write.

    Every method raises ProjectHeldError while an ingest holds the project, ConflictError for an id
    of ingestion's own, NotFoundError for a node that is not there.
    """

    async def find_node(self, project: Project, node_id: str, deadline: Deadline) -> StoredNode:
        """Return the node of an id."""

    async def create_node(
        self, project: Project, node: OwnNode, embedded: Embedded | None, deadline: Deadline
    ) -> None:
        """Make a node; ConflictError when the id is known."""

    async def replace_node(
        self,
        project: Project,
        node: OwnNode,
        embedded: Embedded | None,
        kept: str,
        deadline: Deadline,
    ) -> bool:
        """Give a node these properties and no others; tell whether it was written.

        Where `kept` is a hash, the vector of this hash stays; a node that lost it is not written.
        """

    async def remove_node(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges."""


class LabelledNodes(Protocol):
    """People's own nodes of a label, and their vectors.

    Nothing is written to a node that is not marked as theirs, but for the mark.
    """

    async def prepare(self, dimensions: int) -> None:
        """Create the key and the vector index of people's nodes; mark those of earlier releases."""

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own, by id."""

    def labelled(self, project_id: str, label: str, taking: Taking) -> AsyncGenerator[LabelledNode]:
        """Yield the project's nodes of a label, as far as `taking` includes them."""

    async def require_free(self, project_id: str) -> None:
        """Raise ProjectHeldError while an ingest holds the project."""

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        """Write vectors, and remove those of nodes without a text; return the number of nodes.

        A node that has changed meanwhile is left as it is. Raises ProjectHeldError.
        """
