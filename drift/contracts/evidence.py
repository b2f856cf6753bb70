"""Evidence without an answer: the passages of a project that are nearest to a question."""

from __future__ import annotations

from pydantic import BaseModel, Field


class PassageOut(BaseModel):
    """A passage as it stands in its document; what is not known is empty.

    `score` (0..1) is how near it is to the question, or any passage that ranks behind it: it never
    rises with the rank, so that a threshold cuts what stands last. `label` says where it stands:
    the lines of a file, a page or a heading. `start` is its first character in the document's
    text, from 0.
    """

    chunk_id: str
    text: str
    score: float = Field(ge=0, le=1)
    document_id: str
    document_name: str
    label: str
    heading: str = ""
    page: str = ""
    start: int = -1
    source_uri: str = ""


class EvidenceResponse(BaseModel):
    """The passages, the best first; none where the project holds nothing near."""

    passages: list[PassageOut]
