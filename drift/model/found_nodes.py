"""Searches of nodes: the questions to the graph, and its results."""

from __future__ import annotations

from dataclasses import dataclass

from drift.model.graph import Vector

CHUNK, ENTITY, COMMUNITY = "Chunk", "Entity", "Community"
OF_INGESTION = frozenset({CHUNK, ENTITY, COMMUNITY})
"""The labels of nodes that ingestion writes; people's own nodes have labels of their own."""

MOST_CHARACTERS = 8000
"""Of a node's text, its title included."""


@dataclass(frozen=True, slots=True)
class NodesQuery:
    """Which nodes are asked for: the `limit` nearest to a vector, of these labels."""

    project_id: str
    vector: Vector
    labels: tuple[str, ...] = (CHUNK, ENTITY, COMMUNITY)
    limit: int = 5


@dataclass(frozen=True, slots=True)
class RelatedNode:
    """A neighbour of a node, with the description of the weightiest edge between them."""

    id: str
    node_type: str
    title: str
    relation: str = ""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that was found.

    `score` is the raw cosine of its vector to the question's, -1 to 1, and `related` the most
    important nodes around it, the most important one first.
    """

    id: str
    node_type: str
    title: str
    text: str
    score: float
    related: tuple[RelatedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """How near a node of a project has to be, as measured over so many `texts` of it.

    The score is None where there were too few of them. It holds for vectors of that model, which
    may be unknown and then is empty, and of that length. `floor` is the cosine that 99 of 100
    of the same pairs reach, `unrelated` the one that questions about something else reach; None
    where it was not kept. `written_at` is the project's last write before it was measured.
    """

    score: float | None
    texts: int
    dimensions: int
    model: str = ""
    floor: float | None = None
    unrelated: float | None = None
    written_at: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to measure."""
        return self.score is None or None not in {self.floor, self.unrelated}

    def fits(self, dimensions: int, model: str) -> bool:
        """Tell whether it was measured with vectors of this kind."""
        return self.dimensions == dimensions and self.model in {model, ""}


@dataclass(frozen=True, slots=True)
class FoundNodes:
    """The nearest nodes, the nearest first, and the project's threshold where it has one."""

    nodes: tuple[FoundNode, ...] = ()
    threshold: ScoreThreshold | None = None


@dataclass(frozen=True, slots=True)
class Sampled:
    """The raw cosines of pairs of a project's texts, and how many texts it has with a vector."""

    texts: int = 0
    cosines: tuple[float, ...] = ()
