"""Pure: the proposals that wait for a slot of the budget, and which of them get one."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from drift.core.names import proper_names
from drift.evidence.found_names import names_found, stands_in
from drift.evidence.text import (
    content_words,
    is_asked_again,
    is_repeated,
    is_same_question,
    searched,
)
from drift.model.limits import Limits, is_in_vain, is_settling
from drift.model.tree import (
    MERGED,
    NO_EVIDENCE,
    SKIPPED_BUDGET,
    SKIPPED_ENOUGH,
    SKIPPED_UNPROVEN,
    FollowupState,
    LocalAnswer,
    Node,
    Proposal,
    Question,
)

MAX_HINT_NAMES = 4
"""Names that a question is searched with beside its own words; more would drown them."""
MAX_OF_PRIMER, MAX_OF_ANSWER = 6, 3
"""Proposals that may be asked, as many as the prompts ask for at most."""


class Priority(NamedTuple):
    """Why a proposal should get one of the last slots, each part from 0 to 1.

    `novelty` is the distance from every question asked, in content words. `bridge` is 1 when the
    proposal names what its parent's evidence brought to light and no earlier question knew, a
    second hop. `proof` is the parent's confidence, `still_open` is 1 unless that answered its own.
    """

    novelty: float
    bridge: float
    proof: float
    still_open: float

    @property
    def total(self) -> float:
        """The weighted mean, 0 to 1.

        A repetition costs a call and brings nothing. The surest answers are followed by most
        repetitions.
        """
        return 0.45 * self.novelty + 0.25 * self.bridge + 0.15 * self.proof + 0.15 * self.still_open


def priority(
    question: Question, parent: Question, answer: LocalAnswer, asked: Sequence[Question], about: str
) -> Priority:
    """Return the priority of a question that an answer of its parent led to.

    `asked` are the questions asked before it, `about` is the user's own. One that is asked another
    way is open as a whole, and only the names in its hint are new.
    """
    before = [searched(other) for other in asked]
    novelty = novelty_of(searched(question), before)
    if is_asked_again(question, parent):
        bridge = new_names(question.hint, [question.hint], [about, *before])
        return Priority(novelty, float(bool(bridge)), 0.0, 1.0)

    spans = [citation.span for citation in answer.citations]
    bridge = new_names(question.text, spans, [about, *before])
    still_open = float(answer.verdict != "answered")

    return Priority(novelty, float(bool(bridge)), answer.confidence if spans else 0.0, still_open)


def novelty_of(text: str, asked: Iterable[str]) -> float:
    """Return how far a text is from the nearest of those asked, 0 to 1; one of no words is 0."""
    words = content_words(text)
    if not words:
        return 0.0
    others = [content_words(other) for other in asked]
    return min((1 - len(words & other) / len(words | other) for other in others), default=1.0)


def new_names(text: str, spans: Iterable[str], asked: Iterable[str]) -> frozenset[str]:
    """Return the words of the text's names that stand in a span, and in no question asked."""
    return (_words(proper_names(text)) & _words(spans)) - _words(asked)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in re.findall(r"\w+", text.casefold()))


class Taken(NamedTuple):
    """Questions that are to be asked now, by number, and those that ended without being asked."""

    questions: tuple[Question, ...] = ()
    settled: tuple[Node, ...] = ()


class _Waiting(NamedTuple):
    """A question that waits, and the answer that led to it; None means the primer."""

    question: Question
    parent: Node | None


