"""What a caller gets: the answer with its facts and citations, or a problem in its place.

On request there are usage, trace, verdict and references too.
"""

from __future__ import annotations

import operator
from typing import Literal

from pydantic import AliasChoices, BaseModel, Field

from drift.contracts.body import is_unknown
from drift.contracts.explain import ExplainOut
from drift.contracts.request import Depth
from drift.model.calls import PhaseUsage, Usage
from drift.model.tree import Verdict

NO_DATA_STATE = "no_data_found"
EndedBy = Literal["max_seconds", "max_followups", "max_tokens"]
"""A limit of the caller's own, by its name in the request."""


class CitationOut(BaseModel):
    """Evidence as callers get it: `span` is verbatim text of the chunk.

    With `locations`, the other fields say where it stands, as far as the graph knows: the id of the
    document, the page, the path of headings, which of the document's chunks ("12 of 42"), the
    characters `start` to `end` of the document's text, from 0, and where the document is from. What
    is not known is left out.
    """

    chunk_id: str
    span: str
    document_name: str
    document_id: str | None = Field(default=None, exclude_if=is_unknown)
    page: int | str | None = Field(default=None, exclude_if=is_unknown)
    heading: str | None = Field(default=None, exclude_if=is_unknown)
    place: str | None = Field(default=None, exclude_if=is_unknown)
    start: int | None = Field(default=None, exclude_if=is_unknown)
    end: int | None = Field(default=None, exclude_if=is_unknown)
    source_uri: str | None = Field(default=None, exclude_if=is_unknown)


class KeyFact(BaseModel):
    """One sentence of the answer with its evidence; a citation may be a plain chunk id.

    With `references`, these are the numbers of the references that it stands on.
    """

    fact: str
    citations: list[CitationOut | str]
    references: list[int] | None = Field(default=None, exclude_if=is_unknown)


class SignalsOut(BaseModel):
    """What the confidence in a reference is made of, 0..1 each; what is not known is left out.

    How near the passage is to the question, how new its document is, how many other documents say
    the same, and how sure the model was of what it read there.
    """

    similarity: float | None = Field(default=None, exclude_if=is_unknown)
    freshness: float | None = Field(default=None, exclude_if=is_unknown)
    citations: float | None = Field(default=None, exclude_if=is_unknown)
    model: float | None = Field(default=None, exclude_if=is_unknown)


class ReferenceOut(BaseModel):
    """A passage that the answer stands on, by the number that the answer names it by.

    `label` says where it is, as far as that is known: the lines of a file, a page, a heading.
    `first_line` and `last_line` are those of the span in the document's file, from 1. `match` is
    how near the passage is to the question, and `confidence` the weighted mean of the signals
    (docs/references.md). What is not known is left out.
    """

    number: int
    label: str
    chunk_id: str
    document_name: str
    span: str
    first_line: int | None = Field(default=None, exclude_if=is_unknown)
    last_line: int | None = Field(default=None, exclude_if=is_unknown)
    page: int | str | None = Field(default=None, exclude_if=is_unknown)
    source_uri: str | None = Field(default=None, exclude_if=is_unknown)
    match: float | None = Field(default=None, exclude_if=is_unknown)
    confidence: float
    signals: SignalsOut


class ReferencesOut(BaseModel):
    """The answer once more, with the numbers of its references, and how sure they are.

    `answer` is the final answer with the numbers behind its sentences, then a line for each
    reference, then the limits. Under a confidence of 0.7 the limits say what makes it low.
    """

    answer: str
    items: list[ReferenceOut]
    confidence: float
    limits: list[str]


class CostOut(BaseModel):
    """What the models of a request cost, by the `prices` of a date, such as 2026-08-21."""

    amount: float
    currency: str
    prices: str


