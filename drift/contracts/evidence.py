"""Evidence without an answer: the passages of a project that are nearest to a question."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from drift.contracts.answer import QueryOut, UsageOut
from drift.contracts.explain import ExplainOut
from drift.model.graph import Via


class PassageOut(BaseModel):
    """A passage as it stands in its document; what is not known is empty.

    `score` (0..1) is how near it is to the question, or any passage that ranks behind it: it never
    rises with the rank, so that a threshold cuts what stands last. `label` says where it stands:
    the lines of a file, a page or a heading. `start` is its first character in the document's
    text, from 0. `via` says how the search came to it.
    """

    chunk_id: str
    text: str
    score: float = Field(ge=0, le=1)
    document_id: str
    document_name: str
    label: str = ""
    heading: str = ""
    page: str = ""
    start: int = -1
    source_uri: str = ""
    via: list[Via] = []


class EvidenceResponse(BaseModel):
    """The passages, the best first; none where the project holds nothing near."""

    passages: list[PassageOut]


class EntityFound(BaseModel):
    """An entity that passages of the evidence mention, with the ids of these."""

    id: str
    title: str
    chunk_ids: list[str]


class CommunityFound(BaseModel):
    """A community that holds passages of the evidence."""

    id: int | str
    title: str
    level: int | None


class Surroundings(BaseModel):
    """What the graph has around some chunks: what most of them share comes first."""

    entities: list[EntityFound] = []
    communities: list[CommunityFound] = []


class EvidenceAnswer(Surroundings):
    """The evidence for a question, the best first, and what the graph has around it.

    The fields of a passage that say where it stands appear with `locations`, as far as that is
    known; the last four fields only when they are set.
    """

    evidence: list[PassageOut]
    no_data_found: Literal[True] | None = None
    usage: UsageOut | None = None
    query: QueryOut | None = None
    explain: ExplainOut | None = None

    def to_json(self) -> str:
        """Serialise to the contract's exact shape."""
        return self.model_dump_json(exclude_unset=True)