@dataclass(slots=True)
class Queue:
    """All questions of one request, and the slots of its budget; `question` is the user's own.

    `known` are all follow-ups so far, numbered in order; `answered` were answered before the first.
    `unseen` are names that were searched for and stand in nothing that was found.
    """

    question: str
    limits: Limits
    known: list[Question] = field(default_factory=list)
    answered: list[Question] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    is_settled: bool = False
    _waiting: list[_Waiting] = field(default_factory=list)
    _asked: set[int] = field(default_factory=set)
    # What was merged into another, or refused, stands for no question of its own.
    _void: set[int] = field(default_factory=set)

    @property
    def is_waiting(self) -> bool:
        """Whether any question waits for a slot."""
        return bool(self._waiting)

    @property
    def asked(self) -> list[Question]:
        """The questions that got a slot, by number."""
        return [question for question in self.known if question.id in self._asked]

    def under_way(self, ended: Container[int]) -> list[Question]:
        """Return the questions that got a slot and have not ended."""
        return [question for question in self.asked if question.id not in ended]

    @property
    def free_slots(self) -> int:
        """How many more questions may be asked."""
        return self.limits.max_followups - len(self._asked)

    def is_last(self, depth: int) -> bool:
        """Tell whether no answer at this depth can lead to a new question any more."""
        return depth >= self.limits.max_passes or not self.free_slots

    def is_hopeless(self, question: Question) -> bool:
        """Tell whether a question has a name that was searched for, and that no text has."""
        asked = [question.text.casefold()]
        return any(stands_in(name.casefold(), asked) for name in self.unseen)

    def begin_with(self, look: Node) -> None:
        """Take in an answer from before the first follow-up: its question is not asked again."""
        if look.answer and look.answer.verdict == "answered":
            self.answered.append(look.question)
            self.is_settled = is_settling(look.answer)

    def offer(self, proposals: Sequence[Proposal], parent: Node | None = None) -> list[Node]:
        """Take in proposals of an answer, or of the primer; return those that ended at once.

        An answer without evidence of its own leads to none, one that found nothing to one question.
        """
        most, refused = MAX_OF_PRIMER, SKIPPED_BUDGET
        if parent and (answer := parent.answer):
            most = 1 if is_in_vain(answer) else MAX_OF_ANSWER
            if answer.is_of_another or not answer.citations:
                most, refused = 0, SKIPPED_UNPROVEN
        settled = []
        asked_by = parent.question.id if parent else None
        depth = parent.question.depth + 1 if parent else 1
        for place, (text, communities, beside, hint, position, leads) in enumerate(proposals):
            number = len(self.known)
            question = Question(
                number, text, communities, asked_by, depth, beside, hint, position, leads
            )
            state = self._state_of(question) if place < most else refused
            if state == MERGED or place >= most:
                self._void.add(number)
            self._note(question, parent, state)
            if state:
                settled.append(Node(question, state))

        return settled

    def offer_next(self, parent: Node) -> list[Node]:
        """Take in the proposals of an answer; return those that ended at once.

        The question of one that found nothing is asked once more, another way, if it leads nowhere.
        """
        answer, first = parent.answer, parent.question
        if not answer:
            return []
        if is_settling(answer) and is_same_question(first.text, self.question):
            self.is_settled = True

        settled = self.offer(answer.followups, parent)
        leads_on = len(settled) < len(answer.followups) or self.is_hopeless(first)
        is_over = self.is_settled or first.depth >= self.limits.max_passes
        if leads_on or is_over or not is_in_vain(answer):
            return settled

        before = self.known[first.parent] if first.parent is not None else None
        if not is_asked_again(first, before):
            number, depth = len(self.known), first.depth + 1
            again = Question(number, first.text, (), first.id, depth, first.beside)
            state = None if self.free_slots else SKIPPED_BUDGET
            self._note(again, parent, state)
            settled += [Node(again, state)] if state else []

        return settled

    def take(self, settled: Sequence[Node]) -> Taken:
        """Give the free slots to the best of those that wait, those of the primer first.

        Each of the others is compared with all that have a slot by then; `settled` are the answers
        so far.
        """
        ended = self._give_hints(names_found(settled, self.question))
        if self.is_settled:  # another pass is not needed
            ended += [Node(one.question, SKIPPED_ENOUGH) for one in self._waiting if one.parent]
            self._waiting = [one for one in self._waiting if not one.parent]

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

    def _rank(self, one: _Waiting, asked: Sequence[Question]) -> float:
        if one.parent is None or one.parent.answer is None:
            # More than any other priority: every follow-up of the first pass keeps its slot.
            return 2.0
        parent, answer = one.parent.question, one.parent.answer
        return priority(one.question, parent, answer, asked, self.question).total

    def _state_of(self, question: Question) -> FollowupState | None:
        """Return how a proposal ends at once; None when it waits."""
        known = (other for other in self.known if other.id not in self._void)
        if any(is_repeated(question, other) for other in (*self.answered, *known)):
            return MERGED
        if self.is_hopeless(question):
            return NO_EVIDENCE

        is_over = question.parent is not None and self.is_settled
        if is_over or question.depth > self.limits.max_passes:
            return SKIPPED_ENOUGH

        return None if self.free_slots else SKIPPED_BUDGET

    def _note(self, question: Question, parent: Node | None, state: FollowupState | None) -> None:
        self.known.append(question)
        if state is None:
            self._waiting.append(_Waiting(question, parent))

    def _give_hints(self, names: Sequence[str]) -> list[Node]:
        """Give questions that are asked again their hints; return those that need not be asked."""
        ended = []
        kept = []
        for one in self._waiting:
            if one.parent is None or not is_asked_again(one.question, one.parent.question):
                kept.append(one)
                continue

            question = replace(one.question, hint=hint_for(one.question, names))
            self.known[question.id] = question
            apart = {question.id, question.parent, *self._void}
            others = (other for other in self.known if other.id not in apart)
            if not question.hint:
                ended.append(Node(question, SKIPPED_ENOUGH))
            elif any(is_repeated(question, other) for other in others):
                self._void.add(question.id)
                ended.append(Node(question, MERGED))
            else:
                kept.append(_Waiting(question, one.parent))

        self._waiting = kept
        return ended


def hint_for(question: Question, names: Sequence[str]) -> str:
    """Return names to search with beside a question's own words; empty when none was found."""
    asked = [question.text.casefold()]
    new = [name for name in names if not stands_in(name.casefold(), asked)]
    return " ".join(new[:MAX_HINT_NAMES])
