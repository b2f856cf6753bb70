"""One look at the documents: what the question itself finds, read in one call, checked as ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from drift.answer import conclusion
from drift.answer.conclusion import Conclusion
from drift.answer.growing import GrowingAnswer
from drift.answer.streaming import Telling
from drift.contracts.replies import AggregateReply, QuickReply
from drift.core.errors import UnusableReplyError
from drift.core.logs import log
from drift.evidence.citations import check_each, standing
from drift.evidence.handles import without_handles
from drift.evidence.marks import without_marks
from drift.evidence.names import unseen_name
from drift.model.graph import Chunk, Evidence, FollowupQuery, Position, Vector
from drift.model.limits import Limits
from drift.model.tree import (
    ANSWERED,
    NO_EVIDENCE,
    Answer,
    Citation,
    CitationCounts,
    Fact,
    Node,
    Question,
)
from drift.prompting import budget
from drift.prompting.budget import RequestHandles
from drift.prompting.elements import Handles, place_of
from drift.search import depth
from drift.search.calls import Calls
from drift.search.failures import LOSES_ONLY_THE_STEP
from drift.search.ranking import ranked
from drift.search.replies import ask
from drift.telemetry import parts

QUICK_ID = -1
"""The look's number among the follow-ups, which count from 0; its depth is 0."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found, and `open`: why that does not settle the question (see depth.py).

    `node` is the look as a follow-up of its own, for the search that goes on, and `vector` that of
    the question.
    """

    node: Node
    evidence: Evidence
    counts: CitationCounts = field(default_factory=CitationCounts)
    conclusion: Conclusion = field(default_factory=Conclusion)
    open: str = ""
    vector: Vector = ()

    @property
    def found(self) -> bool:
        """True when something of the answer stands on evidence that holds."""
        return self.conclusion.verdict != "not_found"


@dataclass(frozen=True, slots=True)
class QuickLook:
    """Looks once, with the question's own search and the follow-ups' retriever."""

    calls: Calls
    limits: Limits
    project_id: str
    located: bool = False
    telling: Telling = field(default_factory=Telling)

    async def look(self, question: str) -> Look:
        """Return what is found and said.

        Raises:
            UnusableReplyError: neither of two replies can be used.
            UpstreamError: from the graph or the model.
        """
        asked = Question(QUICK_ID, question, depth=0)
        vector = (await self.calls.embedder.embed([question])).vectors[0]
        evidence = await self._search(question, vector)
        if not evidence.chunks:
            return Look(Node(asked, NO_EVIDENCE), evidence, open=depth.NO_EVIDENCE, vector=vector)

        look, reply = await self._read(asked, evidence)
        if reply.about_whole:
            whole = await self.look_at_whole(question, evidence)
            look = replace(whole or look, open=depth.WHOLE)
        elif reply.position:
            look = await self._look_at_position(look, Position(reply.position), vector) or look

        return replace(look, vector=vector)

    async def look_at_whole(self, question: str, evidence: Evidence = Evidence()) -> Look | None:  # noqa: B008 - frozen
        """Return what is said with what the project knows of itself before the evidence.

        None where that is not known, or a failure keeps it back: it costs no more than this.
        """
        try:
            about = await self.calls.passages.about(self.project_id)
            if about is None:
                return None
            both = replace(evidence, chunks=(about, *evidence.chunks))
            asked = Question(QUICK_ID, question, depth=0)
            look, _ = await self._read(asked, both, is_last=True)
        except LOSES_ONLY_THE_STEP as error:
            log.warning("whole_unread", extra={"code": error.code}, exc_info=error)
            return None
        return look

    async def _look_at_position(
        self, look: Look, position: Position, vector: Vector
    ) -> Look | None:
        """Return what is said with the chunks of a position before most others.

        None where they were all shown before, or a failure keeps it back.
        """
        try:
            evidence = await self._search(look.node.question.text, vector, position)
            chunks = evidence.chunks[: self.limits.max_chunks_for_prompt]
            if {chunk.id for chunk in chunks} <= set(look.node.chunk_ids):
                return None
            again, _ = await self._read(look.node.question, evidence, is_last=True)
        except LOSES_ONLY_THE_STEP as error:
            log.warning("position_unread", extra={"code": error.code}, exc_info=error)
            return None
        return again

    async def _read(
        self, asked: Question, evidence: Evidence, *, is_last: bool = False
    ) -> tuple[Look, QuickReply]:
        """Return what is said of the evidence, and the reply itself."""
        chunks = evidence.chunks[: self.limits.max_chunks_for_prompt]
        handles = RequestHandles(
            Handles.of("C", ()), Handles.of("K", (chunk.id for chunk in chunks))
        )
        reading = budget.quick(asked.text, chunks, handles, self.limits.max_prompt_tokens)
        with parts.reading(1) as part:
            growing = _growing(asked.text, handles, evidence, reading.shown, is_last=is_last)
            hear = self.telling.hear(growing)
            reply = await ask(self.calls.chat, reading.prompt, QuickReply, hear)
            part.add(chunks=len(reading.shown), answers=1)

        return _checked(asked, reply, handles, evidence, reading.shown), reply

    async def _search(
        self, question: str, vector: Vector, position: Position | None = None
    ) -> Evidence:
        query = FollowupQuery(
            self.project_id, question, vector, (), located=self.located, position=position
        )
        return ranked(await self.calls.graph.followup(query))


def unusable(question: str, error: UnusableReplyError) -> Look:
    """Return the look of a model whose reply cannot be used: nothing was found by it."""
    log.warning("quick_unusable", extra={"reason": error.detail})
    node = Node(Question(QUICK_ID, question, depth=0), NO_EVIDENCE)
    return Look(node, Evidence(), open=depth.UNUSABLE)


def _growing(
    question: str,
    handles: RequestHandles,
    evidence: Evidence,
    shown: Sequence[Chunk],
    *,
    is_last: bool,
) -> GrowingAnswer:
    """Return what can be delivered of a reply while it is written: its evidence comes first.

    Nothing of one that asks for the whole or for a position, unless it `is_last`: then the question
    is read again with it.
    """
    known = {chunk.id: chunk for chunk in evidence.chunks}

    def facts(begun: Mapping[str, Any]) -> Sequence[Fact]:
        try:
            reply = QuickReply.model_validate({**begun, "verdict": "not_found"})
        except ValidationError:
            return ()

        named = reply.evidence
        if (reply.about_whole or reply.position) and not is_last:
            return ()
        if unseen_name(question, _texts(shown)):
            return ()

        ids = [handles.chunks.resolve(citation.chunk_id) for citation in named]
        return _facts(standing(named, ids, known), 0.0, known)

    return GrowingAnswer("answer", facts, _prose(handles, evidence, shown))


def _texts(shown: Sequence[Chunk]) -> Iterator[str]:
    """Yield every text in which a name of the question may stand."""
    for chunk in shown:
        yield from (chunk.document_name, chunk.heading, chunk.text)


def _facts(
    each: Sequence[tuple[Citation, ...]], confidence: float, known: Mapping[str, Chunk]
) -> tuple[Fact, ...]:
    """Return the evidence that holds, numbered by its place in the reply, from 1."""
    return tuple(
        Fact(number, citations[0], confidence, place_of(known[citations[0].chunk_id]))
        for number, citations in enumerate(each, start=1)
        if citations
    )


def _prose(
    handles: RequestHandles, evidence: Evidence, shown: Sequence[Chunk]
) -> Callable[[str], str]:
    """Return what takes the handles out of a model's words."""
    in_prose = handles.in_prose({chunk.id: chunk for chunk in evidence.chunks})
    said_by = [chunk.text for chunk in shown]
    return lambda text: without_handles(text, in_prose, said_by)