class UsageOut(Usage):
    """What the request cost; the critical path is the longest chain of dependent calls.

    `wall_seconds` count from when the request came, so that they are more than those of its phases.
    `cost` is left out when a model has no price, or tokens were not reported. `from_cache` tells
    that the answer was found for an earlier request (docs/caches.md), `prompts_cut` of how many
    prompts the model's server read a part alone; each is left out otherwise.
    """

    graph_round_trips: int = 0
    wall_seconds: float = 0.0
    critical_path_seconds: float = 0.0
    cost: CostOut | None = Field(default=None, exclude_if=is_unknown)
    from_cache: bool = Field(default=False, exclude_if=operator.not_)
    prompts_cut: int = Field(default=0, exclude_if=operator.not_)
    phases: dict[str, PhaseUsage] = Field(default_factory=dict)


class VerdictOut(BaseModel):
    """Whether the documents answer the question.

    `confidence` (0..1) is that of the evidence under the answer, not a judgement of the whole.
    `near` are the passages that came nearest to an answer that was not found, the nearest first;
    they bear nothing out. It is left out where there are none.
    """

    verdict: Verdict
    confidence: float
    near: list[CitationOut] = Field(default_factory=list, exclude_if=operator.not_)


class TraceNode(BaseModel):
    """One follow-up of the tree; `parent` is the id of the follow-up that asked it."""

    id: int
    parent: int | None
    question: str
    target_communities: list[int | str]
    pass_: int = Field(serialization_alias="pass", validation_alias=AliasChoices("pass_", "pass"))
    verdict: Verdict | None
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


class DepthOut(BaseModel):
    """How far the search was to go, and how far it went: `quick` or `drift`.

    `reason` says why one look left the question open (docs/depth.md); empty where it did not, or
    where none was taken.
    """

    asked: Depth
    used: Literal["drift", "quick"]
    reason: str = ""


class QueryOut(BaseModel):
    """The question as it was asked, and as it was searched for, which a conversation may change."""

    asked: str
    searched: str
    rewritten: bool


class TraceOut(BaseModel):
    """How the answer came about; the quick look is the follow-up of number -1 and pass 0.

    `embedding` is `local` where the evidence was found by the local model's vectors
    (`EMBED_FALLBACK`), `reranking` is `lost` where a reranker (`RERANK_URL`) did not answer each
    time, and `rewriting` where the question was searched for as asked, since what the model made of
    it and its history could not be used; they are left out otherwise.
    """

    depth: DepthOut
    initial_answer: str
    rationale: str
    communities: list[int | str]
    followups: list[TraceNode]
    citations: CitationCountsOut
    embedding: Literal["", "local"] = Field(default="", exclude_if=operator.not_)
    reranking: Literal["", "lost"] = Field(default="", exclude_if=operator.not_)
    rewriting: Literal["", "lost"] = Field(default="", exclude_if=operator.not_)


class RetrieveResponse(BaseModel):
    """The answer; the last eight fields appear only when they are set.

    `ended_by` is the limit of the request that ended its search before the question was settled.
    """

    final_answer: str
    key_facts: list[KeyFact]
    residual_uncertainty: str
    no_data_found: Literal[True] | None = None
    verdict: VerdictOut | None = None
    usage: UsageOut | None = None
    trace: TraceOut | None = None
    references: ReferencesOut | None = None
    ended_by: EndedBy | None = None
    query: QueryOut | None = None
    explain: ExplainOut | None = None

    @property
    def cited(self) -> list[CitationOut | str]:
        """The citations of all its facts, in order."""
        return [citation for fact in self.key_facts for citation in fact.citations]

    def to_json(self) -> str:
        """Serialise to the contract's exact shape."""
        optional = (
            "no_data_found",
            "verdict",
            "usage",
            "trace",
            "references",
            "ended_by",
            "query",
            "explain",
        )
        unset = {name for name in optional if getattr(self, name) is None}
        return self.model_dump_json(by_alias=True, exclude=unset)


class FieldErrorOut(BaseModel):
    """One broken field of a request."""

    field: str
    message: str


class Problem(BaseModel):
    """An error body, `application/problem+json` (RFC 9457).

    `limit` names the limit of a key that is used up, as PROJECT_KEYS calls it.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    retrieval_id: str
    errors: list[FieldErrorOut] | None = None
    limit: str | None = None
