"""Which follow-ups next, when to stop, how far along."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift import plan
from drift.plan import Limits, percentage, schedule
from drift.values.graph import Beside
from drift.values.tree import ANSWERED, Answer, Node, Proposal, Question
from tests.fakes import chunk

WORDS = st.sampled_from(
    ["alpha", "beta", "gamma", "delta", "the", "of", "what", "is", "epsilon", "zeta"]
)
QUESTIONS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
PROPOSALS = st.lists(st.tuples(QUESTIONS, st.just(())), max_size=8)


def answer(confidence: float = 0.5, *, should_continue: bool = True) -> Answer:
    return Answer("text", (), confidence, should_continue)


@given(
    waves=st.lists(st.tuples(PROPOSALS, st.integers(0, 30)), max_size=6),
    limits=st.builds(Limits, max_passes=st.integers(1, 4), max_followups=st.integers(1, 7)),
)
def test_whatever_is_proposed_the_bounds_hold(waves: list, limits: Limits) -> None:
    known: list[Question] = []
    asked: list[Question] = []
    for proposals, pick in waves:
        parent = Node(asked[pick % len(asked)], ANSWERED, answer()) if asked else None
        decided = schedule([Proposal(*one) for one in proposals], known, len(asked), parent, limits)
        known += sorted(
            [*decided.ready, *(n.question for n in decided.settled)], key=lambda q: q.id
        )
        asked += decided.ready
        assert len(decided.ready) + len(decided.settled) == len(proposals)
        assert {str(n.state) for n in decided.settled} <= {
            "merged",
            "skipped: enough",
            "skipped: budget",
        }
    assert [q.id for q in known] == list(range(len(known)))
    assert len(asked) <= limits.max_followups
    assert all(1 <= q.depth <= limits.max_passes for q in asked)
    for one in asked:
        assert not any(
            plan.is_same_question(one.text, other.text) for other in asked if other.id != one.id
        )


def test_a_near_duplicate_is_merged_with_a_question_of_the_same_wave_and_of_an_earlier_one() -> (
    None
):
    first = schedule([Proposal("How does the iterator protocol work?")], [], 0, None, Limits())
    again = schedule(
        [
            Proposal("how does the ITERATOR protocol work"),
            Proposal("Who wrote it?"),
            Proposal("Who wrote it"),
        ],
        first.ready,
        1,
        None,
        Limits(),
    )
    assert [q.text for q in again.ready] == ["Who wrote it?"]
    assert [str(n.state) for n in again.settled] == ["merged", "merged"]


def test_a_question_that_was_settled_without_being_asked_is_not_asked_later() -> None:
    limits = Limits(max_followups=1)
    first = schedule([Proposal("alpha beta"), Proposal("gamma delta")], [], 0, None, limits)
    assert [str(n.state) for n in first.settled] == ["skipped: budget"]
    known = [*first.ready, first.settled[0].question]
    [same] = schedule([Proposal("gamma delta")], known, 1, None, Limits()).settled
    assert str(same.state) == "merged"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is X?", "what is x", True),
        ("Who?", "who?", True),
        ("Who?", "Where?", False),
        ("???", "!!!", False),
        ("What does with open do to files", "Which color is the sky", False),
        ("什么是迭代器", "什么是迭代器", True),
        ("什么是迭代器", "什么是生成器", False),
    ],
)
def test_near_duplicates(one: str, other: str, same: bool) -> None:
    assert plan.is_same_question(one, other) is same
    assert plan.is_same_question(other, one) is same


@pytest.mark.parametrize(
    ("confidence", "should_continue", "goes_on"),
    [
        (0.9, False, False),
        (0.8, False, False),
        (0.79, False, True),
        (0.9, True, True),
        (0.0, True, True),
    ],
)
def test_only_a_confident_answer_without_wish_to_continue_ends_its_branch(
    confidence: float, should_continue: bool, goes_on: bool
) -> None:
    parent = Node(
        Question(0, "alpha"), ANSWERED, answer(confidence, should_continue=should_continue)
    )
    decided = schedule([Proposal("beta")], [parent.question], 1, parent, Limits())
    assert bool(decided.ready) is goes_on
    if not goes_on:
        assert str(decided.settled[0].state) == "skipped: enough"


def test_the_same_question_beside_another_chunk_is_another_question() -> None:
    after, before = Beside("a", "after"), Beside("a", "before")
    proposals = [Proposal("What is there?", (), (wish,)) for wish in (after, before, after)]
    decided = schedule(proposals, [], 0, None, Limits())
    assert [question.beside for question in decided.ready] == [(after,), (before,)]
    assert [str(node.state) for node in decided.settled] == ["merged"]


def test_a_follow_up_knows_its_parent_its_depth_and_its_communities() -> None:
    parent = Node(Question(0, "alpha", depth=1), ANSWERED, answer())
    [question] = schedule(
        [Proposal("beta", (7, "x"))], [parent.question], 1, parent, Limits()
    ).ready
    assert question == Question(1, "beta", (7, "x"), parent=0, depth=2)


@pytest.mark.parametrize(
    ("leading", "known", "first", "second"),
    [
        ("", "", "", ""),
        ("a", "", "a", ""),
        ("a", "a", "", ""),
        ("abcdefgh", "", "abcde", "fgh"),
        ("ABCDEFGH", "BCF", "ADE", "GH"),
        ("ABCDEFGH", "ABCD", "E", "FGH"),
        ("AbCdEFGH", "AbCF", "bdE", "GH"),
        ("abcdefgh", "abcde", "", ""),
    ],
)
def test_a_look_takes_five_chunks_without_the_long_ones_that_are_known(
    leading: str, known: str, first: str, second: str
) -> None:
    chunks = [chunk(name, "long " * 400 if name.isupper() else "short") for name in leading]
    looks = plan.looks(chunks, set(known))
    assert ["".join(one.id for one in look) for look in looks] == [first, second]


COUNTS = st.dictionaries(st.integers(1, 5), st.integers(0, 60))


@given(planned=COUNTS, ended=COUNTS, number=st.integers(1, 5), passes=st.integers(1, 5))
def test_the_percentage_stays_within_40_and_80_and_never_falls_with_more_ended(
    planned: dict[int, int], ended: dict[int, int], number: int, passes: int
) -> None:
    more = {**ended, number: ended.get(number, 0) + 1}
    assert 40 <= percentage(ended, planned, passes) <= percentage(more, planned, passes) <= 80


def test_each_pass_has_an_equal_share_of_the_percentage() -> None:
    assert percentage({}, {1: 4}, 2) == 40
    assert percentage({1: 2}, {1: 4}, 2) == 50
    assert percentage({1: 4}, {1: 4, 2: 2}, 2) == 60
    assert percentage({1: 4}, {1: 4}, 2) == 80
    assert percentage({1: 4, 2: 2}, {1: 4, 2: 2}, 2) == 80
    assert percentage({1: 4, 2: 2, 3: 1}, {1: 4, 2: 2, 3: 1}, 2) == 80
