"""Writing people's own nodes, top to bottom: check, embed, write node and vector at once."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from drift.auth.caller import Project
from drift.contracts.nodes import NewNode, NodeOut
from drift.core.deadline import Deadline
from drift.core.errors import ConflictError, FieldProblem, InvalidRequestError
from drift.model.found_nodes import OF_INGESTION
from drift.model.graph import Vector
from drift.model.nodes import Embedded, OwnNode, Properties
from drift.nodes.node_text import DESCRIPTION, TITLES, searchable_text, text_hash, title_of
from drift.nodes.ports import NodeStore
from drift.ports import Embedder


@dataclass(frozen=True, slots=True)
class NodeRules:
    """Which labels are searched, by which embedding model, and whether nodes are embedded."""

    labels: tuple[str, ...]
    model: str
    dimensions: int
    embeds: bool = True

    def hash_of(self, text: str) -> str:
        """Return the hash of a text that its vector is stored with."""
        return text_hash(text, self.model, self.dimensions)

    def embedded(self, text: str, vector: Vector) -> Embedded:
        """Return the vector of a text as it is stored."""
        return Embedded(vector, self.model, self.hash_of(text))

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The labels that people may give to nodes."""
        return tuple(label for label in self.labels if label not in OF_INGESTION)


class NodeWriting:
    """Makes, changes and removes nodes; it holds nothing about a request."""

    def __init__(self, store: NodeStore, embedder: Embedder, rules: NodeRules) -> None:
        """Keep the servers and the rules of every write."""
        self._store = store
        self._embedder = embedder
        self._rules = rules

    async def create(self, project: Project, asked: NewNode, deadline: Deadline) -> NodeOut:
        """Make a node with its vector.

        Raises:
            InvalidRequestError: for a label that is not searched, or properties without a text.
            ConflictError: the id is known, or it is one of ingestion's own.
            ProjectHeldError: an ingest holds the project.
            UpstreamError: from the graph or the model.
        """
        if asked.label not in self._rules.own_labels:
            known = ", ".join(self._rules.own_labels) or "none, until RAG_LABELS names one"
            message = f"must be one of the labels that are searched: {known}"
            raise InvalidRequestError((FieldProblem("label", message),))

        text = _required_text(asked.properties)

        node = OwnNode(asked.id or str(uuid4()), asked.label, asked.properties)
        embedded = await self._embed(text, deadline)
        await self._store.create_node(project, node, embedded, deadline)
        return _written(project, node, embedded)

    async def replace(
        self,
        project: Project,
        node_id: str,
        properties: Properties,
        deadline: Deadline,
    ) -> NodeOut:
        """Give a node these properties and no others; only another text is embedded anew.

        Properties and vector are one write: where the vector that was to stay is gone meanwhile,
        nothing is written, and the text is embedded first.

        Raises:
            NotFoundError: the project has no such node, or it was removed meanwhile.
            InvalidRequestError, ConflictError, ProjectHeldError, UpstreamError: as for `create`.
        """
        text = _required_text(properties)
        wanted = self._rules.hash_of(text)
        # A node that others change all the time is given up after so many tries.
        for _ in range(3):
            stored = await self._store.find_node(project, node_id, deadline)
            is_same = stored.text_hash == wanted
            embedded = None if is_same else await self._embed(text, deadline)
            node = OwnNode(node_id, stored.label, properties)
            kept = wanted if is_same else ""
            if await self._store.replace_node(project, node, embedded, kept, deadline):
                return _written(project, node, embedded)

        raise ConflictError(f"The node {node_id!r} is being changed by others; ask again.")

    async def remove(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges; errors as for `replace`."""
        await self._store.remove_node(project, node_id, deadline)

    async def _embed(self, text: str, deadline: Deadline) -> Embedded | None:
        """Return the vector of a text; none where nodes are not searched."""
        if not self._rules.embeds:
            return None
        made = await self._embedder.embed([text], deadline)
        return self._rules.embedded(text, made.vectors[0])


def _required_text(properties: Properties) -> str:
    text = searchable_text(properties)
    if text:
        return text
    wanted = DESCRIPTION if title_of(properties) else " or ".join(TITLES)
    message = f"must hold a text under {wanted}: a node is searched by title and description"
    raise InvalidRequestError((FieldProblem("properties", message),))


def _written(project: Project, node: OwnNode, embedded: Embedded | None) -> NodeOut:
    return NodeOut(
        id=node.id,
        project_id=project.id,
        label=node.label,
        title=title_of(node.properties),
        embedded=embedded is not None,
    )
