"""NodeStore and LabelledNodes on Neo4j: a node and its vector are one write."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
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
from drift.graph.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.cypher import node_writing as statements
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.vector_indexes import create_key, create_vector_index
from drift.graph.indexes import NODE_INDEX
from drift.model.nodes import Embedded, LabelledNode, OwnNode, StoredNode, Taking

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Standing:
    """What stands under an id before a write."""

    stored: StoredNode | None
    is_of_ingestion: bool


class Neo4jNodeStore:
    """Works over the connection of whoever made it; what each method does, drift.ports says."""

    def __init__(self, connection: Connection) -> None:
        """Open nothing."""
        self._connection = connection
        self._is_indexed = False

    # -------------------------------------------------------------------------------- one node
    async def find_node(self, project: Project, node_id: str, deadline: Deadline) -> StoredNode:
        """Return what stands under an id."""

        async def work(_run: Statement, standing: _Standing) -> StoredNode:
            return _required(standing, node_id)

        return await self._within(project, node_id, work, deadline)

    async def create_node(
        self, project: Project, node: OwnNode, embedded: Embedded | None, deadline: Deadline
    ) -> None:
        """Make a node."""

        async def work(run: Statement, standing: _Standing) -> None:
            if standing.is_of_ingestion:
                raise _of_ingestion(node.id)

            if standing.stored is not None:
                raise ConflictError(
                    f"The project has a node {node.id!r} already: change it by PUT."
                )

            values = {"properties": _stored(project, node, embedded), "label": node.label}
            await run(statements.CREATE, {"project_id": project.id, **values})

        if embedded is not None:
            await self._require_index(len(embedded.vector))

        await self._within(project, node.id, work, deadline)

    async def replace_node(
        self,
        project: Project,
        node: OwnNode,
        embedded: Embedded | None,
        kept: str,
        deadline: Deadline,
    ) -> bool:
        """Give a node these properties and no others; tell whether it was written."""

        async def work(run: Statement, standing: _Standing) -> bool:
            stored = _required(standing, node.id)
            if kept and stored.text_hash != kept:
                return False

            properties = _stored(project, node, embedded)
            values = {"project_id": project.id, "id": node.id, "keeps": bool(kept)}
            await run(statements.REPLACE, {**values, "properties": properties})
            return True

        if embedded is not None:
            await self._require_index(len(embedded.vector))
        return await self._within(project, node.id, work, deadline)

    async def remove_node(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges."""

        async def work(run: Statement, standing: _Standing) -> None:
            _required(standing, node_id)
            await run(statements.REMOVE, {"project_id": project.id, "id": node_id})

        await self._within(project, node_id, work, deadline)

    # ------------------------------------------------------------------------- nodes of a label
    async def prepare(self, dimensions: int) -> None:
        """Create the key and the index of people's nodes."""
        await self._require_index(dimensions)
        await self._connection.write_in_batches(statements.TAKE_OVER_ALL, {})

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own."""
        rows = await self._connection.rows(statements.PROJECTS, {"label": label})
        return [row["project_id"] for row in rows]

    async def labelled(
        self, project_id: str, label: str, taking: Taking
    ) -> AsyncGenerator[LabelledNode]:
        """Yield the project's nodes of a label."""
        values = {
            "project_id": project_id,
            "label": label,
            "marks": taking != "marked",
            "adopts": taking == "unowned",
        }
        async for row in self._connection.stream(statements.LABELLED, values):
            yield LabelledNode(**{**row, "id": row["id"] or row["element_id"]})

    async def require_free(self, project_id: str) -> None:
        """Raise ProjectHeldError while an ingest holds the project."""
        held = await self._connection.read(statements.HELD, {"project_id": project_id})
        if held.records:
            raise ProjectHeldError(project_id)

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        """Give nodes their vectors, or take them away."""
        first_of = {node.id: (node, embedded) for node, embedded in reversed(nodes)}
        rows = [_row(node, embedded) for node, embedded in first_of.values()]
        about = {"project_id": project_id, "id": ""}

        async def work(run: Statement) -> int:
            await run(statements.LOCK, about)
            if (await run(statements.STANDING, about)).records[0]["is_held"]:
                raise ProjectHeldError(project_id)
            result = await run(statements.PUT, {"project_id": project_id, "rows": rows})
            return int(result.records[0]["written"])

        seconds = min(WRITE_TIMEOUT_S, deadline.require())
        return await self._connection.transaction(work, seconds)

    async def _require_index(self, dimensions: int) -> None:
        """Create key and index of people's nodes with the first one, if the login may do so."""
        if self._is_indexed:
            return

        self._is_indexed = True
        forms = create_vector_index(NODE_INDEX, PERSONAL, is_filtered=True)
        keys = (create_key("drift_own_node_key", PERSONAL, "project_id", "id"),)
        for texts in (keys, forms):
            if not await self._creates_one_of(texts, dimensions):
                log.warning("node_index_not_created", extra={"label": PERSONAL})

    async def _creates_one_of(self, texts: Sequence[str], dimensions: int) -> bool:
        for text in texts:
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
        """Do the work in one transaction that has the project to itself, which no ingest holds."""
        about = {"project_id": project.id, "id": node_id}

        async def unit(run: Statement) -> _T:
            await run(statements.LOCK, about)
            await run(statements.TAKE_OVER, about)
            row = (await run(statements.STANDING, about)).records[0]
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


def _row(node: LabelledNode, embedded: Embedded | None) -> dict[str, Any]:
    return {
        "element_id": node.element_id,
        "texts": dict(node.texts),
        "new_id": str(uuid.uuid4()),
        "embedding": list(embedded.vector) if embedded else None,
        "embedding_model": embedded.model if embedded else None,
        "embedding_hash": embedded.text_hash if embedded else None,
    }
