"""Projects in Neo4j: one writer a project at a time, repeatable after a break at any point."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import InitVar, dataclass, field

import numpy as np
from neo4j import Record

from drift.core.deadline import Deadline, task_group
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.graph.node_rows import score_threshold, threshold_properties
from drift.graph.vector_copy import VectorCopy
from drift.graph.versions import FIRST, OwnVectors, keep_format, read_known_format
from drift.graph.writing import state_statements
from drift.graph.writing.documents import held_headings
from drift.graph.writing.lease import LEASE_S, MAX_WAIT_S, Lease, holding
from drift.graph.writing.records import (
    ChunkDefinitions,
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    Member,
    ModelReply,
    ProjectState,
)
from drift.graph.writing.rows import ROWS, parts, read_defines, read_skipped, stored_document
from drift.indexing.records import embedding_of
from drift.local.ingest.by_model.writing import embedded_text
from drift.local.ingest.neo4j import knowledge_statements as statements
from drift.local.ingest.neo4j.document_vectors import fill_documents
from drift.local.ingest.neo4j.ensure import ensure_schema
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.neo4j.schema import ONLINE_WAIT_S
from drift.local.ingest.topics import Points
from drift.local.say import Say
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import FollowupQuery, Vector
from drift.originals.store import DocumentStore
from drift.ports import VectorStore
from drift.search.ranking import ranked

MOST_SEARCHED_S, SEARCHES_AT_ONCE = 60.0, 4


@dataclass(slots=True)
class Neo4jWriter:
    """Writes of one project at a time, into the indexes of these names; building it opens nothing.

    A project stays held for `lease_s` seconds after a sign of life. Where the graph has a version
    of this embedding model's vectors, that one is written and read. A `store` beside the graph
    follows whenever a project is given back. `originals` keep the files of documents.
    """

    connection: Connection
    names: IndexNames
    lease_s: float = LEASE_S
    model: InitVar[str] = ""
    dimensions: InitVar[int] = 0
    store: InitVar[VectorStore | None] = None
    originals: DocumentStore | None = None
    own: OwnVectors = field(init=False)
    copy: VectorCopy | None = field(init=False)

    def __post_init__(self, model: str, dimensions: int, store: VectorStore | None) -> None:
        """Say which vectors are the model's, and what follows them."""
        self.own = OwnVectors(self.connection, model, dimensions, math.inf)
        self.copy = VectorCopy(store, self.connection, self.own) if store else None

    async def close(self) -> None:
        """Close the connection, and the store's."""
        if self.copy is not None:
            await self.copy.store.close()
        if self.originals is not None:
            await self.originals.close()
        await self.connection.close()

    async def prepare(self, dimensions: int, wait_s: float = ONLINE_WAIT_S) -> tuple[str, ...]:
        """Create missing constraints and indexes, wait until all are online, and name them.

        Several processes may do so at the same time. GraphMisconfiguredError where an index is not
        as needed, or a newer release wrote this graph.
        """
        said = await read_known_format(self.connection)
        self.own.forget()
        version = await self.own.version()
        names = self.names.of(version)
        created = await ensure_schema(self.connection, names, dimensions, wait_s, version.vector)
        if names.documents in created:
            await self.fill_documents()
        if said.number is None:
            await keep_format(self.connection)
        return created

    async def fill_documents(self) -> None:
        """Give the documents of all projects that lack one their vector; no model is asked."""
        await fill_documents(self.connection, (await self.own.version()).vector)

    # ---------------------------------------------------------------------------------------- reads
    async def project_state(self, project_id: str) -> ProjectState:
        """Return the server's counts of the project; empty for an unknown project."""
        project = (await self._found(state_statements.PROJECT_STATE, project_id))[0]
        about = {"generation": project["generation"]}
        knowledge = (await self._found(statements.KNOWLEDGE_STATE, project_id, **about))[0]

        levels = {level: number for level, number in knowledge["communities"] if level is not None}
        communities = sum(number for _, number in knowledge["communities"])
        counted = [knowledge["entities"], knowledge["relations"], communities]
        pairs = zip(project["written"], counted, strict=True)
        is_damaged = any(was is not None and was != now for was, now in pairs)

        documents = map(stored_document, project["documents"])
        skipped = map(read_skipped, project["skipped"])
        return ProjectState(
            documents={document.id: document for document in documents},
            fingerprint="" if is_damaged else str(project["fingerprint"]),
            chunks=project["chunks"],
            entities=knowledge["entities"],
            relations=knowledge["relations"],
            communities=dict(sorted(levels.items())),
            skipped={place: (version, reason) for place, version, reason in skipped},
            namespace=project["namespace"],
        )

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        """Return what the graph's projects hold, by id; of one alone, if it is there."""
        values = {"project_id": project_id}
        own = (await self.connection.write(statements.HELD_NODES, values)).records
        nodes: dict[str | None, int] = {row["id"]: row["nodes"] for row in own}
        result = await self.connection.write(statements.HELD_PROJECTS, values)
        return tuple(
            HeldProject(
                row["id"], dict(sorted(row["sources"])), row["chunks"], nodes.get(row["id"], 0)
            )
            for row in result.records
            if row["id"] is not None
        )

    async def held_chunks(
        self, project_id: str, document_ids: Sequence[str], embedding: str
    ) -> dict[str, str]:
        """Return the heading of each chunk that has a vector of this model, by the chunk's id."""
        named = await self._named(project_id) | {"embedding": embedding}
        return await held_headings(self.connection, document_ids, named)

    async def read_members(self, project_id: str) -> tuple[list[Member], list[ChunkDefinitions]]:
        """Return every chunk that belongs to a document, in order of documents and places.

        Beside them stands what chunks define and name, of those that do.
        """
        members: dict[str, Member] = {}
        facts: list[ChunkDefinitions] = []
        for r in await self._found(statements.READ_MEMBERS, project_id):
            for id_, defines, names in r["chunks"]:
                if id_ in members:
                    continue
                members[id_] = Member(id_, str(r["document_id"]), r["title"], r["is_new"])
                if defines or names:
                    facts.append(ChunkDefinitions(id_, read_defines(defines), tuple(names)))
        return list(members.values()), facts

    async def read_chunks(
        self, project_id: str, members: Sequence[Member], dimensions: int
    ) -> dict[str, tuple[ChunkRecord, Points]]:
        """Return these chunks by their ids, each with its vector; zeros for one without."""
        member_of = {member.chunk_id: member for member in members}
        chunks: dict[str, tuple[ChunkRecord, Points]] = {}
        for rows in parts([{"id": id_} for id_ in member_of], ROWS):
            for r in await self._found(statements.READ_CHUNKS, project_id, rows=rows):
                member, vector = member_of[r["id"]], r["embedding"] or ()
                chunk = ChunkRecord(
                    member.chunk_id,
                    member.document_id,
                    r["ordinal"] or 0,
                    r["heading"] or "",
                    r["text"] or "",
                    title=member.title,
                    links=tuple(r["links"] or ()),
                )
                usable = vector if len(vector) == dimensions else [0.0] * dimensions
                chunks[chunk.id] = chunk, np.array(usable, dtype=np.float32)

        return chunks

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        """Return the project's topics; None where they are of other vectors, or it has none."""
        found = await self._found(statements.READ_TOPICS, project_id)
        if not found:
            return None
        is_first, held = await self.own.version() == FIRST, found[0]["held"]
        if is_first and (held["embedding_models"] or [""]) != [embedding_model]:
            return None

        rows, questions = found[0]["communities"], held["questions"]
        return KeptTopics(
            {
                row["community"]: CommunityRecord(
                    row["community"],
                    row["level"],
                    row["parent"],
                    row["title"],
                    row["summary"],
                    mean=tuple(row["mean"] or ()),
                    says=row["says"] is not False,
                    digest=row["digest"] or "",
                )
                for row in rows
            },
            {id_: row["community"] for row in rows for id_ in row["members"]},
            {row["community"]: row["chunks"] or 0 for row in rows},
            frozenset(row["community"] for row in rows if row["stale"]),
            held["clustered_chunks"],
            tuple(map(str, questions)) if isinstance(questions, list) else (),
        )

    async def first_found(
        self, project_id: str, asked: Sequence[str], vectors: Sequence[Vector]
    ) -> list[list[str]]:
        """Return for each question the ids of the chunks that a search finds, the best first."""
        model, dimensions = self.own.model, self.own.dimensions
        graph = Neo4jGraph(
            self.connection, self.names, embedding_model=model, dimensions=dimensions
        )
        deadline, at_once = Deadline.after(MOST_SEARCHED_S), asyncio.Semaphore(SEARCHES_AT_ONCE)

        async def ids(question: str, vector: Vector) -> list[str]:
            async with at_once:
                query = FollowupQuery(project_id, question, vector, ())
                found = await graph.followup(query, deadline)
            return [chunk.id for chunk in ranked(found, question).chunks]

        async with task_group() as group:
            found = [group.create_task(ids(*pair)) for pair in zip(asked, vectors, strict=True)]
        return [one.result() for one in found]

    async def read_replies(self, project_id: str) -> tuple[ModelReply, ...]:
        """Return the replies of models, by key."""
        found = await self._found(statements.READ_REPLIES, project_id)
        return tuple(
            ModelReply(r["kind"], r["model"], tuple(r["parts"]), r["text"], r["tokens"])
            for r in found
        )

    async def read_entity_vectors(
        self, project_id: str, embedding_model: str, titles: Sequence[str] | None = None
    ) -> dict[str, Vector]:
        """Return the vectors of the project's entities, or of those so titled, by their text."""
        about = {"embedding_models": [embedding_model], "titles": titles}
        found = await self._found(statements.READ_ENTITY_VECTORS, project_id, **about)
        return {
            embedded_text(r["title"], r["description"]): tuple(r["embedding"])
            for r in found
            if r["embedding"]
        }

    async def read_texts_off(self, project_id: str) -> list[str]:
        """Return the texts of the chunks whose documents are switched off."""
        found = await self._found(state_statements.READ_OFF, project_id)
        return [record["text"] for record in found]

    async def kept_threshold(self, project_id: str) -> tuple[ScoreThreshold | None, int | None]:
        """Return what was measured of the project, and when the project was last written.

        None where nothing was measured, or it is damaged.
        """
        found = await self._found(statements.KEPT_THRESHOLD, project_id)
        if not found:
            return None, None
        return score_threshold(found[0]["threshold"]), found[0]["written_at"]

    async def _found(self, text: str, project_id: str, **more: object) -> list[Record]:
        # Asked of the server that writes: one that follows it may not have the last run yet.
        values = await self._named(project_id) | more
        return (await self.connection.write(text, values)).records

    async def _named(self, project_id: str) -> dict[str, object]:
        version = await self.own.version()
        return {
            "project_id": project_id,
            "vector": version.vector,
            "mean": version.named("mean"),
            "embedding": embedding_of(self.own.model, self.own.dimensions),
        }

    # --------------------------------------------------------------------------------------- writes
    @asynccontextmanager
    async def writing(
        self,
        project_id: str,
        *,
        wait_s: float = MAX_WAIT_S,
        say: Say = lambda _: None,
        half_done: bool = False,
    ) -> AsyncIterator[Neo4jProject]:
        """Hold the project, and clear away what a broken run left behind; errors as for `holding`.

        One that is half restored or deleted is held where `half_done` says so, else an IngestError.
        """
        async with holding(
            Lease(self.connection, project_id, self.lease_s), wait_s=wait_s, say=say
        ) as lease:
            project = Neo4jProject(lease, await self.own.version())
            if not half_done:
                await project.settle()
            yield project
            if self.copy is not None:
                await self.copy.follow(project_id)

    async def keep_threshold(self, project_id: str, threshold: ScoreThreshold) -> None:
        """Keep at the project's node what was measured; without such a node nothing is kept."""
        values = {"project_id": project_id, "threshold": threshold_properties(threshold)}
        await self.connection.write(statements.KEEP_THRESHOLD, values)

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
