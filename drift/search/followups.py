"""The follow-ups of one request: each starts the ones that it proposes once it is answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from drift.answer.response import traced
from drift.contracts.answer import TraceNode
from drift.contracts.progress import Phase
from drift.core.deadline import task_group
from drift.core.errors import DriftError
from drift.core.logs import log
from drift.evidence.found_names import names_any, names_found
from drift.evidence.missing_names import lacking_name
from drift.evidence.text import is_asked_again, searched
from drift.model import limits
from drift.model.graph import Vector, texts_of
from drift.model.tree import (
    ANSWERED,
    ASKED,
    NO_EVIDENCE,
    SKIPPED_DEADLINE,
    SKIPPED_ENOUGH,
    FollowupState,
    LocalAnswer,
    Node,
    Proposal,
    Question,
    Tree,
    cited_by,
)
from drift.prompting import budget
from drift.prompting.batching import Found, Group, Wave, in_turns, together
from drift.prompting.elements import RequestHandles, SearchHistory
from drift.search import executor
from drift.search.progress import Progress, citation_lines
from drift.search.queue import Queue
from drift.search.scope import LOSES_ONLY_THE_STEP, Scope, raise_most_telling
from drift.telemetry import parts

WAITS_FOR_SIBLINGS_S = 1.0
"""Seconds for which what a follow-up found, or proposes, waits for that of its siblings."""


@dataclass(slots=True)
class Followups:
    """Asks the questions that wait in `queue`, wave by wave, and collects findings in `tree`.

    A question is searched, read in one call together with those of its wave that found the same
    chunks, and the proposals of its answer wait for the next wave. `tell` hears of each follow-up
    that begins and of each that has ended.
    """

    scope: Scope
    progress: Progress
    tell: Callable[[TraceNode], None] = lambda _: None
    handles: RequestHandles = field(default_factory=RequestHandles)
    tree: Tree = field(default_factory=Tree)
    failures: list[DriftError] = field(default_factory=list)
    queue: Queue = field(init=False)
    _tasks: asyncio.TaskGroup = field(init=False)
    _offered_s: dict[int, float] = field(default_factory=dict)
    _reading: Counter[str] = field(default_factory=Counter)
    _wave_is_due: bool = False
    _all_are_heard: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Begin with nothing asked."""
        self.queue = Queue(self.scope.question, self.scope.limits)

    async def run(self, proposals: Sequence[Proposal]) -> Tree:
        """Ask the proposals and their own follow-ups until aggregation has to begin."""
        try:
            async with (
                asyncio.timeout(self.scope.deadline.until_aggregation()) as cut,
                task_group() as self._tasks,
            ):
                self._take_in(self.queue.offer(proposals))
                self._start_wave()
        except TimeoutError:
            if not cut.expired():
                raise

        for question in self.queue.known:
            self.tree.nodes.setdefault(question.id, Node(question, SKIPPED_DEADLINE))
        return self.tree

    def require_answers(self) -> None:
        """Raise an UpstreamError when it has kept every follow-up from being answered."""
        states = [node.state for node in self.tree.nodes.values()]
        if ANSWERED in states:
            return

        if self.failures:
            raise_most_telling(self.failures)
        if SKIPPED_DEADLINE in states:
            raise self.scope.deadline.error()

    # -------------------------------------------------------------------------------------- waves
    def _start_wave(self) -> None:
        """Ask the best of the queue together, as far as the budget goes."""
        settled = tuple(n for n in self.tree.in_order() if n.answer or n.state == NO_EVIDENCE)
        taken = self.queue.take(settled)
        self._end(*taken.settled)
        if taken.questions:
            wave = Wave(taken.questions, settled, frozenset(+self._reading))
            self._tasks.create_task(self._search(wave))

    async def _start_wave_soon(self) -> None:
        """Start a wave when no further proposals can come, or after a second."""
        self._all_are_heard.clear()
        if self._may_propose():
            with suppress(TimeoutError):
                async with asyncio.timeout(WAITS_FOR_SIBLINGS_S):
                    await self._all_are_heard.wait()

        self._wave_is_due = False
        self._start_wave()

    def _may_propose(self) -> bool:
        """Tell whether a follow-up is under way whose answer may lead to others."""
        under_way = self.queue.under_way(self.tree.nodes)
        return any(not self.queue.is_last(question.depth) for question in under_way)

    def _take_in(self, settled: Sequence[Node]) -> None:
        """Note when the newest questions could be asked, and end those that are not."""
        offered_s = self.scope.deadline.elapsed()
        for question in self.queue.known[len(self._offered_s) :]:
            self._offered_s[question.id] = offered_s
        self._end(*settled)

    # ------------------------------------------------------------------------------------- search
    async def _search(self, wave: Wave) -> None:
        """Find the evidence for each question of a wave, and have it read.

        Those whose evidence is there within a second of each other are read together.
        """
        try:
            vectors = await self.scope.embed([searched(q) for q in wave.questions])
        except LOSES_ONLY_THE_STEP as error:
            self._fail(wave.questions, error)
            return

        searching = {
            self._tasks.create_task(self._find(question, vector, wave))
            for question, vector in zip(wave.questions, vectors, strict=True)
        }
        while searching:
            done, searching = await asyncio.wait(searching, timeout=WAITS_FOR_SIBLINGS_S)
            found = [one for task in done if (one := task.result())]
            self._read_together(sorted(found, key=lambda one: one.question.id), wave)

    async def _find(self, question: Question, vector: Vector, wave: Wave) -> Found | None:
        """Return the evidence for a follow-up; None when it ends here, with nothing new to read."""
        self._report(f"Looking into: {question.text}")
        self.tell(traced(Node(question, ASKED)))
        where = (question.communities, question.beside, question.position)
        try:
            with parts.followup(question.id, question.depth) as part:
                evidence = await self.scope.find(searched(question), vector, *where)
                evidence = evidence.led_by(question.leads)
                part.add(chunks=len(evidence.chunks))
        except LOSES_ONLY_THE_STEP as error:
            self._fail([question], error)
            return None

        if not evidence.chunks:
            self._end(Node(question, NO_EVIDENCE))
            return None

        chunks = evidence.chunks
        self.tree.keep(chunks)
        before = self.tree.nodes.get(question.parent) if question.parent is not None else None
        is_again = before is not None and is_asked_again(question, before.question)
        if before and is_again:
            # The chunks of its first try are not read again.
            chunks = tuple(chunk for chunk in chunks if chunk.id not in before.chunk_ids)
        leading = budget.leading(chunks, self.scope.limits)
        first, second = limits.looks(leading, wave.read_before)
        if not first or (is_again and not names_any(searched(question), first)):
            self._end(Node(question, SKIPPED_ENOUGH, chunk_ids=tuple(c.id for c in leading)))
            return None

        return Found(question, evidence, first, second)

    # --------------------------------------------------------------------------------------- read
    def _read_together(self, found: Sequence[Found], wave: Wave) -> None:
        bounds = self.scope.limits
        fits = partial(budget.fits, limits=bounds)
        for group in together(found, bounds.max_followups_per_prompt, fits):
            self._tasks.create_task(self._read(group, wave))

    async def _read(self, group: Group, wave: Wave) -> None:
        """Have a group answered in one call; a question without an answer is asked alone."""
        memory, handles = self._remember(group, wave), self._name(group, wave)
        reading = Counter(chunk.id for chunk in in_turns(group))
        self._reading += reading
        try:
            with parts.reading(len(group)) as part:
                answers = await executor.answer(
                    self.scope, group, memory, handles, self.tree.retrieved
                )
                part.add(chunks=len(answers.shown), answers=len(answers.by_question))
        except LOSES_ONLY_THE_STEP as error:
            self._reading -= reading
            self._fail([found.question for found in group], error)
            return

        self.tree.counts += answers.counts
        ended = self._judge(group, answers, wave)
        for node in ended:
            self._take_in(self.queue.offer_next(node))

        self._end(*ended)
        if self.queue.is_waiting and not self._wave_is_due:
            self._wave_is_due = True
            self._tasks.create_task(self._start_wave_soon())

    def _judge(self, group: Group, answers: executor.Answers, wave: Wave) -> list[Node]:
        """Return the follow-ups that have ended; one without citations reads its further chunks."""
        ended: list[Node] = []
        again: list[Found] = []
        for found in group:
            answer = answers.by_question.get(found.question.id)
            if answer is None:
                self._tasks.create_task(self._read((found,), wave))
                continue

            seen = tuple(dict.fromkeys((*found.seen, *(chunk.id for chunk in answers.shown))))
            answer = self._steering(found, answer)
            further = () if self.queue.is_hopeless(found.question) else found.further
            if further and not answer.citations and names_any(found.question.text, further):
                asked = Node(found.question, ASKED, answer)
                self._take_in(self.queue.offer(answer.followups, asked))
                again.append(replace(found, chunks=further, further=(), seen=seen))
                continue

            offered_s = self._offered_s[found.question.id]
            seconds = round(self.scope.deadline.elapsed() - offered_s, 4)
            ended.append(Node(found.question, ANSWERED, answer, seen, seconds))

        self._read_together(again, wave)
        return ended

    def _steering(self, found: Found, answer: LocalAnswer) -> LocalAnswer:
        """Return an answer; it steers nothing where its search has found a part of a name alone."""
        if not (name := lacking_name(found.question.text, texts_of(found.evidence.chunks))):
            return answer

        if limits.is_in_vain(answer):
            self.queue.unseen.append(name)
        return replace(answer, is_of_another=True)

    def _remember(self, group: Group, wave: Wave) -> SearchHistory:
        """Return the part of the search so far that a group is told."""
        own = {found.question.text for found in group}
        is_last = all(self.queue.is_last(found.question.depth) for found in group)
        others = tuple(node for node in wave.settled if node.question.text not in own)
        # Names lead to new questions, of which the last pass has none.
        names = () if is_last else names_found(wave.settled, self.scope.question)
        return SearchHistory(others, names, is_last)

    def _name(self, group: Group, wave: Wave) -> RequestHandles:
        """Return the handles of all chunks shown so far, and of those of the group."""
        cited = [citation.chunk_id for citation in cited_by(wave.settled)]
        shown = (chunk.id for chunk in in_turns(group))
        self.handles = self.handles.including((*shown, *cited))
        return self.handles

    # ---------------------------------------------------------------------------------------- end
    def _fail(self, questions: Iterable[Question], error: DriftError) -> None:
        for question in questions:
            log.warning("followup_failed", exc_info=error, extra={"followup": question.id})
            self.failures.append(error)
            self._end(Node(question, FollowupState.failed_by(error)))

    def _end(self, *nodes: Node) -> None:
        for node in nodes:
            question = node.question
            self.tree.nodes[question.id] = node
            self.tell(traced(node))
            if not self._may_propose():
                self._all_are_heard.set()

            about = {"followup": question.id, "depth": question.depth, "seconds": node.seconds}
            left = {"chunks": len(node.chunk_ids), "state": str(node.state)}
            log.info("followup_ended", extra={**about, **left})
            if node.answer:
                self._report(f"Answered: {question.text}", citation_lines(node.answer.citations))

    def _report(self, summary: str, details: str = "") -> None:
        planned = Counter(question.depth for question in self.queue.known)
        ended = Counter(node.question.depth for node in self.tree.nodes.values())
        pct = limits.percentage(ended, planned, self.scope.limits.max_passes)
        self.progress.report(Phase.EXECUTING_FOLLOWUP, summary, details, pct)
