"""What a caller asks: the body of `POST /retrieve`. It is read strictly."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    FailFast,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from drift.contracts.body import Body, plain_text
from drift.contracts.filter import Filter, combined

MAX_BODY_BYTES = 64 * 1024
MAX_QUESTION_BYTES = 128 * 1024
"""Of a question with the longest conversation, each character escaped as `\\u4e2d`."""
MAX_QUERY_CHARACTERS = 4000
MAX_MESSAGES = 20
MAX_HISTORY_CHARACTERS = 16_000
"""Of a conversation before a question."""


def _whole_number(value: object) -> object:
    """Read 5.0 as 5: JSON has one kind of number, and JSON Schema calls both integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The patterns describe to readers of the schema what the validators check.
Depth = Literal["drift", "quick", "auto"]
"""How far a search goes: primer and follow-ups, one look, or one look and more where it is open."""
Include = Literal["usage", "trace", "verdict", "locations", "references", "query", "explain"]
Query = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARACTERS),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\u0000\s][^\u0000]*$"}),
]
ProjectId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*$"}),
]
_PROJECT_ID = TypeAdapter(ProjectId)


def problem_with(shape: TypeAdapter[str], value: str) -> str | None:
    """Return the first rule that an id breaks; None where it keeps all of them."""
    try:
        shape.validate_python(value)
    except ValidationError as error:
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return None


def project_id_problem(value: str) -> str | None:
    """Return what is wrong with a project's id, None when nothing is.

    One rule for requests, commands and ingestion.
    """
    return problem_with(_PROJECT_ID, value)


TopK = Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole_number)]


class RequestLimits(Body):
    """What a caller lets one request use at most; what the settings allow is not exceeded.

    Seconds to the answer, follow-up questions (with 0 one look is all), and tokens of prompts and
    replies of all calls to chat models. A call that has begun is read to its end.
    """

    max_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_followups: Annotated[int, Field(ge=0), BeforeValidator(_whole_number)] | None = None
    max_tokens: Annotated[int, Field(ge=1), BeforeValidator(_whole_number)] | None = None


def _role(value: object) -> object:
    if value not in ("user", "assistant"):
        given = f", not {value[:40]!a}" if isinstance(value, str) else ""
        raise ValueError(f"must be user or assistant{given}")
    return value


class HistoryMessage(Body):
    """A message of the conversation before a question."""

    role: Annotated[Literal["user", "assistant"], BeforeValidator(_role)]
    content: Annotated[
        str,
        StringConstraints(max_length=MAX_HISTORY_CHARACTERS),
        AfterValidator(plain_text),
        Field(json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    ]


def _bounded(messages: tuple[HistoryMessage, ...]) -> tuple[HistoryMessage, ...]:
    if (given := sum(len(one.content) for one in messages)) > MAX_HISTORY_CHARACTERS:
        raise ValueError(f"may have {MAX_HISTORY_CHARACTERS} characters together, and has {given}")
    return messages


History = Annotated[
    tuple[HistoryMessage, ...],
    FailFast(),
    Field(strict=False, max_length=MAX_MESSAGES),
    AfterValidator(_bounded),
]


class RetrieveRequest(Body):
    """A question to one project; unknown fields are refused.

    The project may be left out by a caller who may read exactly one, or where the setting
    `RAG_PROJECT` names it. `history` is the conversation before the question, the oldest message
    first, at most 16,000 characters of it: the question is searched for as it stands alone. Without
    an `answer` the evidence is found alone.
    """

    query: Query
    project_id: ProjectId | None = None
    filter: Filter | None = None
    top_k: TopK = 5
    depth: Depth = "drift"
    # JSON knows neither ids nor tuples: text and a list are read as them.
    retrieval_id: Annotated[UUID, Field(strict=False)] | None = None
    # Of thousands of wrong items, the first is enough to say.
    include: Annotated[tuple[Include, ...], FailFast(), Field(strict=False)] = ()
    answer: bool = True
    limits: RequestLimits = Field(default_factory=RequestLimits)
    history: History = ()

    def within(self, project_id: str, allowed: Filter | None = None) -> ProjectRequest:
        """Return the same question to the project that it is about, of what is `allowed` there."""
        both = combined("and", (allowed, self.filter))
        known = {"project_id": project_id, "filter": both}
        return ProjectRequest.model_construct(**{**dict(self), **known})


class ProjectRequest(RetrieveRequest):
    """A question whose project is known."""

    project_id: ProjectId

    @property
    def remembered_by(self) -> ProjectRequest:
        """What an answer to the same question is found by: all but the id and the account."""
        included = tuple(sorted(set(self.include) - {"usage"}))
        return self.model_copy(update={"retrieval_id": None, "include": included})
