"""What a proposal promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.model.tree import Answer, Citation, Question, Verdict
from drift.search.queue import Priority, novelty_of, priority

PART = st.floats(0, 1)
PARTS = st.builds(Priority, PART, PART, PART, PART)
PARENT = Question(0, "Under whom was the Empire greatest?")
WORDS = st.sampled_from(["alba", "brno", "coburg", "delft", "ems", "the", "of"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


def answer(
    *spans: str,
    confidence: float = 0.9,
    should_continue: bool = False,
    verdict: Verdict = "answered",
) -> Answer:
    citations = tuple(Citation("c", span, "doc") for span in spans)
    return Answer("So.", citations, confidence, should_continue, verdict=verdict)


def parts(text: str, of: Answer, asked: tuple[str, ...] = (), hint: str = "") -> Priority:
    before = [PARENT, *(Question(n, one) for n, one in enumerate(asked, start=1))]
    question = Question(9, text, parent=0, depth=2, hint=hint)
    return priority(question, PARENT, of, before, "Who was the mother of the emperor?")


@given(PARTS)
def test_a_promise_is_never_outside_its_bounds(some: Priority) -> None:
    assert 0 <= some.total <= 1 + 1e-9


@given(some=PARTS, part=st.sampled_from(["novelty", "bridge", "proof", "still_open"]), more=PART)
def test_more_of_any_part_promises_more(some: Priority, part: str, more: float) -> None:
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


@given(
    text=TEXTS.map(str.title),
    spans=st.lists(TEXTS.map(str.title), max_size=3),
    asked=st.lists(TEXTS, max_size=3),
    confidence=PART,
    hint=TEXTS.map(str.title),
)
def test_every_part_stays_in_its_bounds(
    text: str, spans: list[str], asked: list[str], confidence: float, hint: str
) -> None:
    some = parts(text, answer(*spans, confidence=confidence), tuple(asked), hint)
    assert all(0 <= part <= 1 for part in some)


def test_what_the_parents_evidence_brought_to_light_is_a_bridge() -> None:
    found = answer("It was greatest under Trajan.")
    assert parts("Who was Trajan's mother?", found).bridge == 1
    assert parts("Who was Hadrian's mother?", found).bridge == 0
    assert parts("Who was the mother?", found).bridge == 0
    assert parts("Who was Trajan's mother?", found, ("Who was Trajan?",)).bridge == 0


def test_what_builds_on_no_citation_is_not_proven() -> None:
    assert parts("Who was his mother?", answer("A span.", confidence=0.7)).proof == 0.7
    assert parts("Who was his mother?", answer(confidence=0.7)).proof == 0


@pytest.mark.parametrize(
    ("verdict", "should_continue", "still_open"),
    [
        ("answered", False, 0.0),
        ("answered", True, 0.5),
        ("partly", False, 1.0),
        ("not_found", False, 1.0),
    ],
)
def test_what_a_parent_left_open(
    verdict: Verdict, should_continue: bool, still_open: float
) -> None:
    of = answer("A span.", verdict=verdict, should_continue=should_continue)
    assert parts("Who was his mother?", of).still_open == still_open


def test_what_is_asked_another_way_is_open_and_as_new_as_its_hint() -> None:
    vain = answer(confidence=0.9)
    plain, named = (parts(PARENT.text, vain, hint=hint) for hint in ("", "Trajan Italica"))
    assert (plain.novelty, plain.bridge) == (0, 0)
    assert (named.bridge, named.proof, named.still_open) == (1, 0, 1)
    assert 0 < named.novelty < 1
    assert parts(PARENT.text, vain, hint="Who was the mother of the emperor?").bridge == 0
