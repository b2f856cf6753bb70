"""The follow-ups of one request: each runs by itself, and its own follow-ups start the moment its answer is in."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from drift import context, plan, prompts, telemetry
from drift.citations import check
from drift.contracts import LocalReply, Phase
from drift.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.logs import log
from drift.model import (
    Answer,
    Chunk,
    CitationCounts,
    Community,
    Evidence,
    FollowupQuery,
    Node,
    Question,
    Vector,
)
from drift.ports import ChatModel, Embedder, GraphStore
from drift.progress import Progress, citation_lines, escape_markdown
from drift.replies import ask
from drift.tasks import Deadline, task_group
from drift.usage import Meter

LOSES_ONLY_THE_STEP = (
    UnusableReplyError,
    ModelUnavailableError,
    ModelMisconfiguredError,
    GraphUnavailableError,
    GraphMisconfiguredError,
)
"""Errors of one follow-up that cost that follow-up alone: what the others answered is not lost with it."""


@dataclass(frozen=True, slots=True)
class Services:
    """The long-lived servers behind a search, and its bounds."""

    graph: GraphStore
    chat: ChatModel
    embedder: Embedder
    limits: plan.Limits


@dataclass(frozen=True, slots=True)
class _Wave:
    """Questions that became ready together, and the chunks that were answered from before them.

    What siblings answer meanwhile does not count: which of them is faster must not decide what is asked.
    """

    questions: tuple[Question, ...]
    answered_before: frozenset[str]
    group: asyncio.TaskGroup


@dataclass(slots=True)
class FollowupTree:
    """The growing tree of one request; `nodes` are the follow-ups that have ended, by id."""

    services: Services
    project_id: str
    question: str
    communities: Sequence[Community]
    progress: Progress
    meter: Meter
    deadline: Deadline
    nodes: dict[int, Node] = field(default_factory=dict)
    retrieved: dict[str, Chunk] = field(default_factory=dict)
    counts: CitationCounts = field(default_factory=CitationCounts)
    critical_path_s: float = 0.0
    failures: list[DriftError] = field(default_factory=list)
    _known: list[Question] = field(default_factory=list)
    _asked: int = 0
    _answered_from: set[str] = field(default_factory=set)
    _chain_s: dict[int, float] = field(default_factory=dict)

    @property
    def handles(self) -> context.Handles[int | str]:
        """Short names of the communities that follow-ups may target."""
        return context.Handles.of("C", (c.id for c in self.communities))

    async def run(self, proposals: Sequence[plan.Proposal]) -> None:
        """Ask the proposals and what follows from them until all have ended or aggregation has to begin.

        A failure costs one follow-up; `require_answers` tells when nothing is left.
        """
        try:
            async with asyncio.timeout(self.deadline.until_aggregation()) as cut, task_group() as group:
                self._start(proposals, None, group)
        except TimeoutError:
            if not cut.expired():
                raise
        for question in self._known:
            self.nodes.setdefault(question.id, Node(question, "skipped: deadline"))

    def _start(self, proposals: Sequence[plan.Proposal], parent: Node | None, group: asyncio.TaskGroup) -> None:
        """Decide about proposals and start what is to be asked, as one wave."""
        decided = plan.schedule(proposals, self._known, self._asked, parent, self.services.limits)
        self._known += [*decided.ready, *(node.question for node in decided.settled)]
        self._known.sort(key=lambda question: question.id)
        self._asked += len(decided.ready)
        for node in decided.settled:
            self._end(node)
        if decided.ready:
            wave = _Wave(decided.ready, frozenset(self._answered_from), group)
            group.create_task(self._embed(wave))

    async def _embed(self, wave: _Wave) -> None:
        """Embed questions that became ready together in one call, then let each go its own way."""
        questions = wave.questions
        try:
            embeddings, seconds = await self.meter.timed(
                self.services.embedder.embed([q.text for q in questions], self.deadline)
            )
        except LOSES_ONLY_THE_STEP as error:
            for question in questions:
                self._fail(question, error)
            return
        self.meter.embedding(Phase.EXECUTING_FOLLOWUP, embeddings)
        for question, vector in zip(questions, embeddings.vectors, strict=True):
            before = self._chain_s.get(question.parent, 0.0) if question.parent is not None else 0.0
            self._chain_s[question.id] = before + seconds
            wave.group.create_task(self._follow(question, vector, wave))

    async def _follow(self, question: Question, vector: Vector, wave: _Wave) -> None:
        """Ask one follow-up; on its answer, start the follow-ups it proposes."""
        self._report(f"Looking into: {question.text}")
        try:
            with telemetry.followup(question.id, question.depth) as part:
                node, seconds = await self.meter.timed(self._answer(question, vector, wave.answered_before))
                part.add(state=node.state, chunks=len(node.chunk_ids))
        except LOSES_ONLY_THE_STEP as error:
            self._fail(question, error)
            return
        self._chain_s[question.id] += seconds
        self.critical_path_s = max(self.critical_path_s, self._chain_s[question.id])
        if node.answer:
            self._start(node.answer.followups, node, wave.group)
        self._end(Node(node.question, node.state, node.answer, node.chunk_ids, round(seconds, 4)))

    async def _answer(self, question: Question, vector: Vector, answered_before: Collection[str]) -> Node:
        query = FollowupQuery(self.project_id, question.text, vector, question.communities)
        self.meter.graph_round_trips += 1
        evidence = await self.services.graph.followup(query, self.deadline)
        shown = context.fit(evidence.chunks, self.services.limits.max_chunks_for_prompt)
        chunk_ids = tuple(c.id for c in shown)
        if not shown:
            return Node(question, "no_evidence")
        self.retrieved.update((c.id, c) for c in evidence.all_chunks())
        if not plan.brings_news(chunk_ids, answered_before):
            return Node(question, "skipped: enough", chunk_ids=chunk_ids)
        answer = await self._ask_model(question, evidence, shown)
        self._answered_from.update(chunk_ids)
        return Node(question, "answered", answer, chunk_ids)

    async def _ask_model(self, question: Question, evidence: Evidence, shown: Sequence[Chunk]) -> Answer:
        """Ask the model from the chunks shown; keep the citations that hold against all that was retrieved."""
        own = {c.id for c in shown}
        others = [n for n in evidence.neighbors if n.id not in own]
        neighbors = context.fit(others, context.MAX_NEIGHBOR_CHUNKS, context.MAX_NEIGHBOR_CHARACTERS)
        handles = context.Handles.of("K", [c.id for c in [*shown, *neighbors]])
        prompt = prompts.local(
            self.question,
            question.text,
            context.community_rows(self.communities, self.handles),
            context.chunk_rows(shown, handles),
            context.neighborhood(evidence, handles, neighbors),
            handles.all_short(),
        )
        reply = await ask(self.services.chat, prompt, LocalReply, Phase.EXECUTING_FOLLOWUP, self.meter, self.deadline)
        full_set = {c.id: c for c in evidence.all_chunks()}
        ids = [handles.resolve(c.chunk_id) for c in reply.citations]
        citations, counts = check(reply.citations, reply.answer, ids, full_set)
        self.counts += counts
        proposed = tuple((f.question, self.targets(f.target_communities)) for f in reply.new_followups[:3])
        return Answer(reply.answer, citations, reply.confidence, reply.should_continue, proposed)

    def targets(self, names: Sequence[str]) -> tuple[int | str, ...]:
        """Return the communities that a model named; none that is not known."""
        found = (self.handles.resolve(name) for name in names)
        return tuple(dict.fromkeys(key for key in found if key is not None))

    def _fail(self, question: Question, error: DriftError) -> None:
        log.warning("followup_failed", exc_info=error, extra={"followup": question.id})
        self.failures.append(error)
        self._end(Node(question, f"failed: {error.code}"))

    def _end(self, node: Node) -> None:
        self.nodes[node.question.id] = node
        if node.answer:
            self._report(f"Answered: {node.question.text}", citation_lines(node.answer.citations))

    def _report(self, summary: str, details: str = "") -> None:
        planned = Counter(question.depth for question in self._known)
        ended = Counter(node.question.depth for node in self.nodes.values())
        pct = plan.percentage(ended, planned, self.services.limits.max_passes)
        self.progress.report(Phase.EXECUTING_FOLLOWUP, escape_markdown(summary), details, pct)


WORST_FIRST = (ModelMisconfiguredError, GraphMisconfiguredError, GraphUnavailableError)
"""Failures that are told as they are when nothing was answered: what the operator must change, then what is gone."""


def require_answers(tree: FollowupTree) -> None:
    """Fail the request when no follow-up was answered and a server, its replies or the deadline are to blame.

    Raises:
        UpstreamError: then there is nothing checked to answer from.
    """
    if any(node.state == "answered" for node in tree.nodes.values()):
        return
    for kind in WORST_FIRST:
        if failure := next((f for f in tree.failures if isinstance(f, kind)), None):
            raise failure
    if tree.failures:
        raise ModelUnavailableError("The model did not answer any follow-up question.") from tree.failures[0]
    if any(node.state == "skipped: deadline" for node in tree.nodes.values()):
        raise tree.deadline.error()
