"""Pure: the proposals that wait for a slot of the budget, and which of them get one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from drift.evidence.names import names_found, stands_in
from drift.evidence.text import is_asked_again, is_repeated, is_same_question
from drift.model.limits import Limits, is_enough, is_in_vain, is_settling
from drift.model.tree import (
    MERGED,
    SKIPPED_BUDGET,
    SKIPPED_ENOUGH,
    FollowupState,
    Node,
    Proposal,
    Question,
)
from drift.search.priority import parts_of, promise

MAX_HINT_NAMES = 4
"""Names that a question is searched with beside its own words; more would drown them."""
OF_THE_PRIMER = 2.0
"""More than any promise: every follow-up of the first pass keeps its slot."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Questions that are to be asked now, by number, and those that ended without being asked."""

    questions: tuple[Question, ...] = ()
    settled: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A question in the pool, and the answer that led to it; None means the primer."""

    question: Question
    parent: Node | None

    @property
    def is_asked_again(self) -> bool:
        return self.parent is not None and is_asked_again(self.question, self.parent.question)


@dataclass(slots=True)
class Pool:
    """All questions of one request, and the slots of its budget; `question` is the user's own.

    `known` are all follow-ups so far, whatever became of them, numbered in order; `answered` were
    answered before the first of them. Who keeps the pool says when the best of those that wait are
    taken. Where an answer settles the user's own question, there is no further pass.
    """

    question: str
    limits: Limits
    known: list[Question] = field(default_factory=list)
    answered: list[Question] = field(default_factory=list)
    _is_settled: bool = False
    _waiting: list[_Waiting] = field(default_factory=list)
    _asked: set[int] = field(default_factory=set)
    _merged: set[int] = field(default_factory=set)

    @property
    def is_waiting(self) -> bool:
        """Whether any question waits for a slot."""
        return bool(self._waiting)

    @property
    def asked(self) -> list[Question]:
        """The questions that got a slot, by number."""
        return [question for question in self.known if question.id in self._asked]

    @property
    def free_slots(self) -> int:
        """How many more questions may be asked."""
        return self.limits.max_followups - len(self._asked)

    def is_last(self, depth: int) -> bool:
        """Tell whether no answer at this depth can lead to a new question any more."""
        return depth >= self.limits.max_passes or not self.free_slots

    def offer_first(self, proposals: Sequence[Proposal]) -> tuple[Node, ...]:
        """Take in the proposals of the primer; return those that ended at once."""
        return self._offer(None, proposals)

    def offer(self, parent: Node) -> tuple[Node, ...]:
        """Take in what an answer leads to; return what ended at once.

        What cites nothing proposes nothing, and its own question is asked again another way, once.
        """
        if not parent.answer:
            return ()
        if is_settling(parent.answer) and is_same_question(parent.question.text, self.question):
            self._is_settled = True

        proposals = parent.answer.followups if parent.answer.citations else ()
        settled = self._offer(parent, proposals)
        return (*settled, *self._offer_again(parent)) if is_in_vain(parent.answer) else settled

    def begin_with(self, look: Node) -> None:
        """Take in an answer from before the first follow-up: what it answers is not asked again."""
        if look.answer and look.answer.verdict == "answered":
            self.answered.append(look.question)
            self._is_settled = is_settling(look.answer)

    def take(self, settled: Sequence[Node]) -> Taken:
        """Give the free slots to the best of those that wait.

        Those of the primer come first, in its order. Each of the others is compared with all that
        have a slot by then. What finds none is over the budget; `settled` are the answers so far.
        """
        ended = self._give_hints(names_found(settled, self.question))
        ended += self._end_what_is_settled()
        waiting, self._waiting = self._waiting, []
        taken: list[Question] = []
        while waiting and self.free_slots:
            asked = self.asked
            best = max(waiting, key=lambda one: (self._rank(one, asked), -one.question.id))
            waiting.remove(best)
            taken.append(best.question)
            self._asked.add(best.question.id)

        ended += [Node(one.question, SKIPPED_BUDGET) for one in waiting]
        return Taken(tuple(sorted(taken, key=lambda question: question.id)), tuple(ended))

    def _end_what_is_settled(self) -> list[Node]:
        """Take what would be another pass out of those that wait, where nothing is left open."""
        if not self._is_settled:
            return []
        ended = [Node(one.question, SKIPPED_ENOUGH) for one in self._waiting if one.parent]
        self._waiting = [one for one in self._waiting if not one.parent]
        return ended

    def _rank(self, one: _Waiting, asked: Sequence[Question]) -> float:
        if one.parent is None or one.parent.answer is None:
            return OF_THE_PRIMER
        parent, answer = one.parent.question, one.parent.answer
        return promise(parts_of(one.question, parent, answer, asked, self.question))

    def _offer(self, parent: Node | None, proposals: Sequence[Proposal]) -> tuple[Node, ...]:
        settled = []
        depth = parent.question.depth + 1 if parent else 1
        asked_by = parent.question.id if parent else None
        for text, communities, beside, hint, position in proposals:
            question = Question(
                len(self.known), text, communities, asked_by, depth, beside, hint, position
            )
            state = self._state_of(question, parent)
            self._note(question, parent, state)
            if state:
                settled.append(Node(question, state))

        return tuple(settled)

    def _offer_again(self, first: Node) -> tuple[Node, ...]:
        """Take in a question that was asked in vain, unless it was asked again already."""
        asked = first.question
        depth = asked.depth + 1
        if self._is_settled:
            return ()

        before = self.known[asked.parent] if asked.parent is not None else None
        if depth > self.limits.max_passes or is_asked_again(asked, before):
            return ()

        again = Question(len(self.known), asked.text, (), asked.id, depth, asked.beside)
        state = None if self.free_slots else SKIPPED_BUDGET
        self._note(again, first, state)
        return (Node(again, state),) if state else ()

    def _state_of(self, question: Question, parent: Node | None) -> FollowupState | None:
        """Return how a proposal ends at once; None when it waits."""
        if any(is_repeated(question, other) for other in (*self.answered, *self.known)):
            return MERGED
        is_over = question.depth > self.limits.max_passes
        if is_over or (parent and self._is_over_behind(parent)):
            return SKIPPED_ENOUGH
        return None if self.free_slots else SKIPPED_BUDGET

    def _is_over_behind(self, parent: Node) -> bool:
        """Tell whether an answer leads to nothing more that has to be asked."""
        return self._is_settled or (parent.answer is not None and is_enough(parent.answer))

    def _note(self, question: Question, parent: Node | None, state: FollowupState | None) -> None:
        self.known.append(question)
        if state is None:
            self._waiting.append(_Waiting(question, parent))
        elif state == MERGED:
            self._merged.add(question.id)

    def _give_hints(self, names: Sequence[str]) -> list[Node]:
        """Give what is asked again the words to search with; return what needs not be asked."""
        ended = []
        kept = []
        for one in self._waiting:
            if not one.is_asked_again:
                kept.append(one)
                continue

            question = replace(one.question, hint=hint_for(one.question, names))
            self.known[question.id] = question
            if not question.hint:
                ended.append(Node(question, SKIPPED_ENOUGH))
            elif self._is_asked_by_another(question):
                self._merged.add(question.id)
                ended.append(Node(question, MERGED))
            else:
                kept.append(replace(one, question=question))

        self._waiting = kept
        return ended

    def _is_asked_by_another(self, again: Question) -> bool:
        """Tell whether another question asks for the same.

        What was merged into the first try, or into any other, stands for no question of its own.
        """
        others = (q for q in self.known if q.id not in {again.id, again.parent, *self._merged})
        return any(is_repeated(again, other) for other in others)


def hint_for(question: Question, names: Sequence[str]) -> str:
    """Return names to search with beside a question's own words; empty when none was found.

    The user's question is no hint: readers found nothing in any of nine second tries with it.
    """
    asked = [question.text.casefold()]
    new = [name for name in names if not stands_in(name.casefold(), asked)]
    return " ".join(new[:MAX_HINT_NAMES])
