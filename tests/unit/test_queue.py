"""The queue of proposals, and who gets a slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.text import is_same_question
from drift.model.graph import Beside
from drift.model.limits import Limits
from drift.model.tree import ANSWERED, Citation, LocalAnswer, Node, Proposal, Question, Verdict
from drift.search.queue import (
    MAX_HINT_NAMES,
    Priority,
    Queue,
    Taken,
    hint_for,
    novelty_of,
    priority,
)

USERS = "Which colour has the door of the house in which the writer lived?"
WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "the", "of", "what", "epsilon", "zeta"])
QUESTIONS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def queue(passes: int = 2, followups: int = 10) -> Queue:
    return Queue(USERS, Limits(max_passes=passes, max_followups=followups))


def answered(
    question: Question,
    *proposed: str | Proposal,
    cited: str | None = "A span.",
    confidence: float = 0.5,
    verdict: Verdict = "answered",
) -> Node:
    citations = (Citation("c", cited, "doc"),) if cited is not None else ()
    followups = tuple(p if isinstance(p, Proposal) else Proposal(p) for p in proposed)
    text = cited or "Nothing."
    return Node(question, ANSWERED, LocalAnswer(text, citations, confidence, followups, verdict))


def first(of: Queue, *questions: str | Proposal) -> Taken:
    """Offer what a primer proposes, and take it."""
    settled = of.offer([q if isinstance(q, Proposal) else Proposal(q) for q in questions])
    taken = of.take(())
    return Taken(taken.questions, (*settled, *taken.settled))


def texts(taken: Taken) -> list[str]:
    return [question.text for question in taken.questions]


def said(settled: Sequence[Node]) -> list[str]:
    return [str(node.state) for node in settled]


# ------------------------------------------------------------------------------------------- bounds
@given(
    waves=st.lists(
        st.tuples(
            st.lists(QUESTIONS, max_size=6), st.integers(0, 30), st.booleans(), st.booleans()
        ),
        max_size=8,
    ),
    limits=st.builds(Limits, max_passes=st.integers(1, 4), max_followups=st.integers(1, 7)),
)
def test_whatever_is_proposed_the_bounds_hold_and_nothing_is_lost(
    waves: list, limits: Limits
) -> None:
    of = Queue(USERS, limits)
    of.offer([Proposal("alpha beta"), Proposal("gamma")])
    taken = of.take(())
    asked, ended = [*taken.questions], [node.question.id for node in taken.settled]
    for proposals, pick, is_cited, takes in waves:
        parent = answered(
            asked[pick % len(asked)], *proposals, cited="Some Name." if is_cited else None
        )
        ended += [node.question.id for node in of.offer_next(parent)]
        if takes:
            taken = of.take([parent])
            asked += taken.questions
            ended += [node.question.id for node in taken.settled]
    taken = of.take(())
    asked += taken.questions
    ended += [node.question.id for node in taken.settled]

    assert not of.is_waiting
    assert [q.id for q in of.known] == list(range(len(of.known)))
    assert sorted([*(q.id for q in asked), *ended]) == list(range(len(of.known)))
    assert len(asked) <= limits.max_followups
    assert all(1 <= q.depth <= limits.max_passes for q in asked)
    for one in asked:
        same = [o for o in asked if o.id < one.id and is_same_question(one.text, o.text)]
        assert [o.id for o in same] in ([], [one.parent])


def test_a_question_that_was_settled_without_being_asked_is_not_asked_later() -> None:
    of = queue(followups=1)
    assert said(first(of, "alpha beta", "gamma delta").settled) == ["skipped: budget"]
    of.limits = Limits()
    assert said(of.offer([Proposal("gamma delta")])) == ["merged"]


def test_an_answer_that_settles_the_users_own_question_ends_the_search_with_its_pass() -> None:
    of = queue()
    sub, own = first(of, "Which writer lived there?", USERS).questions
    assert said(of.offer_next(answered(sub, "What else did the writer own?"))) == []
    settled = of.offer_next(answered(own, "Who painted the door?", confidence=0.8))
    assert said(settled) == ["skipped: enough"]
    assert said(of.take(()).settled) == ["skipped: enough"]
    assert said(of.offer_next(answered(sub, "When was it built?"))) == ["skipped: enough"]
    assert not of.is_waiting


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        (USERS, {"confidence": 0.5}),
        (USERS, {"confidence": 1.0, "verdict": "partly"}),
        (USERS, {"confidence": 1.0, "cited": None}),
        ("Which writer lived there?", {"confidence": 1.0}),
    ],
    ids=["unsure", "partly", "uncited", "another question"],
)
def test_what_leaves_something_open_is_followed_by_another_pass(
    asked: str, more: dict[str, Any]
) -> None:
    of = queue()
    [question, beside] = first(of, asked, "Where is the street of the harbour?").questions
    of.offer_next(answered(question, **more))
    assert said(of.offer_next(answered(beside, "When was the harbour street built?"))) == []
    assert texts(of.take(())) == ["When was the harbour street built?"]


def test_a_look_that_settles_the_question_leaves_one_pass() -> None:
    of = queue()
    of.begin_with(answered(Question(-1, USERS, depth=0), confidence=0.8))
    [question] = first(of, "Which writer lived there?").questions
    assert said(of.offer_next(answered(question, "When did the writer live?"))) == [
        "skipped: enough"
    ]


def test_the_same_question_beside_another_chunk_is_another_question() -> None:
    after, before = Beside("a", "after"), Beside("a", "before")
    of = queue()
    [parent] = first(of, "What is there?").questions
    proposals = [Proposal("What is there?", (), (wish,)) for wish in (after, before, after)]
    assert said(of.offer_next(answered(parent, *proposals))) == ["merged"]
    taken = of.take(())
    assert [question.beside for question in taken.questions] == [(after,), (before,)]
    assert [question.hint for question in taken.questions] == ["", ""]


def test_a_follow_up_knows_its_parent_its_depth_and_its_communities() -> None:
    of = queue()
    [parent] = first(of, "alpha").questions
    of.offer_next(answered(parent, Proposal("beta", (7, "x"))))
    assert of.take(()).questions == (Question(1, "beta", (7, "x"), parent=0, depth=2),)


# ---------------------------------------------------------------------------------------- the slots
def test_every_follow_up_of_the_primer_keeps_a_slot_in_its_order() -> None:
    of = queue(followups=3)
    taken = first(of, "alpha?", "beta?", "gamma?", "delta?")
    assert texts(taken) == ["alpha?", "beta?", "gamma?"]
    assert said(taken.settled) == ["skipped: budget"]
    assert said(of.offer_next(answered(taken.questions[0], "zeta?"))) == ["skipped: budget"]


def test_a_free_slot_goes_to_the_best_proposal_and_not_to_the_first() -> None:
    of = queue(followups=3)
    fast, slow = first(of, "Where is the tower?", "Who built the bridge?").questions
    of.offer_next(answered(fast, "Where is the old tower?", "Is the tower high?", confidence=0.4))
    of.offer_next(answered(slow, "Where was Ada Brook born?", cited="Ada Brook built it."))
    taken = of.take(())
    assert texts(taken) == ["Where was Ada Brook born?"]
    assert said(taken.settled) == ["skipped: budget"] * 2
    assert not of.is_waiting


def test_two_that_ask_nearly_the_same_do_not_take_two_slots_before_another() -> None:
    of = queue(followups=3)
    [parent] = first(of, "alpha?").questions
    proposed = ["beta gamma delta one?", "beta gamma delta two?", "zeta eta?"]
    of.offer_next(answered(parent, *proposed))
    assert texts(of.take(())) == [proposed[0], proposed[2]]


def test_no_answer_leads_on_in_the_last_pass_or_when_no_slot_is_left() -> None:
    of = queue(followups=2)
    assert [of.is_last(depth) for depth in (1, 2, 3)] == [False, True, True]
    first(of, "alpha?", "beta?")
    assert of.is_last(1)


# ------------------------------------------------------------------------------------ asked in vain
def test_what_cites_nothing_or_is_of_another_leads_nowhere_and_blocks_no_other() -> None:
    of = queue()
    vain, other, third = first(of, "alpha?", "gamma?", "delta?").questions
    assert said(of.offer_next(answered(vain, "beta?", cited=None))) == ["skipped: unproven"]
    of_another = replace(answered(other).answer, followups=(Proposal("beta?"),), is_of_another=True)
    assert said(of.offer(of_another.followups, Node(other, ANSWERED, of_another))) == [
        "skipped: unproven"
    ]
    assert said(of.offer_next(answered(third, "beta?"))) == []
    assert "beta?" in texts(of.take(()))


@pytest.mark.parametrize(("cited", "verdict"), [(None, "answered"), ("A span.", "not_found")])
def test_what_was_asked_in_vain_is_asked_again_with_names_found_meanwhile(
    cited: str | None, verdict: Verdict
) -> None:
    of = queue()
    vain, other = first(of, Proposal("Who built it?", (7,)), "Where is it?").questions
    of.offer_next(answered(vain, cited=cited, verdict=verdict))
    found = answered(other, cited="Near Upper Ems.")
    of.offer_next(found)
    [again] = of.take([found]).questions
    assert again == Question(2, "Who built it?", (), parent=vain.id, depth=2, hint="Near Upper Ems")
    assert of.known[again.id] == again


def test_a_name_that_no_text_has_is_not_searched_a_second_time() -> None:
    of = queue()
    vain, other = first(of, "Who is Captain Ahab?", "Where is it?").questions
    of.unseen.append("Captain Ahab")
    assert of.offer_next(answered(vain, cited=None)) == []
    ended = of.offer_next(answered(other, "Which ship did captain ahab sail?", "Is it high?"))
    assert said(ended) == ["no_evidence"]
    assert texts(of.take(())) == ["Is it high?"]


def test_what_has_found_nothing_leads_to_one_question_at_most() -> None:
    of = queue()
    vain, other = first(of, "Who built it?", "Where is it?").questions
    ended = of.offer_next(answered(vain, "Is it high?", "Is it old?", verdict="not_found"))
    assert said(ended) == ["skipped: budget"]
    found = answered(other, cited="Near Upper Ems.")
    of.offer_next(found)
    assert texts(of.take([found])) == ["Is it high?"]


def test_without_a_new_name_a_question_is_not_asked_again() -> None:
    of = queue()
    [vain] = first(of, "Who built it?").questions
    of.offer_next(answered(vain, cited=None))
    taken = of.take(())
    assert (taken.questions, said(taken.settled)) == ((), ["skipped: enough"])
    assert of.free_slots == 9


@pytest.mark.parametrize(("passes", "tries"), [(4, 2), (2, 2), (1, 1)])
def test_a_question_is_asked_again_once_and_not_behind_the_last_pass(
    passes: int, tries: int
) -> None:
    of = queue(passes)
    vain, other = first(of, "Who built it?", "Where is it?").questions
    of.offer_next(answered(vain, cited=None))
    again = of.take([answered(other, cited="Near Upper Ems.")]).questions
    assert len(again) == tries - 1
    assert [one for last in again for one in of.offer_next(answered(last, cited=None))] == []
    assert not of.is_waiting
    assert len(of.known) == 1 + tries


def test_what_another_answer_asks_in_new_words_is_not_asked_again() -> None:
    of = queue()
    vain, other = first(of, "Who was the mother of the emperor?", "Who was emperor?").questions
    found = answered(other, "Who was the mother of Trajan, the emperor?", cited="It was Trajan.")
    of.offer_next(answered(vain, cited=None))
    of.offer_next(found)
    taken = of.take([found])
    assert texts(taken) == ["Who was the mother of Trajan, the emperor?"]
    assert said(taken.settled) == ["merged"]


def test_what_was_merged_into_the_first_try_does_not_stand_in_its_way() -> None:
    of = queue()
    taken = first(of, "Who built it?", "Who BUILT it", "Where is it?")
    found = answered(taken.questions[1], cited="Near Upper Ems.")
    of.offer_next(answered(taken.questions[0], cited=None))
    assert texts(of.take([found])) == ["Who built it?"]


def test_a_proposal_that_repeats_what_is_asked_again_is_merged() -> None:
    of = queue()
    vain, other = first(of, "Who built it?", "Where is it?").questions
    of.offer_next(answered(vain, cited=None))
    assert said(of.offer_next(answered(other, "Who built IT"))) == ["merged"]


@pytest.mark.parametrize(
    ("names", "hint"), [(("Ems",), ""), (("Ems", "Alba"), "Alba"), (tuple("ABCDEF"), "A B C D")]
)
def test_a_hint_is_a_few_new_names(names: tuple[str, ...], hint: str) -> None:
    assert hint_for(Question(0, "Who built the mill by the Ems?"), names) == hint
    assert MAX_HINT_NAMES == 4


PART = st.floats(0, 1)
PARTS = st.builds(Priority, PART, PART, PART, PART)
PARENT = Question(0, "Under whom was the Empire greatest?")
ASKED_WORDS = st.sampled_from(["alba", "brno", "coburg", "delft", "ems", "the", "of"])
TEXTS = st.lists(ASKED_WORDS, max_size=6).map(" ".join)


def parent_says(
    *spans: str,
    confidence: float = 0.9,
    verdict: Verdict = "answered",
) -> LocalAnswer:
    citations = tuple(Citation("c", span, "doc") for span in spans)
    return LocalAnswer("So.", citations, confidence, verdict=verdict)


def priority_of(
    text: str, of: LocalAnswer, asked: tuple[str, ...] = (), hint: str = ""
) -> Priority:
    before = [PARENT, *(Question(n, one) for n, one in enumerate(asked, start=1))]
    question = Question(9, text, parent=0, depth=2, hint=hint)
    return priority(question, PARENT, of, before, "Who was the mother of the emperor?")


@given(some=PARTS, part=st.sampled_from(["novelty", "bridge", "proof", "still_open"]), more=PART)
def test_more_of_any_part_gives_more_priority(some: Priority, part: str, more: float) -> None:
    least = some._replace(**{part: 0.0})
    most = some._replace(**{part: 1.0})
    between = some._replace(**{part: more})
    assert least.total <= between.total <= most.total
    assert least.total < most.total


@given(text=TEXTS, asked=st.lists(TEXTS, max_size=4), more=TEXTS)
def test_novelty_stays_in_its_bounds_and_falls_with_what_was_asked(
    text: str, asked: list[str], more: str
) -> None:
    assert 0 <= novelty_of(text, [*asked, more]) <= novelty_of(text, asked) <= 1
    assert novelty_of(text, [*asked, text]) == 0


def test_what_the_parents_evidence_brought_to_light_is_a_bridge() -> None:
    found = parent_says("It was greatest under Trajan.")
    assert priority_of("Who was Trajan's mother?", found).bridge == 1
    assert priority_of("Who was Hadrian's mother?", found).bridge == 0
    assert priority_of("Who was the mother?", found).bridge == 0
    assert priority_of("Who was Trajan's mother?", found, ("Who was Trajan?",)).bridge == 0


def test_what_builds_on_no_citation_is_not_proven() -> None:
    assert priority_of("Who was his mother?", parent_says("A span.", confidence=0.7)).proof == 0.7
    assert priority_of("Who was his mother?", parent_says(confidence=0.7)).proof == 0


@pytest.mark.parametrize(("verdict", "still_open"), [("answered", 0.0), ("partly", 1.0)])
def test_what_a_parent_left_open(verdict: Verdict, still_open: float) -> None:
    of = parent_says("A span.", verdict=verdict)
    assert priority_of("Who was his mother?", of).still_open == still_open


def test_what_is_asked_another_way_is_open_and_as_new_as_its_hint() -> None:
    vain = parent_says(confidence=0.9)
    plain, named = (priority_of(PARENT.text, vain, hint=hint) for hint in ("", "Trajan Italica"))
    assert (plain.novelty, plain.bridge) == (0, 0)
    assert (named.bridge, named.proof, named.still_open) == (1, 0, 1)
    assert 0 < named.novelty < 1
    assert priority_of(PARENT.text, vain, hint="Who was the mother of the emperor?").bridge == 0