def _checked(
    asked: Question,
    reply: QuickReply,
    handles: RequestHandles,
    evidence: Evidence,
    shown: Sequence[Chunk],
) -> Look:
    """Return what a reply says, over the evidence that holds."""
    known = {chunk.id: chunk for chunk in evidence.chunks}
    ids = [handles.chunks.resolve(citation.chunk_id) for citation in reply.evidence]
    each, counts = check_each(reply.evidence, reply.answer, ids, known)
    facts = _facts(each, reply.confidence, known)
    citations = tuple(dict.fromkeys(fact.citation for fact in facts))

    prose = _prose(handles, evidence, shown)
    said = AggregateReply.model_construct(
        verdict=reply.verdict if facts else "not_found",
        final_answer=prose(reply.answer),
        residual_uncertainty=prose(reply.residual_uncertainty),
    )
    answer = Answer(
        without_marks(said.final_answer, {fact.number for fact in facts}),
        citations,
        reply.confidence,
        should_continue=False,
        verdict=said.verdict,
    )
    node = Node(asked, ANSWERED, answer, tuple(chunk.id for chunk in shown))
    concluded = conclusion.concluded(asked.text, said, facts, [node], _texts(shown))

    return Look(node, evidence, counts, concluded, depth.open_question(concluded, counts))
