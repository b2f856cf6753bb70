"""NodeFinder over projects in memory, held to the real graph by the contract tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from drift.core.deadline import Deadline
from drift.model.found_nodes import (
    CHUNK,
    COMMUNITY,
    ENTITY,
    MOST_CHARACTERS,
    FoundNode,
    FoundNodes,
    NodesQuery,
    RelatedNode,
    Sampled,
    ScoreThreshold,
)
from drift.model.graph import Vector
from tests.fakes_project import Project, is_usable, similarity

Key = tuple[str, str]
"""A node's type and id."""
MOST_RELATED = 3


@dataclass(frozen=True)
class Text:
    """A node as it is searched."""

    title: str
    text: str
    vector: Vector


class FakeNodeFinder:
    """NodeFinder over dictionaries; `thresholds` are those that projects have been measured with.

    `failure` is raised by every call while it is set.
    """

    def __init__(self, projects: dict[str, Project]) -> None:
        self.projects = projects
        self.thresholds: dict[str, ScoreThreshold] = {}
        self.failure: Exception | None = None
        self.queries: list[NodesQuery] = []
        self.samples = 0

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        deadline.require()
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        project = self.projects.get(query.project_id, Project())
        texts = _texts(project)
        scored = sorted(
            (-similarity(text.vector, query.vector), key[1], key)
            for key, text in texts.items()
            if key[0] in query.labels and is_usable(text.vector, len(query.vector))
        )
        found = [
            FoundNode(
                key[1],
                key[0],
                texts[key].title,
                texts[key].text[: MOST_CHARACTERS - len(texts[key].title)],
                2 * -score - 1,
                _related(project, texts, key),
            )
            for score, _, key in scored[: query.limit]
        ]
        return FoundNodes(tuple(found), self.thresholds.get(query.project_id))

    async def sample(
        self,
        project_id: str,
        dimensions: int,
        pairs: Sequence[Sequence[float]],
        least: int,
        deadline: Deadline,
    ) -> Sampled:
        deadline.require()
        self.samples += 1
        if self.failure is not None:
            raise self.failure
        texts = sorted(
            (key[1], text.vector)
            for key, text in _texts(self.projects.get(project_id, Project())).items()
            if text.vector
        )
        if len(texts) < least:
            return Sampled(len(texts))
        drawn = [[texts[int(share * len(texts))] for share in pair] for pair in pairs]
        usable = [
            (one[1], other[1])
            for one, other in drawn
            if one != other and all(is_usable(v, dimensions) for v in (one[1], other[1]))
        ]
        return Sampled(len(texts), tuple(2 * similarity(*pair) - 1 for pair in usable))


def _texts(project: Project) -> dict[Key, Text]:
    chunks = {
        (CHUNK, k): Text(_title(project, k), c.text, c.embedding) for k, c in project.chunks.items()
    }
    entities = {
        (ENTITY, e.id): Text(e.title, e.description, e.embedding) for e in project.entities.values()
    }
    communities = {
        (COMMUNITY, str(c.community)): Text(c.title, c.summary, c.embedding)
        for c in project.communities.values()
    }
    return chunks | entities | communities


def _title(project: Project, chunk_id: str) -> str:
    name, heading = project.document(chunk_id)[0], project.chunks[chunk_id].heading
    return heading if heading.startswith(name) else f"{name}: {heading}".removesuffix(": ")


def _related(project: Project, texts: dict[Key, Text], key: Key) -> tuple[RelatedNode, ...]:
    edges = _edges(project)
    degrees = Counter(end for one, other, *_ in edges for end in (one, other))
    around: defaultdict[Key, list[tuple[float, str]]] = defaultdict(list)
    for one, other, weight, relation in edges:
        if key in {one, other} and one != other:
            around[other if one == key else one].append((weight, relation))
    order = sorted(
        (-sum(w for w, _ in said), -degrees[k], k[1], k) for k, said in around.items() if k in texts
    )
    return tuple(
        RelatedNode(
            k[1], k[0], texts[k].title, min(around[k], key=lambda said: (-said[0], said[1]))[1]
        )
        for *_, k in order[:MOST_RELATED]
    )


def _edges(project: Project) -> list[tuple[Key, Key, float, str]]:
    """Every edge with its weight, and what it says."""
    found = [
        ((ENTITY, r.source_id), (ENTITY, r.target_id), r.weight, r.description)
        for r in project.relations
    ]
    for chunk_id, entities in project.mentions().items():
        found += [((CHUNK, chunk_id), (ENTITY, e), 0.0, "HAS_ENTITY") for e in entities]
    for c in project.communities.values():
        here = (COMMUNITY, str(c.community))
        members = [(CHUNK, k) for k in c.chunk_ids] + [(ENTITY, e) for e in c.entity_ids]
        found += [(member, here, 0.0, "IN_COMMUNITY") for member in members]
    found += [
        ((COMMUNITY, str(c)), (COMMUNITY, str(p)), 0.0, "IN_COMMUNITY")
        for c, p in project.parents()
    ]
    return found + [(("Document", d), (CHUNK, k), 0.0, "HAS_CHUNK") for d, k in project.held]
