"""The follow-ups of one request: each starts the ones that it proposes once it is answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from drift import bounded, context, plan
from drift.calls import Calls
from drift.citations import check
from drift.contracts.progress import Phase
from drift.contracts.replies import LocalReply
from drift.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.progress import Progress, citation_lines, escape_markdown
from drift.ranking import ranked
from drift.replies import ask
from drift.tasks import Deadline, task_group
from drift.telemetry import parts
from drift.telemetry.logs import log
from drift.values.calls import Prompt
from drift.values.graph import Chunk, Community, Evidence, FollowupQuery, Vector
from drift.values.tree import (
    ANSWERED,
    NO_EVIDENCE,
    SKIPPED_DEADLINE,
    SKIPPED_ENOUGH,
    Answer,
    CitationCounts,
    FollowupState,
    Node,
    Question,
)

LOSES_ONLY_THE_STEP = (
    UnusableReplyError,
    ModelUnavailableError,
    ModelMisconfiguredError,
    GraphUnavailableError,
    GraphMisconfiguredError,
)
"""Errors that cost one follow-up alone: what the others have answered is kept."""

MAX_NEW_FOLLOWUPS = 3


@dataclass(frozen=True, slots=True)
class _Wave:
    """Questions that became ready together, and the chunks that were answered from before them.

    What siblings answer meanwhile does not count, because the faster one of two must not decide
    what is asked.
    """

    questions: tuple[Question, ...]
    answered_before: frozenset[str]
    ready_s: float
    group: asyncio.TaskGroup


@dataclass(slots=True)
class FollowupTree:
    """The growing tree of one request; `nodes` are the follow-ups that have ended, by id."""

    calls: Calls
    limits: plan.Limits
    project_id: str
    question: str
    communities: Sequence[Community]
    progress: Progress
    deadline: Deadline
    nodes: dict[int, Node] = field(default_factory=dict)
    retrieved: dict[str, Chunk] = field(default_factory=dict)
    counts: CitationCounts = field(default_factory=CitationCounts)
    failures: list[DriftError] = field(default_factory=list)
    _known: list[Question] = field(default_factory=list)
    _asked: int = 0
    _answered_from: set[str] = field(default_factory=set)

    @property
    def handles(self) -> context.Handles[int | str]:
        """Short names of the communities that follow-ups may target."""
        return context.Handles.of("C", (c.id for c in self.communities))

    def in_order(self) -> list[Node]:
        """Return the follow-ups that have ended, in the order in which they were proposed."""
        return [self.nodes[number] for number in sorted(self.nodes)]

    async def run(self, proposals: Sequence[plan.Proposal]) -> None:
        """Ask the proposals and what follows from them, until aggregation has to begin.

        A failure costs one follow-up. `require_answers` fails the request when none is left.
        """
        try:
            async with (
                asyncio.timeout(self.deadline.until_aggregation()) as cut,
                task_group() as group,
            ):
                self._start(proposals, None, group)
        except TimeoutError:
            if not cut.expired():
                raise

        for question in self._known:
            self.nodes.setdefault(question.id, Node(question, SKIPPED_DEADLINE))

    def _start(
        self, proposals: Sequence[plan.Proposal], parent: Node | None, group: asyncio.TaskGroup
    ) -> None:
        """Decide about proposals and start what is to be asked, as one wave."""
        decided = plan.schedule(proposals, self._known, self._asked, parent, self.limits)
        self._known += [*decided.ready, *(node.question for node in decided.settled)]
        self._known.sort(key=lambda question: question.id)
        self._asked += len(decided.ready)

        for node in decided.settled:
            self._end(node)

        if decided.ready:
            ready_s = self.deadline.elapsed()
            wave = _Wave(decided.ready, frozenset(self._answered_from), ready_s, group)
            group.create_task(self._embed(wave))

    async def _embed(self, wave: _Wave) -> None:
        """Embed questions that became ready together in one call, then let each go its own way."""
        try:
            embeddings = await self.calls.embedder.embed([q.text for q in wave.questions])
        except LOSES_ONLY_THE_STEP as error:
            for question in wave.questions:
                self._fail(question, error)
            return

        for question, vector in zip(wave.questions, embeddings.vectors, strict=True):
            wave.group.create_task(self._follow(question, vector, wave))

    async def _follow(self, question: Question, vector: Vector, wave: _Wave) -> None:
        """Ask one follow-up; on its answer, start the follow-ups it proposes."""
        self._report(f"Looking into: {question.text}")
        try:
            with parts.followup(question.id, question.depth) as part:
                node = await self._answer(question, vector, wave.answered_before)
                part.add(state=str(node.state), chunks=len(node.chunk_ids))
        except LOSES_ONLY_THE_STEP as error:
            self._fail(question, error)
            return

        node = replace(node, seconds=round(self.deadline.elapsed() - wave.ready_s, 4))
        if node.answer:
            self._start(node.answer.followups, node, wave.group)
        self._end(node)

    async def _answer(
        self, question: Question, vector: Vector, answered_before: Collection[str]
    ) -> Node:
        """Find evidence and have it read, unless nothing was found or nothing of it is new."""
        query = FollowupQuery(self.project_id, question.text, vector, question.communities)
        evidence = ranked(await self.calls.graph.followup(query))
        prompt, shown = bounded.executor(
            self.question, question.text, self.communities, evidence, self.limits
        )
        if not shown:
            return Node(question, NO_EVIDENCE)

        chunk_ids = tuple(c.id for c in shown)
        self.retrieved.update((c.id, c) for c in evidence.chunks)
        if not plan.brings_news(chunk_ids, answered_before):
            return Node(question, SKIPPED_ENOUGH, chunk_ids=chunk_ids)

        answer = await self._ask_model(prompt, evidence, shown)
        self._answered_from.update(chunk_ids)
        return Node(question, ANSWERED, answer, chunk_ids)

    async def _ask_model(
        self, prompt: Prompt, evidence: Evidence, shown: Sequence[Chunk]
    ) -> Answer:
        """Ask the model about the chunks shown, and check what it cites against all evidence."""
        handles = context.Handles.of("K", (c.id for c in context.in_reading_order(shown)))
        reply = await ask(self.calls.chat, prompt, LocalReply)

        full_set = {c.id: c for c in evidence.chunks}
        ids = [handles.resolve(c.chunk_id) for c in reply.citations]
        citations, counts = check(reply.citations, reply.answer, ids, full_set)
        self.counts += counts

        proposed = tuple(
            (followup.question, self.handles.resolved(followup.target_communities))
            for followup in reply.new_followups[:MAX_NEW_FOLLOWUPS]
        )
        return Answer(reply.answer, citations, reply.confidence, reply.should_continue, proposed)

    def longest_chain_s(self) -> float:
        """Return the seconds of the slowest follow-up together with those that led to it."""
        chains: dict[int | None, float] = {None: 0.0}
        for node in self.in_order():
            before = chains.get(node.question.parent, 0.0)
            chains[node.question.id] = before + node.seconds
        return max(chains.values())

    def _fail(self, question: Question, error: DriftError) -> None:
        log.warning("followup_failed", exc_info=error, extra={"followup": question.id})
        self.failures.append(error)
        self._end(Node(question, FollowupState("failed", error.code)))

    def _end(self, node: Node) -> None:
        self.nodes[node.question.id] = node
        if node.answer:
            self._report(f"Answered: {node.question.text}", citation_lines(node.answer.citations))

    def _report(self, summary: str, details: str = "") -> None:
        planned = Counter(question.depth for question in self._known)
        ended = Counter(node.question.depth for node in self.nodes.values())
        pct = plan.percentage(ended, planned, self.limits.max_passes)
        self.progress.report(Phase.EXECUTING_FOLLOWUP, escape_markdown(summary), details, pct)


WORST_FIRST = (ModelMisconfiguredError, GraphMisconfiguredError, GraphUnavailableError)
"""Failures that the request fails with when nothing was answered: first what an operator must
change, then what cannot be reached."""


def require_answers(tree: FollowupTree) -> None:
    """Fail the request when no follow-up was answered and a failure or the deadline is the cause.

    Raises:
        UpstreamError: then there is nothing checked to answer from.
    """
    states = [node.state for node in tree.nodes.values()]
    if ANSWERED in states:
        return

    for kind in WORST_FIRST:
        if failure := next((f for f in tree.failures if isinstance(f, kind)), None):
            raise failure

    if tree.failures:
        raise ModelUnavailableError(
            "The model did not answer any follow-up question."
        ) from tree.failures[0]
    if SKIPPED_DEADLINE in states:
        raise tree.deadline.error()
