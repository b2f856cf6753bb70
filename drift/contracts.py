"""Every shape that crosses the process border: HTTP, Redis, and what the model is asked for.

What is accepted from a caller is strict; what is accepted from a model is lenient where the meaning
is plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from drift.telemetry.logs import log

MAX_BODY_BYTES = 64 * 1024
NO_DATA_STATE = "no_data_found"


# ----------------------------------------------------------------------------------- POST /retrieve
def _plain_text(value: str) -> str:
    """Refuse what no database, log or prompt should carry."""
    if "\x00" in value:
        raise ValueError("must not contain NUL characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("must not contain lone surrogates")
    return value


def _whole_number(value: object) -> object:
    """Read 5.0 as 5: JSON has one kind of number, and JSON Schema calls both integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# the patterns only describe what is checked here: a word to search for, and no NUL
Include = Literal["usage", "trace"]
Query = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=4000),
    AfterValidator(_plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\u0000\s][^\u0000]*$"}),
]
ProjectId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    AfterValidator(_plain_text),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*$"}),
]
_PROJECT_ID = TypeAdapter(ProjectId)


def project_id_problem(value: str) -> str | None:
    """Return what is wrong with a project's id, None when nothing is.

    One rule for requests, commands and ingestion.
    """
    try:
        _PROJECT_ID.validate_python(value)
    except ValidationError as error:
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return None


TopK = Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole_number)]


class RetrieveRequest(BaseModel):
    """A question to one project; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    query: Query
    project_id: ProjectId
    top_k: TopK = 5
    retrieval_id: UUID | None = None
    include: Annotated[
        tuple[Include, ...], FailFast()
    ] = ()  # of thousands of wrong items the first is enough


class CitationOut(BaseModel):
    """Evidence as callers get it: `span` is verbatim text of the chunk."""

    chunk_id: str
    span: str
    document_name: str


class KeyFact(BaseModel):
    """One fact; a citation that could not be enriched stays a plain string."""

    fact: str
    citations: list[CitationOut | str]


class PhaseUsage(BaseModel):
    """What one phase cost; tokens as the provider reported them."""

    chat_calls: int = 0
    embedding_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    retries: int = 0


class UsageOut(PhaseUsage):
    """What the request cost; seconds are wall time and the longest chain of calls that had to wait for each other."""

    graph_round_trips: int = 0
    wall_seconds: float = 0.0
    critical_path_seconds: float = 0.0
    phases: dict[str, PhaseUsage] = Field(default_factory=dict)


class TraceNode(BaseModel):
    """One follow-up of the tree; `parent` is the id of the follow-up that asked it."""

    id: int
    parent: int | None
    question: str
    target_communities: list[int | str]
    pass_: int = Field(serialization_alias="pass")
    confidence: float | None
    state: str
    chunk_ids: list[str]
    seconds: float


class CitationCountsOut(BaseModel):
    """What checking the citations did."""

    total: int
    kept: int
    repaired: int
    dropped: dict[str, int]


class TraceOut(BaseModel):
    """How the answer came about."""

    initial_answer: str
    communities: list[int | str]
    followups: list[TraceNode]
    citations: CitationCountsOut


class RetrieveResponse(BaseModel):
    """The answer; the last three fields appear only when they are set."""

    final_answer: str
    key_facts: list[KeyFact]
    residual_uncertainty: str
    no_data_found: Literal[True] | None = None
    usage: UsageOut | None = None
    trace: TraceOut | None = None

    def to_json(self) -> str:
        """Serialise to the contract's exact shape."""
        return self.model_dump_json(
            by_alias=True,
            exclude={
                name for name in ("no_data_found", "usage", "trace") if getattr(self, name) is None
            },
        )


class FieldErrorOut(BaseModel):
    """One broken field of a request."""

    field: str
    message: str


