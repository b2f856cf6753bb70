"""LabelledNodes on Neo4j: people's nodes read by label, and given their vectors."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Self

from drift.core.deadline import Deadline
from drift.core.errors import ProjectHeldError
from drift.graph.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.cypher import labelled_nodes, node_writing
from drift.graph.node_store import Neo4jNodeStore
from drift.model.nodes import Embedded, LabelledNode, Taking


class Neo4jLabelledNodes:
    """Reads and indexes nodes; building it opens nothing."""

    def __init__(self, connection: Connection) -> None:
        """Use the connection of whoever made it."""
        self._connection = connection
        self._store = Neo4jNodeStore(connection)

    @classmethod
    def connect(cls, uri: str, username: str, password: str, database: str) -> Self:
        """Return one with a connection of its own, not opened yet."""
        return cls(Connection(uri, username, password, database))

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def prepare(self, dimensions: int) -> None:
        """Create the key and the index of people's nodes; see drift.ports.LabelledNodes."""
        await self._store.require_index(dimensions)
        await self._connection.write_in_batches(node_writing.TAKE_OVER_ALL, {})

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own."""
        rows = await self._connection.rows(labelled_nodes.PROJECTS, {"label": label})
        return [row["project_id"] for row in rows]

    async def labelled(
        self, project_id: str, label: str, taking: Taking
    ) -> AsyncGenerator[LabelledNode]:
        """Yield the project's nodes of a label; see drift.ports.LabelledNodes."""
        values = {
            "project_id": project_id,
            "label": label,
            "marks": taking != "marked",
            "adopts": taking == "unowned",
        }
        async for row in self._connection.stream(labelled_nodes.LABELLED, values):
            yield LabelledNode(**{**row, "id": row["id"] or row["element_id"]})

    async def require_free(self, project_id: str) -> None:
        """Raise ProjectHeldError while an ingest holds the project."""
        held = await self._connection.read(labelled_nodes.HELD, {"project_id": project_id})
        if held.records:
            raise ProjectHeldError(project_id)

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        """Give nodes their vectors, or take them away; see drift.ports.LabelledNodes."""
        first_of = {node.id: (node, embedded) for node, embedded in reversed(nodes)}
        rows = [_row(node, embedded) for node, embedded in first_of.values()]
        about = {"project_id": project_id, "id": ""}

        async def work(run: Statement) -> int:
            await run(node_writing.LOCK, about)
            if (await run(node_writing.STANDING, about)).records[0]["is_held"]:
                raise ProjectHeldError(project_id)
            result = await run(labelled_nodes.PUT, {"project_id": project_id, "rows": rows})
            return int(result.records[0]["written"])

        seconds = min(WRITE_TIMEOUT_S, deadline.require())
        return await self._connection.transaction(work, seconds)


def _row(node: LabelledNode, embedded: Embedded | None) -> dict[str, Any]:
    return {
        "element_id": node.element_id,
        "texts": dict(node.texts),
        "new_id": str(uuid.uuid4()),
        "embedding": list(embedded.vector) if embedded else None,
        "embedding_model": embedded.model if embedded else None,
        "embedding_hash": embedded.text_hash if embedded else None,
    }
