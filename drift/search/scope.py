"""One request's servers, bounds and time; its steps ask here for evidence and for replies.

Some errors cost one step alone. When every step failed, the most telling error is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from drift.answer.explanation import Find, Notes
from drift.contracts.answer import EndedBy
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    OutOfTokensError,
    UnusableReplyError,
)
from drift.core.logs import log
from drift.core.reply_text import is_schema, json_values, unwrapped
from drift.model.calls import Prompt, TextCallback
from drift.model.graph import (
    Beside,
    CommunityId,
    Evidence,
    FollowupQuery,
    LocalVector,
    Position,
    Vector,
    WholeEvidence,
    WholeQuery,
)
from drift.model.limits import Limits
from drift.model.reading import AboutProject
from drift.ports import Ports
from drift.prompting.budget import second_try
from drift.search.bounded_chat import A_REPLY, LAST_CALL, BoundedChat
from drift.search.noted_calls import noting
from drift.search.ranking import ranked
from drift.search.reranking import relevance

R = TypeVar("R", bound=BaseModel)

UNRERANKED = "reranker_failed"
"""What is lost where the reranker did not answer: the order of a search is its own."""
EMBEDDED_LOCALLY = "embedded_locally"
"""What is lost where the local model's vectors stand in for the provider's."""
UNREWRITTEN = "rewriting_failed"
"""What is lost where a question is searched for as asked, although it may need its conversation."""
WORTH_ASKING_AGAIN = frozenset({"length", "empty"})
"""Reasons for which a second try may help; a refusal or a content filter would stay the same."""

LOSES_ONLY_THE_STEP = (
    UnusableReplyError,
    ModelUnavailableError,
    ModelMisconfiguredError,
    GraphUnavailableError,
    GraphMisconfiguredError,
)
"""Errors that cost one follow-up alone: the answers of the others are kept."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The servers, bounds and time that all steps of one request share."""

    ports: Ports
    limits: Limits
    request: ProjectRequest
    deadline: Deadline
    lost: set[str] = field(default_factory=set)
    """Log events of failures that did not end the request: the answer may be less for them."""
    ended_by: list[EndedBy] = field(default_factory=list)
    """The caller's own limits that ended the search, the first one first."""
    asked: str = ""
    """The question as the user asked it, where a conversation changed what is searched for."""
    noted: Notes | None = None
    """What explains the answer, where it is asked for."""

    @classmethod
    def within(
        cls, ports: Ports, limits: Limits, request: ProjectRequest, deadline: Deadline
    ) -> Scope:
        """Return the scope of a request, within these bounds and those that its caller sets."""
        asked, ended_by = request.limits, list[EndedBy]()
        noted = Notes() if "explain" in request.include else None
        ports = noting(ports, noted.calls) if noted else ports
        limits = limits.within(ports.chat.longest_prompt)
        if asked.max_followups is not None:
            most = min(limits.max_followups, asked.max_followups)
            limits = replace(limits, max_followups=most)
        if asked.max_tokens is not None:
            is_one_call = request.depth == "quick" or not limits.max_followups
            reserved = 0 if is_one_call else min(LAST_CALL, asked.max_tokens // 4)
            refused = partial(ended_by.append, "max_tokens")
            bounded = BoundedChat(ports.chat, asked.max_tokens, reserved, refused)
            ports = replace(ports, chat=bounded)
        scope = cls(ports, limits, request, deadline, ended_by=ended_by, noted=noted)
        return scope.with_what_is_left()

    def with_what_is_left(self) -> Scope:
        """Return the scope whose prompts fit into the tokens that its caller still leaves."""
        chat = self.ports.chat
        if not isinstance(chat, BoundedChat):
            return self
        # Others make three calls at least: a plan, a follow-up, and the answer.
        share = chat.left if self.is_quick else chat.left // 3
        return replace(self, limits=self.limits.within(share - A_REPLY))

    @property
    def is_quick(self) -> bool:
        """True where one look is all."""
        return self.request.depth == "quick" or not self.limits.max_followups

    @property
    def longest_last_prompt(self) -> int:
        """The most tokens of the prompt that makes the answer of all findings."""
        chat, most = self.ports.chat, self.limits.max_prompt_tokens
        return min(most, chat.longest_last) if isinstance(chat, BoundedChat) else most

    def end(self, limit: EndedBy, bound: float) -> None:
        """Remember that a bound ended the search, where it is the caller's own."""
        if getattr(self.request.limits, limit) == bound:
            self.ended_by.append(limit)

    @property
    def question(self) -> str:
        """The question that is searched for: the user's own, or that as it stands alone."""
        return self.request.query

    @property
    def located(self) -> bool:
        """True for a caller who wants to see where each citation stands."""
        return not {"locations", "references"}.isdisjoint(self.request.include)

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return one vector a text; errors as for Embedder."""
        vectors = (await self.ports.embedder.embed(texts, self.deadline)).vectors
        if any(isinstance(vector, LocalVector) for vector in vectors):
            self.lost.add(EMBEDDED_LOCALLY)
        return vectors

    async def find(
        self,
        question: str,
        vector: Vector,
        communities: tuple[CommunityId, ...] = (),
        beside: tuple[Beside, ...] = (),
        position: Position | None = None,
    ) -> Evidence:
        """Return the evidence for a question, best first; errors as for GraphStore."""
        query = FollowupQuery(
            self.request.project_id, question, vector, communities, beside, self.located, position
        )
        found = await self.ports.graph.followup(query, self.deadline)
        if found.is_partial:
            self.lost.add("graph_partly_asked")
        told: Mapping[str, float] = {}
        if self.ports.reranker is not None:
            try:
                told = await relevance(self.ports.reranker, question, found.chunks, self.deadline)
            except DriftError:  # which the reranker logs once, and not with every search
                self.lost.add(UNRERANKED)
        evidence = ranked(found, question, told)
        if self.noted:
            self.noted.finds.append(Find(question, found, told, evidence))
        return evidence

    def lose(self, event: str, exc_info: DriftError | None = None, **about: str) -> None:
        """Log a failure that costs a part of the answer, and remember it."""
        self.lost.add(event)
        log.warning(event, extra=about, exc_info=exc_info)

    async def has_topics(self) -> bool:
        """Tell whether the project's communities are topics; errors as for GraphStore."""
        return await self.ports.graph.has_topics(self.request.project_id, self.deadline)

    async def about(self) -> AboutProject:
        """Return what the project knows of itself."""
        return await self.ports.passages.about(self.request.project_id, self.deadline)

    async def whole(self, vector: Vector) -> WholeEvidence:
        """Return the project's topics."""
        query = WholeQuery(self.request.project_id, vector, self.located)
        return await self.ports.passages.whole(query, self.deadline)

    async def ask(self, prompt: Prompt, shape: type[R], hear: TextCallback | None = None) -> R:
        """Return the model's reply as `shape`; one that does not fit is asked for again, with why.

        Raises:
            UnusableReplyError: the second does not fit either, or the model refuses.
        """
        chat, most = self.ports.chat, self.limits.max_prompt_tokens
        try:
            reply = await chat.complete(prompt, self.deadline, hear)
            return parse(reply.text, shape)
        except _MisfitError as misfit:
            again = second_try(prompt, misfit.reply, misfit.problem, most)
        except UnusableReplyError as unusable:
            if unusable.detail not in WORTH_ASKING_AGAIN:
                raise
            problem = f"it was unusable ({unusable.detail}); be shorter"
            again = second_try(prompt, "", problem, most)

        reply = await chat.complete(again, self.deadline, hear)
        return parse(reply.text, shape)


def raise_most_telling(failures: Sequence[DriftError]) -> NoReturn:
    """Raise the UpstreamError that says why every step failed.

    Errors that an operator must mend come first, then servers out of reach.
    """
    for kind in (ModelMisconfiguredError, GraphMisconfiguredError, GraphUnavailableError):
        if failure := next((one for one in failures if isinstance(one, kind)), None):
            raise failure

    first = failures[0]
    if isinstance(first, OutOfTokensError):
        raise first
    why = first.sentence if isinstance(first, UnusableReplyError) else first.detail
    raise ModelUnavailableError(why) from first


class _MisfitError(UnusableReplyError):
    """A reply that is not JSON of the asked shape."""

    def __init__(self, reply: str, problem: str) -> None:
        super().__init__(f"its reply is not of the asked shape, {problem}")
        self.reply = reply
        self.problem = problem


def parse(text: str, shape: type[R]) -> R:
    """Return a reply's text as `shape`, wherever its JSON stands; UnusableReplyError."""
    problem, fields = "", shape.model_fields.keys()
    for value in (one for found in json_values(text) for one in unwrapped(found, fields)):
        if is_schema(value):
            problem = problem or "it repeats the JSON schema instead of a value"
            continue
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the whole"
            problem = problem or f"{place}: {first['msg']}"

    raise _MisfitError(text, problem or "it holds no whole JSON object")