class Problem(BaseModel):
    """An error body, `application/problem+json` (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    retrieval_id: str
    errors: list[FieldErrorOut] | None = None


# ----------------------------------------------------------------------------------------- progress
CHANNEL = "ui:retrieval_progress"


class Phase(StrEnum):
    """Phases in order; `error` may follow any of them."""

    INITIALIZING = "initializing"
    EXPANDING_QUERY = "expanding_query"
    RETRIEVING_COMMUNITIES = "retrieving_communities"
    EXECUTING_FOLLOWUP = "executing_followup"
    AGGREGATING_RESULTS = "aggregating_results"
    COMPLETED = "completed"
    ERROR = "error"


LAST_PHASES = frozenset({Phase.COMPLETED, Phase.ERROR})
"""Exactly one message of these ends a retrieval."""

PHASE_PCT: Mapping[Phase, int] = {
    Phase.INITIALIZING: 0,
    Phase.EXPANDING_QUERY: 20,
    Phase.RETRIEVING_COMMUNITIES: 40,
    Phase.EXECUTING_FOLLOWUP: 40,
    Phase.AGGREGATING_RESULTS: 90,
    Phase.COMPLETED: 100,
}
"""Percentage at the start of a phase; follow-ups rise from 40 to 80, an error keeps the last one
reached."""


class ProgressMessage(BaseModel):
    """One message on the channel `ui:retrieval_progress`; `timestamp` is ISO 8601 in UTC."""

    message_type: Literal["retrieval_progress"] = "retrieval_progress"
    project_id: str
    retrieval_id: str
    phase: Phase
    progress_pct: int = Field(ge=0, le=100)
    thought_summary: str
    details_md: str | None = None
    message_id: str
    timestamp: str

    def to_json(self) -> str:
        """Serialise; `details_md` only when there are details."""
        return self.model_dump_json(exclude_none=True)


# ------------------------------------------------------------------------------------ model replies
_WORDS_AS_SCORE = {
    "very high": 0.95,
    "high": 0.9,
    "medium": 0.5,
    "moderate": 0.5,
    "low": 0.2,
    "very low": 0.1,
    "none": 0.0,
}


def _text(value: object) -> object:
    """Read null as nothing said, and a number or a list of sentences as text."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value


def _identifier(value: object) -> object:
    """Read a number as an id."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _score(value: object) -> object:
    """Read `"high"`, `"85 %"`, null and 85 where 0.85 was meant; values above 1 are percentages."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS_AS_SCORE:
            return _WORDS_AS_SCORE[word]
        try:
            value = float(word.removesuffix("%").strip())
        except ValueError:
            return value
        if word.endswith("%"):
            return min(1.0, max(0.0, value / 100))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(1.0, max(0.0, min(value, 100) / 100 if value > 1 else value))
    return value


def _flag(value: object) -> object:
    """Read null as no."""
    return False if value is None else value


def _listed(value: object) -> object:
    """Read null as an empty list and a single item as a list of one."""
    if value is None:
        return []
    return [value] if isinstance(value, str | int | dict) else value


def _named(value: object) -> object:
    """Read a list as `_listed` does, without the items that are null."""
    items = _listed(value)
    return [item for item in items if item is not None] if isinstance(items, list) else items


# A model that does not stop costs nobody more than this: what is over is cut, before the rest is
# looked at.
MAX_ANSWER_CHARS = 32_000
MAX_STATEMENT_CHARS = 4_000
MAX_QUESTION_CHARS = 1_000
MAX_ID_CHARS = 500
MAX_FOLLOWUPS_READ = 20
MAX_COMMUNITIES = 50
MAX_CITATIONS = 50
MAX_FACTS = 50
MAX_CITATIONS_OF_A_FACT = 20


def _at_most(characters: int) -> AfterValidator:
    return AfterValidator(lambda text: text[:characters].rstrip())


def _first(most: int) -> BeforeValidator:
    return BeforeValidator(lambda items: items[:most] if isinstance(items, list) else items)


# constraints stand next to their type: after a validator they are checked apart from it, and named
# apart in the schema
_Words = Annotated[str, StringConstraints(strip_whitespace=True), BeforeValidator(_text)]
Answer = Annotated[_Words, _at_most(MAX_ANSWER_CHARS)]
Statement = Annotated[_Words, _at_most(MAX_STATEMENT_CHARS)]
Identifiers = Annotated[
    list[Annotated[str, BeforeValidator(_identifier), _at_most(MAX_ID_CHARS)]],
    _first(MAX_COMMUNITIES),
    BeforeValidator(_named),
]


