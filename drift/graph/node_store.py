"""NodeStore on Neo4j: a node and its vector are one write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from drift.auth.caller import Project
from drift.core.deadline import Deadline
from drift.core.errors import (
    ConflictError,
    GraphMisconfiguredError,
    NotFoundError,
    ProjectHeldError,
)
from drift.core.logs import log
from drift.graph.connection import Connection, Statement
from drift.graph.cypher import node_writing
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.vector_indexes import create_key, create_vector_index
from drift.graph.indexes import NODE_INDEX
from drift.model.nodes import Embedded, OwnNode, StoredNode

NODE_KEY = "drift_own_node_key"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Standing:
    """What stands under an id before a write."""

    stored: StoredNode | None
    is_of_ingestion: bool


class Neo4jNodeStore:
    """Writes over the connection of whoever made it; building it opens nothing."""

    def __init__(self, connection: Connection) -> None:
        """Write into the database of this connection."""
        self._connection = connection
        self._is_indexed = False

    async def find_node(self, project: Project, node_id: str, deadline: Deadline) -> StoredNode:
        """Return what stands under an id; see drift.ports.NodeStore."""

        async def work(_run: Statement, standing: _Standing) -> StoredNode:
            return _required(standing, node_id)

        return await self._within(project, node_id, work, deadline)

    async def create_node(
        self, project: Project, node: OwnNode, embedded: Embedded | None, deadline: Deadline
    ) -> None:
        """Make a node; see drift.ports.NodeStore."""

        async def work(run: Statement, standing: _Standing) -> None:
            if standing.is_of_ingestion:
                raise _of_ingestion(node.id)

            if standing.stored is not None:
                raise ConflictError(
                    f"The project has a node {node.id!r} already: change it by PUT."
                )

            values = {"properties": _stored(project, node, embedded), "label": node.label}
            await run(node_writing.CREATE, {"project_id": project.id, **values})

        if embedded is not None:
            await self.require_index(len(embedded.vector))

        await self._within(project, node.id, work, deadline)

    async def replace_node(
        self,
        project: Project,
        node: OwnNode,
        embedded: Embedded | None,
        kept: str,
        deadline: Deadline,
    ) -> bool:
        """Give a node these properties and no others; see drift.ports.NodeStore."""

        async def work(run: Statement, standing: _Standing) -> bool:
            stored = _required(standing, node.id)
            if kept and stored.text_hash != kept:
                return False

            properties = _stored(project, node, embedded)
            values = {"project_id": project.id, "id": node.id, "keeps": bool(kept)}
            await run(node_writing.REPLACE, {**values, "properties": properties})
            return True

        if embedded is not None:
            await self.require_index(len(embedded.vector))
        return await self._within(project, node.id, work, deadline)

    async def remove_node(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges; see drift.ports.NodeStore."""

        async def work(run: Statement, standing: _Standing) -> None:
            _required(standing, node_id)
            await run(node_writing.REMOVE, {"project_id": project.id, "id": node_id})

        await self._within(project, node_id, work, deadline)

    async def require_index(self, dimensions: int) -> None:
        """Create the key and the index of people's nodes with the first of them.

        A login that may not do so leaves them to `drift prepare`; nodes are written all the same.
        """
        if self._is_indexed:
            return

        self._is_indexed = True
        forms = create_vector_index(NODE_INDEX, PERSONAL, is_filtered=True)
        keys = (create_key(NODE_KEY, PERSONAL, "project_id", "id"),)
        for statements in (keys, forms):
            if not await self._creates_one_of(statements, dimensions):
                log.warning("node_index_not_created", extra={"label": PERSONAL})

    async def _creates_one_of(self, statements: Sequence[str], dimensions: int) -> bool:
        for text in statements:
            values = {"dimensions": dimensions} if "$dimensions" in text else {}
            try:
                await self._connection.write(text, values)
            except GraphMisconfiguredError:
                continue  # the server does not know this form, or the login may not
            return True
        return False

    async def _within(
        self,
        project: Project,
        node_id: str,
        work: Callable[[Statement, _Standing], Awaitable[_T]],
        deadline: Deadline,
    ) -> _T:
        """Do the work in one transaction that has the project to itself.

        Raises:
            ProjectHeldError: an ingest holds the project.
        """
        about = {"project_id": project.id, "id": node_id}

        async def unit(run: Statement) -> _T:
            await run(node_writing.LOCK, about)
            await run(node_writing.TAKE_OVER, about)
            row = (await run(node_writing.STANDING, about)).records[0]
            if row["is_held"]:
                raise ProjectHeldError(project.id)
            return await work(run, _standing(row))

        async with deadline.enforced():
            return await self._connection.transaction(unit, deadline.require())


def _standing(row: Mapping[str, Any]) -> _Standing:
    labels = row["labels"]
    if labels is None:
        return _Standing(None, row["is_of_ingestion"])
    own = next((label for label in labels if not label.startswith("__")), "")
    return _Standing(StoredNode(own, str(row["text_hash"] or "")), row["is_of_ingestion"])


def _required(standing: _Standing, node_id: str) -> StoredNode:
    if standing.stored is not None:
        return standing.stored
    if standing.is_of_ingestion:
        raise _of_ingestion(node_id)
    raise NotFoundError("The project has no such node.")


def _of_ingestion(node_id: str) -> ConflictError:
    return ConflictError(
        f"{node_id!r} is of the project's own documents: it is changed by an ingest alone."
    )


def _stored(project: Project, node: OwnNode, embedded: Embedded | None) -> dict[str, Any]:
    """Return all properties that the node has in the graph, but for its time."""
    stored = {**node.properties, "id": node.id, "project_id": project.id}
    if embedded is None:
        return stored
    return stored | {
        "embedding": list(embedded.vector),
        "embedding_model": embedded.model,
        "embedding_hash": embedded.text_hash,
    }
