"""A graph in memory: GraphStore and GraphWriter, held to the real graph by the contract tests."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from drift.core.deadline import Deadline
from drift.core.errors import (
    GraphMisconfiguredError,
    IngestError,
    ModelMisconfiguredError,
    ProjectBusyError,
)
from drift.graph.rows import with_named
from drift.graph.writing.lease import MAX_WAIT_S
from drift.graph.writing.records import (
    ChunkDefinitions,
    ChunkRecord,
    DocumentBatch,
    HeldProject,
    KeptTopics,
    KnowledgeBatch,
    Member,
    ModelReply,
    ProjectState,
)
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.stamps import Comparison, Stamps, stamps_of
from drift.local.ingest.topics import Points
from drift.model.graph import (
    Candidate,
    Candidates,
    FollowupQuery,
    PrimerEvidence,
    PrimerQuery,
    Vector,
)
from drift.model.health import GraphHealth, Index
from tests.fakes_neighbourhood import with_neighbourhood
from tests.fakes_placed import MOST_FOLLOWED, following, named, pinned
from tests.fakes_project import (
    Project,
    best_communities,
    community,
    shared_mentions,
    walked,
    worded,
)

__all__ = ["FakeGraph", "Held", "Project"]

POOL = 60
KEPT = 48
SPARE_CHUNKS = 10


@dataclass
class Held:
    """ProjectWriter over the writes of a GraphWriter in memory, which are always whole."""

    graph: Any
    project_id: str

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a write of the graph, of this project."""
        return partial(getattr(self.graph, name), self.project_id)


