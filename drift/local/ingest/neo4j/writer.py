"""GraphWriter on Neo4j: one writer a project at a time, repeatable after a break at any point."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import numpy as np
from neo4j import Record

from drift.graph.connection import Connection
from drift.graph.indexes import IndexNames
from drift.graph.node_rows import score_threshold, threshold_properties
from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    ModelReply,
    ProjectState,
)
from drift.local.ingest.neo4j import statements
from drift.local.ingest.neo4j.ensure import ensure_schema
from drift.local.ingest.neo4j.lease import LEASE_S, Lease, holding
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.neo4j.rows import ROWS, parts
from drift.local.ingest.neo4j.schema import ONLINE_WAIT_S
from drift.local.ingest.topics import Points
from drift.local.ingest.writers import MAX_WAIT_S, ProjectWriter
from drift.local.say import Say
from drift.model.found_nodes import ScoreThreshold


class Neo4jWriter:
    """Writes of one project at a time; building it opens nothing."""

    def __init__(self, connection: Connection, names: IndexNames, lease_s: float = LEASE_S) -> None:
        """Write through the connection, into the indexes of these names.

        A project stays held for `lease_s` seconds after a sign of life.
        """
        self._connection = connection
        self._names = names
        self._lease_s = lease_s

    @classmethod
    def connect(
        cls,
        uri: str,
        username: str,
        password: str,
        database: str,
        *,
        names: IndexNames | None = None,
    ) -> Self:
        """Return a writer with a connection of its own, not opened yet."""
        return cls(Connection(uri, username, password, database), names or IndexNames())

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def prepare(self, dimensions: int, wait_s: float = ONLINE_WAIT_S) -> tuple[str, ...]:
        """Create missing constraints and indexes; return what was created.

        Waits up to `wait_s` seconds until all are online.

        Several processes may do so at the same time.

        Raises:
            GraphMisconfiguredError: when a vector index is there with other dimensions, under
                another name, or not as needed.
        """
        return await ensure_schema(self._connection, self._names, dimensions, wait_s)

    # ---------------------------------------------------------------------------------------- reads
    async def project_state(self, project_id: str) -> ProjectState:
        """Return what the project holds, as the server counts it; empty for an unknown project."""
        values: dict[str, Any] = {"project_id": project_id}
        project = await self._row(statements.PROJECT_STATE, values)
        values["generation"] = project["generation"]
        knowledge = await self._row(statements.KNOWLEDGE_STATE, values)

        levels = {level: number for level, number in knowledge["communities"] if level is not None}
        counted = [
            knowledge["entities"],
            knowledge["relations"],
            sum(number for _, number in knowledge["communities"]),
        ]
        pairs = zip(project["written"], counted, strict=True)
        is_damaged = any(was is not None and was != now for was, now in pairs)

        documents = project["documents"]
        return ProjectState(
            documents={str(id_): str(content_hash) for id_, content_hash, _ in documents},
            fingerprint="" if is_damaged else str(project["fingerprint"]),
            sources={str(id_): str(source) for id_, _, source in documents},
            chunks=project["chunks"],
            entities=knowledge["entities"],
            relations=knowledge["relations"],
            communities=dict(sorted(levels.items())),
        )

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        """Return what the graph's projects hold, by id; of one alone, if it is there."""
        values = {"project_id": project_id}
        result = await self._connection.write(statements.HELD_PROJECTS, values)
        return tuple(
            HeldProject(row["id"], dict(sorted(row["sources"])), row["chunks"], row["nodes"])
            for row in result.records
            if row["id"] is not None
        )

    async def read_chunks(self, project_id: str) -> tuple[ChunkRecord, ...]:
        """Return every chunk that belongs to a document, without its vector; see the port."""
        result = await self._connection.write(statements.READ_CHUNKS, {"project_id": project_id})
        return tuple(
            ChunkRecord(
                str(r["id"]),
                str(r["document_id"]),
                r["ordinal"] or 0,
                r["heading"] or "",
                r["text"] or "",
                title=r["title"],
                topic=r["topic"],
            )
            for r in result.records
        )

    async def read_vectors(
        self, project_id: str, chunk_ids: Sequence[str], dimensions: int
    ) -> Points:
        """Return a row a chunk; zeros for one without a vector of this length."""
        vectors = np.zeros((len(chunk_ids), dimensions), dtype=np.float32)
        places = {id_: place for place, id_ in enumerate(chunk_ids)}
        for rows in parts([{"id": id_} for id_ in chunk_ids], ROWS):
            values = {"project_id": project_id, "rows": rows}
            for record in (await self._connection.write(statements.READ_VECTORS, values)).records:
                if len(record["embedding"] or ()) == dimensions:
                    vectors[places[record["id"]]] = record["embedding"]

        return vectors

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        """Return the project's topics; None where they are of other vectors, or it has none."""
        values = {"project_id": project_id}
        found = (await self._connection.write(statements.READ_TOPICS, values)).records
        if not found or (found[0]["embedding_models"] or [""]) != [embedding_model]:
            return None
        return KeptTopics(dict(found[0]["parents"]), found[0]["clustered"])

    async def read_replies(self, project_id: str) -> tuple[ModelReply, ...]:
        """Return what models replied, by key."""
        values = {"project_id": project_id}
        found = (await self._connection.write(statements.READ_REPLIES, values)).records
        return tuple(
            ModelReply(r["kind"], r["model"], tuple(r["parts"]), r["text"], r["tokens"])
            for r in found
        )

    async def kept_threshold(self, project_id: str) -> ScoreThreshold | None:
        """Return what was measured of the project; None where nothing was, or it is damaged."""
        values = {"project_id": project_id}
        found = (await self._connection.write(statements.KEPT_THRESHOLD, values)).records
        return score_threshold(found[0]["threshold"]) if found else None

    async def _row(self, text: str, parameters: dict[str, Any]) -> Record:
        # Asked of the server that writes: one that follows it may not have the last run yet.
        return (await self._connection.write(text, parameters)).records[0]

    # --------------------------------------------------------------------------------------- writes
    @asynccontextmanager
    async def writing(
        self, project_id: str, *, wait_s: float = MAX_WAIT_S, say: Say = lambda _: None
    ) -> AsyncIterator[ProjectWriter]:
        """Hold the project, and clear away what a run that broke left behind; see the port.

        Raises:
            ProjectBusyError: when another writer still holds it after `wait_s` seconds.
            LeaseLostError: as soon as the project is no longer held; the block is cancelled.
        """
        async with holding(
            Lease(self._connection, project_id, self._lease_s), wait_s=wait_s, say=say
        ) as lease:
            project = Neo4jProject(self._connection, lease)
            await project.settle()
            yield project

    async def keep_threshold(self, project_id: str, threshold: ScoreThreshold) -> None:
        """Keep at the project's node what was measured; without such a node nothing is kept."""
        values = {"project_id": project_id, "threshold": threshold_properties(threshold)}
        await self._connection.write(statements.KEEP_THRESHOLD, values)

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        """Hold the project and write documents into it; errors as for `writing` and there."""
        async with self.writing(project_id) as project:
            await project.write_documents(batch)

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        """Hold the project and remove documents; errors as for `writing` and there."""
        async with self.writing(project_id) as project:
            await project.remove_documents(document_ids)

    async def write_knowledge(self, project_id: str, batch: KnowledgeBatch) -> None:
        """Hold the project and replace its knowledge; errors as for `writing` and there."""
        async with self.writing(project_id) as project:
            await project.write_knowledge(batch)
