"""The body of `POST /api/rag/query`, and what it answers."""

from __future__ import annotations

from pydantic import BaseModel

from drift.contracts.body import Body
from drift.contracts.filter import Filter
from drift.contracts.request import ProjectId, Query


class RagRequest(Body):
    """A question to the nodes of one project; unknown fields are refused.

    The project may be left out as in `RetrieveRequest`. With a filter, only chunks are found.
    """

    question: Query
    project_id: ProjectId | None = None
    filter: Filter | None = None


class RelatedOut(BaseModel):
    """A node around a source: what is between them is told by `relation`."""

    node_id: str
    title: str
    node_type: str
    relation: str


class SourceOut(BaseModel):
    """A node that the answer was written from; `score` is the raw cosine to the question.

    `[Node n]` in the answer is the n-th source. `cited` says whether it stands there.
    """

    node_id: str
    node_type: str
    title: str
    score: float
    text: str
    cited: bool
    related: list[RelatedOut]


class NearestOut(BaseModel):
    """The nearest node of a question that none is near enough to, and how near it had to be."""

    node_id: str
    node_type: str
    title: str
    score: float
    threshold: float


class RagResponse(BaseModel):
    """The answer with its sources, the nearest first; none where no node was near enough.

    `nearest` is there only where a node was found that was not near enough.
    """

    answer: str
    sources: list[SourceOut]
    nearest: NearestOut | None = None

    def to_json(self) -> str:
        """Serialise to the contract's exact shape."""
        return self.model_dump_json(exclude_none=True)