class _Reply(BaseModel):
    """A model's reply: unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class FollowupReply(_Reply):
    """A follow-up question and the communities to look in; a bare string is a question."""

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1), _at_most(MAX_QUESTION_CHARS)
    ]
    target_communities: Identifiers = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare_question(cls, value: object) -> object:
        return {"question": value} if isinstance(value, str) else value


def _worded(value: object) -> object:
    """Drop follow-ups that hold no question."""
    items = _listed(value)
    if not isinstance(items, list):
        return items
    return [i for i in items if not _is_blank(i.get("question") if isinstance(i, dict) else i)]


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


Followups = Annotated[list[FollowupReply], _first(MAX_FOLLOWUPS_READ), BeforeValidator(_worded)]


class PrimerReply(_Reply):
    """Reply of the primer: a coarse answer and 2 to 6 follow-ups; a bare list is the follow-ups."""

    initial_answer: Answer = ""
    followups: Followups = Field(default_factory=list)
    rationale: Statement = ""

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: object) -> object:
        return {"followups": value} if isinstance(value, list) else value


class CitationReply(_Reply):
    """A citation as a model writes it.

    A missing id is logged and kept empty, for the check to drop.
    """

    chunk_id: Annotated[str, _at_most(MAX_ID_CHARS)] = ""
    span: Statement = ""

    @model_validator(mode="before")
    @classmethod
    def _detect_missing_id(cls, value: object) -> object:
        if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
            value = {"chunk_id": value}
        if not isinstance(value, dict):
            return value
        given = value.get("chunk_id")
        if given is None:
            log.warning("citation_model_null_chunk_id", extra={"span": str(value.get("span"))[:80]})
            return {**value, "chunk_id": ""}
        chunk_id = str(given).strip()
        if not chunk_id:
            log.warning(
                "citation_model_empty_chunk_id", extra={"span": str(value.get("span"))[:80]}
            )
        return {**value, "chunk_id": chunk_id}


class LocalReply(_Reply):
    """Reply to a follow-up: an answer with citations, 0 to 3 new follow-ups, and whether to go on."""

    answer: Answer
    citations: Annotated[list[CitationReply], _first(MAX_CITATIONS), BeforeValidator(_listed)] = (
        Field(default_factory=list)
    )
    new_followups: Followups = Field(default_factory=list)
    confidence: Annotated[float, Field(ge=0, le=1), BeforeValidator(_score)] = 0.0
    should_continue: Annotated[bool, BeforeValidator(_flag)] = False


def _citation_id(value: object) -> object:
    """Read a citation object as its chunk id.

    A missing id is logged and empty, for the enrichment to drop.
    """
    given = value.get("chunk_id") if isinstance(value, dict) else value
    if given is None:
        log.warning("citation_model_null_chunk_id", extra={"span": ""})
        return ""
    return _identifier(given)


class FactReply(_Reply):
    """A key fact with chunk ids as strings."""

    fact: Statement
    citations: Annotated[
        list[Annotated[str, BeforeValidator(_citation_id), _at_most(MAX_ID_CHARS)]],
        _first(MAX_CITATIONS_OF_A_FACT),
        BeforeValidator(_listed),
    ] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare_fact(cls, value: object) -> object:
        return {"fact": value} if isinstance(value, str) else value


class AggregateReply(_Reply):
    """Reply of the aggregation."""

    final_answer: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1),
        _at_most(MAX_ANSWER_CHARS),
        BeforeValidator(_text),
    ]
    key_facts: Annotated[list[FactReply], _first(MAX_FACTS), BeforeValidator(_listed)] = Field(
        default_factory=list
    )
    residual_uncertainty: Statement = ""


_SUPPORTED_IN_STRICT = {"type", "items", "enum", "const", "anyOf"}


@cache
def strict_schema(reply: type[BaseModel]) -> Mapping[str, Any]:
    """Return a reply's JSON schema as OpenAI's strict mode wants it.

    No extra fields, every field required, no bounds.

    It is made once, in 6 ms, and shared: nobody may change it.

    Source: the "Structured outputs" guide of the OpenAI API, section "Supported schemas".
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def strict(node: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return strict(definitions[node["$ref"].rsplit("/", 1)[-1]])
        kept = {key: value for key, value in node.items() if key in _SUPPORTED_IN_STRICT}
        if "properties" in node:
            properties = {name: strict(value) for name, value in node["properties"].items()}
            return {
                **kept,
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }
        return {key: strict(value) for key, value in kept.items()}

    made: Mapping[str, Any] = strict(schema)
    return made
