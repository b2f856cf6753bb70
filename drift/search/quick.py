"""One look at the documents: the question's own evidence is read in one call and checked.

A fixed rule decides whether that settles the question; the trace names its reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from drift.answer import conclusion
from drift.answer.conclusion import Conclusion
from drift.answer.streaming import GrowingAnswer, Telling
from drift.contracts.final_replies import AggregateReply, QuickReply
from drift.core.errors import ModelUnavailableError, OutOfTokensError, UnusableReplyError
from drift.evidence.answer_statements import joined
from drift.evidence.citations import check_each, standing
from drift.evidence.handles import without_handles
from drift.evidence.missing_names import lacking_name, unseen_name
from drift.model.graph import Chunk, Evidence, Position, Vector, texts_of
from drift.model.limits import CONFIDENT
from drift.model.tree import (
    ANSWERED,
    NO_EVIDENCE,
    Citation,
    CitationCounts,
    Fact,
    LocalAnswer,
    Node,
    Question,
)
from drift.prompting import budget
from drift.prompting.budget import Reading
from drift.prompting.elements import RequestHandles, place_of
from drift.search.scope import LOSES_ONLY_THE_STEP, Scope
from drift.telemetry import parts

ABOUT_WHOLE = "whole"
"""The question is about all of the documents together, of which one look reads a few passages."""
UNKNOWN_NAME = "unknown_name"
"""Nothing that the question's own search finds has a name of it: a second search finds no more."""


@dataclass(frozen=True, slots=True)
class Look:
    """The findings of one look, as a follow-up of its own; `open` says why it settles no more."""

    node: Node
    evidence: Evidence = field(default_factory=Evidence)
    counts: CitationCounts = field(default_factory=CitationCounts)
    conclusion: Conclusion = field(default_factory=Conclusion)
    open: str = ""
    vector: Vector = ()

    @property
    def settles(self) -> bool:
        """True when a further search would find no more."""
        return self.open in {"", UNKNOWN_NAME}

    @property
    def found(self) -> bool:
        """True when something of the answer stands on evidence that holds."""
        return self.conclusion.verdict != "not_found"


async def look_once(scope: Scope, telling: Telling) -> Look:
    """Return the evidence of the question's own search, and the answer from it.

    Raises:
        UnusableReplyError: neither of two replies can be used; UpstreamError: a server's.
    """
    [vector] = await scope.embed([scope.question])
    evidence = await scope.find(scope.question, vector)
    if not evidence.chunks:
        return Look(Node(_asked(scope), NO_EVIDENCE), evidence, open="no_evidence", vector=vector)

    look, reply = await _read_first(scope, evidence, telling)
    if reply.about_whole:
        look = replace(look, open=ABOUT_WHOLE)
    elif reply.position:
        position = Position(reply.position)
        look = await _look_at_position(scope, look, position, vector, telling) or look

    if look.open == "not_found" and lacking_name(scope.question, texts_of(evidence.chunks)):
        look = replace(look, open=UNKNOWN_NAME)
    return replace(look, vector=vector)


async def _look_at_position(
    scope: Scope, look: Look, position: Position, vector: Vector, telling: Telling
) -> Look | None:
    """Look again with a position's chunks first; None where they are no news."""
    try:
        evidence = await scope.find(scope.question, vector, position=position)
        chunks = evidence.chunks[: scope.limits.max_chunks_for_prompt]
        if {chunk.id for chunk in chunks} <= set(look.node.chunk_ids):
            return None
        again, _ = await _read_first(scope, evidence, telling, is_last=True)
    except LOSES_ONLY_THE_STEP as error:
        scope.lose("position_unread", error, code=error.code)
        return None
    return again


def unusable(scope: Scope, error: UnusableReplyError) -> Look:
    """Return the look of a model whose reply cannot be used: nothing was found by it.

    Raises:
        ModelUnavailableError: one look is all; OutOfTokensError: it was not begun.
    """
    if isinstance(error, OutOfTokensError):
        raise error
    if scope.is_quick:
        raise ModelUnavailableError(error.sentence) from error
    scope.lose("quick_unusable", reason=error.detail)
    return Look(Node(_asked(scope), NO_EVIDENCE), open="unusable_reply")


def _asked(scope: Scope) -> Question:
    # Follow-ups count from 0.
    return Question(-1, scope.question, depth=0)


