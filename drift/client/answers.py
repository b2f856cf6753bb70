"""What the methods answer beside the contract's own models."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, Field

from drift.contracts.answer import KeyFact, RetrieveResponse, TraceNode
from drift.contracts.progress import ProgressMessage


class Answer(RetrieveResponse):
    """The answer to a question; `retrieval_id` names it, to give feedback."""

    retrieval_id: UUID | None = Field(default=None, exclude=True)
    """The id of the request that was answered; None where a proxy has taken it out."""


class AnswerDelta(BaseModel):
    """What comes next of the final answer."""

    text: str


class AnswerReplaced(BaseModel):
    """The answer so far, in the place of all that was told of it."""

    text: str


class Citations(BaseModel):
    """The sentences of the answer with their citations, as the result has them."""

    key_facts: list[KeyFact]


StreamEvent = ProgressMessage | AnswerDelta | AnswerReplaced | Citations | TraceNode | Answer
"""What a stream tells: a follow-up is a TraceNode, the last event is the Answer."""
