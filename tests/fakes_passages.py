"""PassageReader over projects in memory, held to the real graph by the contract tests."""

from __future__ import annotations

from collections import Counter

from drift.core.deadline import Deadline
from drift.model.found_nodes import ScoreThreshold
from drift.model.passages import MOST_PASSAGES, MOST_WITNESSES, Passage, Passages, PassagesQuery
from drift.model.reading import AboutProject
from tests.fakes_project import Project, is_usable, similarity
from tests.fakes_reading import about

RAREST = 10
MOST_MENTIONS = 200


class FakePassages:
    """PassageReader over dictionaries; `thresholds` are those that projects were measured with.

    `failure` is raised by every call while it is set.
    """

    def __init__(self, projects: dict[str, Project]) -> None:
        self.projects = projects
        self.thresholds: dict[str, ScoreThreshold] = {}
        self.failure: Exception | None = None
        self.queries: list[PassagesQuery] = []

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        deadline.require()
        if self.failure is not None:
            raise self.failure
        return about(self.projects.get(project_id, Project()), project_id)

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        deadline.require()
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        project = self.projects.get(query.project_id, Project())
        asked = [k for k in dict.fromkeys(query.chunk_ids) if k in project.chunks]
        found = tuple(_passage(project, k, query) for k in asked[:MOST_PASSAGES])
        return Passages(found, self.thresholds.get(query.project_id) if found else None)


def _passage(project: Project, chunk_id: str, query: PassagesQuery) -> Passage:
    vector = project.chunks[chunk_id].embedding
    near = None
    if query.vector and is_usable(vector, len(query.vector)):
        near = 2 * similarity(vector, query.vector) - 1
    home = project.documents.get(project.document_id(chunk_id))
    return Passage(chunk_id, near, home.updated_at if home else None, _witnesses(project, chunk_id))


def _witnesses(project: Project, chunk_id: str) -> tuple[str, ...] | None:
    own = {d for d, k in project.held if k == chunk_id}
    named = {
        e.id: {k for k in e.chunk_ids if k in project.chunks} for e in project.entities.values()
    }
    mine = [e for e, chunks in named.items() if chunk_id in chunks and len(chunks) <= MOST_MENTIONS]
    rare = sorted(mine, key=lambda e: (len(named[e]), e))[:RAREST]
    if not own or len(rare) < 2:
        return None
    shared = Counter(k for e in rare for k in named[e])
    others = {d for d, k in project.held if shared[k] > 1} - own
    return tuple(sorted(others)[:MOST_WITNESSES])
