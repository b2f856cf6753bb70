"""The follow-ups of one request: each starts the ones that it proposes once it is answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from drift.answer.response import asked, checked_citations, traced
from drift.contracts.answer import TraceNode
from drift.contracts.progress import Phase
from drift.core.deadline import Deadline, task_group
from drift.core.errors import DriftError
from drift.core.logs import log
from drift.evidence.names import names_found
from drift.evidence.text import is_asked_again, searched
from drift.model import limits
from drift.model.graph import Chunk, Community, CommunityId, FollowupQuery, Vector
from drift.model.tree import (
    ANSWERED,
    NO_EVIDENCE,
    SKIPPED_DEADLINE,
    SKIPPED_ENOUGH,
    CitationCounts,
    FollowupState,
    Node,
    Proposal,
    Question,
)
from drift.prompting import budget, elements
from drift.prompting.batching import Found, Group, in_turns, together
from drift.prompting.elements import Handles, Memory
from drift.search.calls import Calls
from drift.search.executor import Answers, Executor
from drift.search.failures import LOSES_ONLY_THE_STEP, require_any
from drift.search.progress import Progress, citation_lines
from drift.search.queue import Pool
from drift.search.ranking import ranked
from drift.telemetry import parts

WAITS_FOR_SIBLINGS_S = 1.0
"""Seconds for which what a follow-up found, or proposes, waits for that of its siblings."""


@dataclass(frozen=True, slots=True)
class _Wave:
    """Questions that became ready together, and what was settled and read before them.

    What siblings answer or read meanwhile does not count, because the faster one of two must not
    decide what is asked.
    """

    questions: tuple[Question, ...]
    settled: tuple[Node, ...]
    read_before: frozenset[str]
    group: asyncio.TaskGroup


@dataclass(slots=True)
class FollowupTree:
    """The growing tree of one request; `nodes` are the follow-ups that have ended, by id.

    `tell` hears of each that begins and of each that has ended.
    """

    calls: Calls
    limits: limits.Limits
    project_id: str
    question: str
    communities: Sequence[Community]
    progress: Progress
    deadline: Deadline
    located: bool = False
    tell: Callable[[TraceNode], None] | None = None
    nodes: dict[int, Node] = field(default_factory=dict)
    retrieved: dict[str, Chunk] = field(default_factory=dict)
    counts: CitationCounts = field(default_factory=CitationCounts)
    failures: list[DriftError] = field(default_factory=list)
    _pool: Pool = field(init=False)
    _offered_s: dict[int, float] = field(default_factory=dict)
    _asks_soon: bool = False
    _all_are_heard: asyncio.Event = field(default_factory=asyncio.Event)
    _read_chunks: Counter[str] = field(default_factory=Counter)
    _communities: list[CommunityId] = field(default_factory=list)
    _chunks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Number the primer's communities first, as its own prompt does."""
        self._communities = [community.id for community in self.communities]
        self._pool = Pool(self.question, self.limits)

    def in_order(self) -> list[Node]:
        """Return the follow-ups that have ended, in the order in which they were proposed."""
        return [self.nodes[number] for number in sorted(self.nodes)]

    def shown_texts(self) -> Iterator[str]:
        """Yield every text in which a name of the question may stand."""
        for chunk in self.retrieved.values():
            yield from (chunk.document_name, chunk.heading, chunk.text)
        yield from (community.summary for community in self.communities)

    def begin_with(self, look: Node, chunks: Sequence[Chunk]) -> None:
        """Take in an answer from before the tree, with what it was found in.

        What it has answered is not asked again. What it read is read again where another question
        finds it.
        """
        self.nodes[look.question.id] = look
        self.retrieved.update((chunk.id, chunk) for chunk in chunks)
        self._pool.begin_with(look)

    async def run(self, proposals: Sequence[Proposal]) -> None:
        """Ask the proposals and what follows from them, until aggregation has to begin.

        A failure costs one follow-up. `require_answers` fails the request when none is left.
        """
        try:
            async with (
                asyncio.timeout(self.deadline.until_aggregation()) as cut,
                task_group() as group,
            ):
                self._take_in(self._pool.offer_first(proposals))
                self._ask_the_best(group)
        except TimeoutError:
            if not cut.expired():
                raise

        for question in self._pool.known:
            self.nodes.setdefault(question.id, Node(question, SKIPPED_DEADLINE))

    def _take_in(self, settled: Sequence[Node]) -> None:
        """Note when the newest questions could be asked, and end those that are not."""
        offered_s = self.deadline.elapsed()
        for question in self._pool.known[len(self._offered_s) :]:
            self._offered_s[question.id] = offered_s
        for node in settled:
            self._end(node)

    async def _ask_soon(self, group: asyncio.TaskGroup) -> None:
        """Ask the best of the pool when no further proposals can come, or after a second."""
        self._all_are_heard.clear()
        if self._may_propose():
            with suppress(TimeoutError):
                async with asyncio.timeout(WAITS_FOR_SIBLINGS_S):
                    await self._all_are_heard.wait()

        self._asks_soon = False
        self._ask_the_best(group)

    def _may_propose(self) -> bool:
        """Tell whether a follow-up is under way whose answer may lead to others."""
        under_way = (question for question in self._pool.asked if question.id not in self.nodes)
        return any(not self._pool.is_last(question.depth) for question in under_way)

    def _is_last(self, group: Group) -> bool:
        """Tell whether no answer of a group can lead to a new follow-up."""
        return all(self._pool.is_last(found.question.depth) for found in group)

    def _ask_the_best(self, group: asyncio.TaskGroup) -> None:
        """Start the best of the pool as one wave, as far as the budget goes."""
        settled = tuple(n for n in self.in_order() if n.answer or n.state == NO_EVIDENCE)
        taken = self._pool.take(settled)
        for node in taken.settled:
            self._end(node)

        if taken.questions:
            read = frozenset(+self._read_chunks)
            wave = _Wave(taken.questions, settled, read, group)
            group.create_task(self._search(wave))

    async def _search(self, wave: _Wave) -> None:
        """Find what each question of a wave is answered from, and have it read.

        Those whose evidence is there within a second of each other are read together where they
        share chunks; none of them waits longer for a slow one.
        """
        try:
            embeddings = await self.calls.embedder.embed([searched(q) for q in wave.questions])
        except LOSES_ONLY_THE_STEP as error:
            for question in wave.questions:
                self._fail(question, error)
            return

        pairs = zip(wave.questions, embeddings.vectors, strict=True)
        searching = {
            wave.group.create_task(self._find(question, vector, wave)) for question, vector in pairs
        }
        while searching:
            done, searching = await asyncio.wait(searching, timeout=WAITS_FOR_SIBLINGS_S)
            found = [one for task in done if (one := task.result())]
            self._read_together(sorted(found, key=lambda one: one.question.id), wave)

    async def _find(self, question: Question, vector: Vector, wave: _Wave) -> Found | None:
        """Return what a follow-up found; None when it ends here, without anything new to read."""
        self._report(f"Looking into: {question.text}")
        if self.tell:
            self.tell(asked(question))

        query = FollowupQuery(
            self.project_id,
            searched(question),
            vector,
            question.communities,
            question.beside,
            self.located,
            question.position,
        )
        try:
            with parts.followup(question.id, question.depth) as part:
                evidence = ranked(await self.calls.graph.followup(query))
                part.add(chunks=len(evidence.chunks))
        except LOSES_ONLY_THE_STEP as error:
            self._fail(question, error)
            return None

        if not evidence.chunks:
            self._end(Node(question, NO_EVIDENCE))
            return None

        self.retrieved.update((c.id, c) for c in evidence.chunks)
        leading = budget.leading(self._new_to(question, evidence.chunks), self.limits)
        first, second = limits.looks(leading, wave.read_before)
        if not first:
            self._end(Node(question, SKIPPED_ENOUGH, chunk_ids=tuple(c.id for c in leading)))
            return None

        return Found(question, evidence, first, second)

    def _new_to(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        """Return chunks without those that were read for the same question the first time."""
        first = self.nodes.get(question.parent) if question.parent is not None else None
        if first is None or not is_asked_again(question, first.question):
            return chunks
        return [chunk for chunk in chunks if chunk.id not in first.chunk_ids]

    def _read_together(self, found: Sequence[Found], wave: _Wave) -> None:
        def fits(chunks: Sequence[Chunk]) -> bool:
            return budget.fits(chunks, self.limits)

        for group in together(found, self.limits.max_followups_per_prompt, fits):
            wave.group.create_task(self._read(group, wave))

    async def _read(self, group: Group, wave: _Wave) -> None:
        """Have a group answered in one call, and put what its answers propose into the pool.

        Those that a joint reply leaves out are asked alone.
        """
        executor = Executor(self.calls.chat, self.question, self.limits)
        memory = self._remembered(group, wave)
        handles = self._handles(group, wave)
        reading = Counter(chunk.id for chunk in in_turns(group))
        self._read_chunks += reading
        try:
            with parts.reading(len(group)) as part:
                answers = await executor.answer(group, memory, handles, self.retrieved)
                part.add(chunks=len(answers.shown), answers=len(answers.by_question))
        except LOSES_ONLY_THE_STEP as error:
            self._read_chunks -= reading
            for found in group:
                self._fail(found.question, error)
            return

        self.counts += answers.counts
        ended, again = self._judged(group, answers, wave)
        self._read_together(again, wave)
        for node in ended:
            self._take_in(self._pool.offer(node))

        for node in ended:
            self._end(node)

        if self._pool.is_waiting and not self._asks_soon:
            self._asks_soon = True
            wave.group.create_task(self._ask_soon(wave.group))

    def _judged(
        self, group: Group, answers: Answers, wave: _Wave
    ) -> tuple[list[Node], list[Found]]:
        """Return the follow-ups that have ended, and those that are read once more.

        What cites nothing gets a second look, at the further chunks that it found.
        """
        ended: list[Node] = []
        again: list[Found] = []
        for found in group:
            answer = answers.by_question.get(found.question.id)
            if answer is None:
                wave.group.create_task(self._read((found,), wave))
                continue

            seen = tuple(dict.fromkeys((*found.seen, *(chunk.id for chunk in answers.shown))))
            if not answer.citations and found.further:
                again.append(replace(found, chunks=found.further, further=(), seen=seen))
                continue

            offered_s = self._offered_s[found.question.id]
            seconds = round(self.deadline.elapsed() - offered_s, 4)
            ended.append(Node(found.question, ANSWERED, answer, seen, seconds))

        return ended, again

    def _remembered(self, group: Group, wave: _Wave) -> Memory:
        """Return what a group is told of the search so far."""
        own = {found.question.text for found in group}
        told = own | {node.question.text for node in wave.settled}
        others = (q.text for q in self._pool.asked if q.id not in self.nodes)
        return Memory(
            tuple(node for node in wave.settled if node.question.text not in own),
            tuple(dict.fromkeys(text for text in others if text not in told)),
            names_found(wave.settled, self.question),
            is_last=self._is_last(group),
        )

    def _handles(self, group: Group, wave: _Wave) -> budget.RequestHandles:
        """Return the handles of all that was shown so far, and of what the group is shown."""
        for community in elements.communities_of([found.evidence for found in group]):
            if community.id not in self._communities:
                self._communities.append(community.id)

        cited = [citation.chunk_id for citation in checked_citations(wave.settled)]
        for chunk_id in (*(chunk.id for chunk in in_turns(group)), *cited):
            if chunk_id not in self._chunks:
                self._chunks.append(chunk_id)

        return budget.RequestHandles(
            Handles.of("C", self._communities), Handles.of("K", self._chunks)
        )

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
        if self.tell:
            self.tell(traced(node))
        if not self._may_propose():
            self._all_are_heard.set()

        question, chunks = node.question, len(node.chunk_ids)
        seen = {"followup": question.id, "depth": question.depth, "chunks": chunks}
        log.info(
            "followup_ended", extra={**seen, "state": str(node.state), "seconds": node.seconds}
        )
        if node.answer:
            self._report(f"Answered: {node.question.text}", citation_lines(node.answer.citations))

    def _report(self, summary: str, details: str = "") -> None:
        planned = Counter(question.depth for question in self._pool.known)
        ended = Counter(node.question.depth for node in self.nodes.values())
        pct = limits.percentage(ended, planned, self.limits.max_passes)
        self.progress.report(Phase.EXECUTING_FOLLOWUP, summary, details, pct)


def require_answers(tree: FollowupTree) -> None:
    """Fail the request when no follow-up was answered and a failure or the deadline is the cause.

    Raises:
        UpstreamError: then there is nothing checked to answer from.
    """
    require_any([node.state for node in tree.nodes.values()], tree.failures, tree.deadline)
