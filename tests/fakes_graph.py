"""A graph in memory: it writes, and gives a project's own things, the nearest by vector first.

How the real one searches is what the contract tests are about.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from drift.core.deadline import Deadline
from drift.graph.writing.records import ChunkRecord
from drift.model.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    FollowupQuery,
    PrimerQuery,
    Vector,
)
from drift.model.health import GraphHealth
from tests.ingest.fakes import MemoryWriter, Project


def similarity(a: Vector, b: Vector) -> float:
    """Return the cosine mapped to 0..1."""
    return (1 + math.sumprod(a, b) / (math.hypot(*a) * math.hypot(*b))) / 2


class FakeGraph(MemoryWriter):
    """GraphStore and GraphWriter over dictionaries."""

    async def has_topics(self, _project_id: str, _deadline: Deadline) -> bool:
        return False

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        deadline.require()
        project, _ = self._held(query.project_id)
        communities = [c for c in project.knowledge.communities if c.embedding]
        communities.sort(key=lambda c: -similarity(c.embedding, query.vector))
        voters = frozenset(query.voters)
        return tuple(
            Community(c.community, c.level, c.summary, c.title, voters & {*c.chunk_ids})
            for c in communities[: query.top_k]
        )

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        deadline.require()
        project, chunks = self._held(query.project_id)
        near = _nearest(project, chunks.values(), query.vector)
        return Candidates(tuple(Candidate(chunk, chunk.score) for chunk in near))

    async def health(self) -> GraphHealth:
        return GraphHealth("fake", ())

    def _held(self, project_id: str) -> tuple[Project, dict[str, ChunkRecord]]:
        project = self.projects.get(project_id, Project())
        chunks = {id_: c for id_, c in project.seen().items() if c.embedding}
        return project, chunks


def _nearest(project: Project, chunks: Iterable[ChunkRecord], vector: Vector) -> list[Chunk]:
    shown = [
        Chunk(
            c.id,
            c.text,
            project.documents[c.document_id].title or c.document_id,
            similarity(c.embedding, vector),
            c.heading,
            document_id=c.document_id,
        )
        for c in chunks
    ]
    return sorted(shown, key=lambda chunk: (-chunk.score, chunk.id))