class KeptReplies:
    """What a graph in memory keeps of a model's replies."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, str], ModelReply] = {}

    async def read_replies(self, project_id: str) -> tuple[ModelReply, ...]:
        return tuple(reply for (owner, _), reply in self.replies.items() if owner == project_id)

    async def keep_replies(self, project_id: str, replies: Sequence[ModelReply]) -> None:
        self.replies |= {(project_id, reply.key): reply for reply in replies}

    async def drop_replies(self, project_id: str, keys: Sequence[str]) -> None:
        for key in keys:
            self.replies.pop((project_id, key), None)


class FakeGraph(KeptReplies):
    """GraphStore and GraphWriter over dictionaries.

    `failure` is raised by every call while it is set.
    """

    def __init__(
        self,
        followup_scope: Literal["soft", "hard"] = "soft",
        projects: dict[str, Project] | None = None,
    ) -> None:
        super().__init__()
        self.projects = {} if projects is None else projects
        self.hard = followup_scope == "hard"
        self.dimensions: int | None = None
        self.failure: Exception | None = None
        self.round_trips = 0
        self.held: set[str] = set()

    # ---------------------------------------------------------------------------------------- reads
    async def has_topics(self, _project_id: str, _deadline: Deadline) -> bool:
        return False

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        project = self._answer(query.project_id, deadline, query.vector)
        best = best_communities(project, query)
        if not best:
            near = project.nearest(query.vector, project.chunks)[:SPARE_CHUNKS]
            if project.chunks and not near:
                raise GraphMisconfiguredError(
                    f"The project has chunks, but none with an embedding of {len(query.vector)} "
                    f"floats: run `python -m drift prepare`."
                )
            return PrimerEvidence(chunks=tuple(project.chunk(*pair) for pair in near))
        return PrimerEvidence(tuple(community(project, c, query.vector) for c in best))

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        project = self._answer(query.project_id, deadline, query.vector)
        scope = project.below(query.communities)
        known = set(query.communities) & set(project.communities)
        searched = scope if self.hard and known else set(project.chunks)
        legs = (
            project.nearest(query.vector, searched)[:POOL],
            worded(project, query.question, searched)[:POOL],
            walked(project, query.question, searched)[:POOL],
        )
        votes: defaultdict[str, float] = defaultdict(float)
        for leg in legs:
            for rank, (chunk_id, _) in enumerate(leg):
                votes[chunk_id] += 1 / (60 + rank)
        chosen = sorted(votes, key=lambda k: (-votes[k], k))[:KEPT]
        text, graph = dict(legs[1]), dict(legs[2])
        cosines = dict(project.nearest(query.vector, chosen))
        shared = shared_mentions(project, chosen)
        candidates = [
            Candidate(
                project.chunk(k, 0.0),
                cosines.get(k),
                text.get(k, 0.0),
                graph.get(k, 0.0),
                k in scope,
                shared[k],
                following(project, k, searched) if place < MOST_FOLLOWED else None,
            )
            for place, k in enumerate(chosen)
        ]
        found = with_neighbourhood(project, tuple(candidates), chosen)
        found = with_named(found, named(project, query, found, searched))
        return replace(found, pinned=pinned(project, query, found, searched))

    async def health(self) -> GraphHealth:
        self._answer("", Deadline.after(1))
        names = (
            ("graphrag_comm_index", "vector"),
            ("graphrag_chunk_index", "vector"),
            ("graphrag_chunk_fulltext", "fulltext"),
        )
        if self.dimensions is None:
            return GraphHealth("fake", (), tuple(name for name, _ in names))
        dimensions = self.dimensions
        return GraphHealth(
            "fake",
            tuple(
                Index(name, kind, dimensions=dimensions if kind == "vector" else None)
                for name, kind in names
            ),
        )

    async def close(self) -> None:
        """Nothing to close."""

    def _answer(self, project_id: str, deadline: Deadline, vector: Vector | None = None) -> Project:
        deadline.require()
        self.round_trips += 1
        if self.failure is not None:
            raise self.failure
        if vector is not None:
            self._require_dimensions(len(vector))
            if not all(map(math.isfinite, vector)) or not any(vector):
                raise ModelMisconfiguredError(
                    "The embedding model gave a question a vector that is zero or not finite."
                )
        return self.projects.get(project_id, Project())

    # --------------------------------------------------------------------------------------- writes
    async def prepare(self, dimensions: int) -> tuple[str, ...]:
        if self.dimensions is None:
            self.dimensions = dimensions
            return ("graphrag_chunk_fulltext", "graphrag_comm_index", "graphrag_chunk_index")
        self._require_dimensions(dimensions)
        return ()

    def _require_dimensions(self, wanted: int) -> None:
        if self.dimensions not in (None, wanted):
            raise GraphMisconfiguredError(
                f"The vector index graphrag_comm_index has {self.dimensions} dimensions, but "
                f"{wanted} are wanted: drop it "
                "and run `python -m drift prepare`."
            )

    async def project_state(self, project_id: str) -> ProjectState:
        project = self._answer(project_id, Deadline.after(1))
        levels = Counter(c.level for c in project.communities.values())
        return ProjectState(
            dict(project.documents),
            project.fingerprint,
            len(project.chunks),
            len(project.entities),
            len(project.relations),
            dict(sorted(levels.items())),
        )

    @asynccontextmanager
    async def writing(
        self,
        project_id: str,
        *,
        wait_s: float = MAX_WAIT_S,
        say: Callable[[str], None] = lambda _: None,
    ) -> AsyncIterator[Neo4jProject]:
        give_up = time.monotonic() + wait_s
        if project_id in self.held:
            say(f"Project {project_id} is being written by somebody.")
        while project_id in self.held:
            if time.monotonic() >= give_up:
                raise ProjectBusyError(f"Project {project_id} is being written by somebody.")
            await asyncio.sleep(0.01)
        self.held.add(project_id)
        try:
            yield Held(self, project_id)
        finally:
            self.held.remove(project_id)
            project = self.projects.get(project_id, Project())
            if not (project.documents or project.entities or project.communities):
                self.projects.pop(project_id, None)

    async def held_projects(self, project_id: str | None = None) -> tuple[HeldProject, ...]:
        return tuple(
            HeldProject(name, dict(Counter(d.source for d in p.documents.values())), len(p.chunks))
            for name, p in sorted(self.projects.items())
            if project_id in {None, name}
        )

    async def held_chunks(
        self, project_id: str, document_ids: Sequence[str], embedding: str
    ) -> dict[str, str]:
        del project_id, document_ids, embedding
        return {}  # a fake embeds all of them again

    async def read_members(self, project_id: str) -> tuple[list[Member], list[ChunkDefinitions]]:
        project = self._answer(project_id, Deadline.after(1))
        first = {k: min(d for d, held in project.held if held == k) for _, k in project.held}
        ordered = sorted(first.items(), key=lambda one: (one[1], project.chunks[one[0]].ordinal))
        chunks = [project.chunks[k] for k, _ in ordered]
        facts = [ChunkDefinitions(c.id, c.defines, c.names) for c in chunks if c.defines or c.names]
        return [Member(k, d, project.documents[d].title) for k, d in ordered], facts

    async def read_chunks(
        self, project_id: str, members: Sequence[Member], dimensions: int
    ) -> dict[str, tuple[ChunkRecord, Points]]:
        project = self._answer(project_id, Deadline.after(1))
        return {
            one.chunk_id: (
                replace(
                    project.chunks[one.chunk_id],
                    document_id=one.document_id,
                    embedding=(),
                    title=one.title,
                    names=(),
                    start=None,
                    end=None,
                    first_line=None,
                ),
                np.array(
                    project.chunks[one.chunk_id].embedding or [0.0] * dimensions, dtype=np.float32
                ),
            )
            for one in members
        }

    async def read_entity_vectors(
        self, project_id: str, embedding_model: str, titles: Sequence[str] | None = None
    ) -> dict[str, Vector]:
        del project_id, embedding_model, titles
        return {}

    async def read_texts_off(self, project_id: str) -> list[str]:
        del project_id
        return []

    async def read_topics(self, project_id: str, embedding_model: str) -> KeptTopics | None:
        del project_id, embedding_model
        return None  # a fake finds them anew each time

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        ids = {d.id for d in batch.documents}
        if any(c.document_id not in ids for c in batch.chunks):
            raise IngestError("Chunks belong to documents that are not in the batch.")
        _require_one_length(c.embedding for c in batch.chunks)
        project = self._unfinished(project_id)
        project.documents |= {d.id: d for d in batch.documents}
        project.held = {(d, k) for d, k in project.held if d not in ids} | {
            (c.document_id, c.id) for c in batch.chunks
        }
        project.chunks |= {c.id: c for c in batch.chunks}
        project.drop_loose_chunks()
        for replaced in batch.replaced.values():
            await self.remove_documents(project_id, replaced)

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        project = self._unfinished(project_id)
        project.documents = {
            d: record for d, record in project.documents.items() if d not in document_ids
        }
        project.held = {(d, k) for d, k in project.held if d not in document_ids}
        project.drop_loose_chunks()

    async def relocate(self, project_id: str, places: Mapping[str, tuple[str, str]]) -> None:
        project = self.projects[project_id]
        for name, (to, source) in places.items():
            project.documents[to] = replace(project.documents.pop(name), id=to, source=source)
            project.held = {(to if d == name else d, k) for d, k in project.held}

    async def keep_skipped(self, project_id: str, skipped: Sequence[str]) -> None:
        """Keep nothing: a fake has such files read again."""

    async def compare(self, project_id: str, batch: KnowledgeBatch) -> Comparison:
        del project_id
        return Comparison(stamps_of(batch), Stamps())

    async def write_knowledge(
        self,
        project_id: str,
        batch: KnowledgeBatch,
        removed: Sequence[str] = (),
        compared: Comparison | None = None,
    ) -> None:
        del compared
        _require_one_length(
            [*(e.embedding for e in batch.entities), *(c.embedding for c in batch.communities)]
        )
        await self.remove_documents(project_id, removed)
        project = self._unfinished(project_id)
        project.entities = {e.id: e for e in batch.entities}
        project.relations = [
            r
            for r in batch.relations
            if r.source_id in project.entities and r.target_id in project.entities
        ]
        project.communities = {c.community: c for c in batch.communities}
        project.fingerprint = batch.fingerprint
        project.embedding_models = (batch.embedding_model,) if batch.embedding_model else ()

    def _unfinished(self, project_id: str) -> Project:
        if self.failure is not None:
            raise self.failure
        project = self.projects.setdefault(project_id, Project())
        project.writes += 1
        project.fingerprint = ""
        return project


def _require_one_length(vectors: Iterable[Vector]) -> None:
    if len({len(v) for v in vectors if v}) > 1:
        raise IngestError("Embeddings of one batch have different lengths.")
