"""People's nodes that stand in the graph already: read by label, and given their vectors."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from drift.adapters.neo4j.connection import Connection, Statement
from drift.adapters.neo4j.cypher import node_writing
from drift.adapters.neo4j.node_store import Neo4jNodeStore
from drift.errors import ProjectBusyError
from drift.values.nodes import Embedded

_TEXTS = ("title", "name", "description")

_OF_INGESTION = "n:__Chunk__ OR n:__Entity__ OR n:__Community__ OR n:__Document__ OR n:__Project__"

LABELLED = f"""
MATCH (n:$($label))
WHERE NOT ({_OF_INGESTION})
  AND (n.project_id = $project_id OR $adopts AND n.project_id IS NULL)
RETURN elementId(n) AS element_id, n {{.title, .name, .description}} AS texts,
  n:__Node__ AND n.id IS NOT NULL AND n.project_id IS NOT NULL AS is_known,
  n.embedding IS NOT NULL AS has_vector, coalesce(n.embedding_hash, '') AS text_hash
"""

_SAME = " AND ".join(
    f"(n.{name} = row.texts.{name} OR n.{name} IS NULL AND row.texts.{name} IS NULL)"
    for name in _TEXTS
)

# A node that was changed or removed meanwhile is left for the next run.
PUT = f"""
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element_id AND {_SAME}
SET n:__Node__, n.project_id = $project_id, n.id = coalesce(n.id, row.new_id),
  n.embedding = row.embedding, n.embedding_model = row.embedding_model,
  n.embedding_hash = row.embedding_hash
RETURN count(n) AS written
"""

PROJECTS = f"""
MATCH (n:$($label))
WHERE NOT ({_OF_INGESTION}) AND n.project_id IS :: STRING NOT NULL
RETURN DISTINCT n.project_id AS project_id ORDER BY project_id
"""


@dataclass(frozen=True, slots=True)
class LabelledNode:
    """A node as it stands: the texts that make up what is searched, and whose vector it has.

    `is_known` tells whether it has all that a searchable node has, but for the vector.
    """

    element_id: str
    texts: Mapping[str, Any]
    is_known: bool
    has_vector: bool
    text_hash: str


class Neo4jNodes:
    """Reads and indexes nodes; building it opens nothing."""

    def __init__(self, connection: Connection) -> None:
        """Keep the connection."""
        self._connection = connection

    @classmethod
    def connect(cls, uri: str, username: str, password: str, database: str) -> Self:
        """Return one with a connection of its own, not opened yet."""
        return cls(Connection(uri, username, password, database))

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def prepare(self, dimensions: int) -> None:
        """Create the key and the vector index of people's nodes, if they are not there."""
        await Neo4jNodeStore(self._connection).require_index(dimensions)

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own."""
        rows = await self._connection.rows(PROJECTS, {"label": label})
        return [row["project_id"] for row in rows]

    async def labelled(
        self, project_id: str, label: str, *, adopts: bool
    ) -> AsyncIterator[LabelledNode]:
        """Yield the project's nodes of a label; with `adopts`, those of no project too."""
        values = {"project_id": project_id, "label": label, "adopts": adopts}
        async for row in self._connection.stream(LABELLED, values):
            yield LabelledNode(**row)

    async def put(
        self, project_id: str, nodes: Sequence[tuple[LabelledNode, Embedded | None]]
    ) -> int:
        """Give nodes their vectors, or take away what is of no text; return how many it were.

        Raises:
            ProjectBusyError: an ingest holds the project.
        """
        rows = [_row(node, embedded) for node, embedded in nodes]
        about = {"project_id": project_id, "id": ""}

        async def work(run: Statement) -> int:
            await run(node_writing.LOCK, about)
            if (await run(node_writing.STANDING, about)).records[0]["is_held"]:
                raise ProjectBusyError(f"Project {project_id} is being ingested: run this again.")
            result = await run(PUT, {"project_id": project_id, "rows": rows})
            return int(result.records[0]["written"])

        return await self._connection.transaction(work)


def _row(node: LabelledNode, embedded: Embedded | None) -> dict[str, Any]:
    return {
        "element_id": node.element_id,
        "texts": dict(node.texts),
        "new_id": str(uuid.uuid4()),
        "embedding": list(embedded.vector) if embedded else None,
        "embedding_model": embedded.model if embedded else None,
        "embedding_hash": embedded.text_hash if embedded else None,
    }