async def _read_first(
    scope: Scope, evidence: Evidence, telling: Telling, *, is_last: bool = False
) -> tuple[Look, QuickReply]:
    """Return the look at the first chunks of some evidence, and the model's reply itself."""
    chunks = evidence.chunks[: scope.limits.max_chunks_for_prompt]
    handles = RequestHandles().including(chunk.id for chunk in chunks)
    reading = budget.quick(scope.question, chunks, handles, scope.limits.max_prompt_tokens)
    return await read_once(scope, evidence, reading, handles, telling, is_last=is_last)


async def read_once(  # noqa: PLR0913 - what is read, and who hears of it
    scope: Scope,
    evidence: Evidence,
    reading: Reading,
    handles: RequestHandles,
    telling: Telling,
    *,
    is_last: bool = False,
) -> tuple[Look, QuickReply]:
    """Return the look at some evidence by a prompt, and the model's reply itself."""
    call = _QuickCall(scope.question, handles, evidence, reading.shown)
    with parts.reading(1) as part:
        growing = GrowingAnswer(lambda begun: call.facts_of(begun, is_last=is_last), call.prose)
        reply = await scope.ask(reading.prompt, QuickReply, telling.hear(growing.deliverable))
        part.add(chunks=len(reading.shown), answers=1)

    return call.checked(_asked(scope), reply), reply


@dataclass(frozen=True)
class _QuickCall:
    """One call: the chunks that it showed, and the check of its reply."""

    question: str
    handles: RequestHandles
    evidence: Evidence
    shown: Sequence[Chunk]

    @cached_property
    def known(self) -> dict[str, Chunk]:
        return {chunk.id: chunk for chunk in self.evidence.chunks}

    @cached_property
    def in_prose(self) -> dict[str, str]:
        return self.handles.in_prose(self.known)

    def prose(self, text: str) -> str:
        """Return a model's words without handles."""
        return without_handles(text, self.in_prose, [chunk.text for chunk in self.shown])

    def facts_of(self, begun: Mapping[str, Any], *, is_last: bool) -> Sequence[Fact]:
        """Return the facts for a reply that is still written; none if another call follows it."""
        try:
            reply = QuickReply.model_validate({**begun, "verdict": "not_found", "sentences": ()})
        except ValidationError:
            return ()

        reads_again = (reply.about_whole or reply.position) and not is_last
        if reads_again or unseen_name(self.question, texts_of(self.shown)):
            return ()

        ids = [self.handles.chunks.resolve(citation.chunk_id) for citation in reply.evidence]
        return self._numbered(standing(reply.evidence, ids, self.known), 0.0)

    def checked(self, asked: Question, reply: QuickReply) -> Look:
        """Return a reply as a look, over the evidence that holds."""
        ids = [self.handles.chunks.resolve(citation.chunk_id) for citation in reply.evidence]
        sentences = tuple(one.said(self.prose) for one in reply.sentences)
        text = joined(sentences)
        each, counts = check_each(reply.evidence, text, ids, self.known)
        facts = self._numbered(each, reply.confidence)

        said = AggregateReply.model_construct(
            verdict=reply.verdict if facts else "not_found",
            sentences=sentences,
            residual_uncertainty=self.prose(reply.residual_uncertainty),
        )
        answer = LocalAnswer(
            text,
            tuple(dict.fromkeys(fact.citation for fact in facts)),
            reply.confidence,
            verdict=said.verdict,
        )
        node = Node(asked, ANSWERED, answer, tuple(chunk.id for chunk in self.shown))
        concluded = conclusion.conclude(asked.text, said, facts, [node], texts_of(self.shown))

        return Look(node, self.evidence, counts, concluded, open_question(concluded, counts))

    def _numbered(
        self, each: Iterable[tuple[Citation, ...]], confidence: float
    ) -> tuple[Fact, ...]:
        """Return the evidence that holds, numbered by its place in the reply, from 1."""
        return tuple(
            Fact(number, citations[0], confidence, place_of(self.known[citations[0].chunk_id]))
            for number, citations in enumerate(each, start=1)
            if citations
        )


def open_question(concluded: Conclusion, counts: CitationCounts) -> str:
    """Return why a look leaves the question open; empty when it settles it."""
    if concluded.verdict != "answered":
        return concluded.verdict
    if counts.dropped:  # evidence that does not stand where the reply says
        return "citation_dropped"
    if concluded.left_out:  # a sentence that names no evidence that holds
        return "sentence_left_out"
    if concluded.confidence < CONFIDENT:
        return "unsure"

    # Of more documents than these one look cannot be sure to have seen all.
    facts = [fact for statement in concluded.statements for fact in statement.facts]
    documents = {fact.citation.document for fact in facts}
    most = 2
    return "scattered" if len(documents) > most else ""
