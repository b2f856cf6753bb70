"""What people say of an answer: the body of `POST /feedback`, and the list of a project's."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    FailFast,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from drift.contracts.answer import RetrieveResponse
from drift.contracts.body import Body, plain_text
from drift.contracts.reading import Next
from drift.contracts.request import ProjectRequest

Reason = Literal["wrong", "missing", "unsupported", "old", "other"]
_Number = Annotated[int, Field(ge=1)]
_Text = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*$"}),
]


def _number_or_text(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:  # JSON has one kind of number
        is_whole = isinstance(value, float) and value.is_integer()
        return read(int(value) if is_whole else value)  # type: ignore[call-overload]
    except ValidationError:  # of a union, which has as many errors as kinds
        raise ValueError("must be the number of a key fact, from 1, or its text") from None


class Feedback(Body):
    """What somebody says of an answer.

    `fact` is the number of a key fact, from 1, or its text; `expected` are ids of chunks, or texts,
    that the answer should have stood on.
    """

    retrieval_id: Annotated[UUID, Field(strict=False)]
    # Python takes true for 1.
    score: Annotated[Literal[-1, 1], BeforeValidator(lambda v: v if v is not True else None)]
    fact: Annotated[_Number | _Text | None, WrapValidator(_number_or_text)] = None
    reason: Reason | None = None
    comment: _Text | None = None
    expected: Annotated[tuple[_Text, ...], FailFast(), Field(strict=False, max_length=20)] = ()


class AnsweredFact(BaseModel):
    """A key fact of an answer, the first 500 characters, and the ids of the chunks it cites."""

    fact: str
    chunk_ids: tuple[str, ...]


class ScorableAnswer(BaseModel):
    """What is kept of an answer; one without evidence has no facts.

    It `stands_alone` where it is of the whole project, and its question of no conversation.
    """

    stands_alone: bool = True
    retrieval_id: str
    project_id: str
    question: str
    facts: tuple[AnsweredFact, ...]

    @classmethod
    def of(cls, answer: RetrieveResponse, retrieval_id: str, asked: ProjectRequest) -> Self:
        """Return what is kept of an answer to what was asked."""
        facts = []
        for fact in answer.key_facts[:50]:
            ids = (c if isinstance(c, str) else c.chunk_id for c in fact.citations)
            facts.append(AnsweredFact(fact=cut(fact.fact), chunk_ids=tuple(ids)))
        return cls(
            stands_alone=not asked.history and asked.filter is None,
            retrieval_id=retrieval_id,
            project_id=asked.project_id,
            question=asked.query,
            facts=tuple(facts),
        )


def cut(fact: str) -> str:
    """Return as much of a fact as is kept."""
    return fact.strip()[:500]


class FeedbackOut(ScorableAnswer):
    """What was said of an answer, and when; `fact` is the number of one of its facts."""

    score: Literal[-1, 1]
    fact: int | None
    reason: Reason | None
    comment: str | None
    expected: tuple[str, ...]
    given_at: datetime


class FeedbackPage(BaseModel):
    """Feedback, the newest first."""

    feedback: tuple[FeedbackOut, ...]
    next: Next
