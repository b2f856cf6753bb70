"""What a search has found, as the aggregator reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.local.prompt_elements import Element, element
from drift.model.graph import Chunk
from drift.model.tree import (
    ANSWERED,
    MERGED,
    NO_EVIDENCE,
    SKIPPED_BUDGET,
    SKIPPED_DEADLINE,
    SKIPPED_ENOUGH,
    Citation,
    Fact,
    FollowupState,
    LocalAnswer,
    Node,
    Question,
    Verdict,
    cited_by,
)
from drift.prompting import findings
from drift.prompting.elements import document_names
from drift.prompting.findings import (
    finding_elements,
    numbered_facts,
    parents_first,
    unanswered_lines,
)


def cited(name: str, span: str = "Said.") -> Citation:
    return Citation(name, span, f"document of {name}", "1")


def answered(
    number: int,
    *citations: Citation,
    parent: int | None = None,
    confidence: float = 0.5,
    verdict: Verdict = "answered",
) -> Node:
    depth = 1 if parent is None else 2
    question = Question(number, f"q{number}", parent=parent, depth=depth)
    answer = LocalAnswer(f"a{number}", citations, confidence, False, verdict=verdict)
    return Node(question, ANSWERED, answer)


def ended(number: int, state: FollowupState) -> Node:
    return Node(Question(number, f"q{number}"), state)


def ids(nodes: list[Node]) -> list[int]:
    return [node.question.id for node in nodes]


def test_the_same_words_of_two_documents_of_one_name_are_two_facts() -> None:
    one, other = (Citation(id_, "Said.", "Handbook", document_id=id_) for id_ in ("a", "b"))
    assert len(numbered_facts([answered(0, one, other)], {})) == 2
    apart = [Citation(id_, "Said.", "Handbook", document_id="a") for id_ in ("a", "b")]
    assert len(numbered_facts([answered(0, *apart)], {})) == 1


# -------------------------------------------------------------------------------------------- order
def test_follow_ups_stand_right_behind_the_one_that_proposed_them() -> None:
    parents = {0: None, 1: None, 2: 1, 3: 0, 4: 3, 5: 0, 6: None}
    nodes = [answered(number, parent=parent) for number, parent in parents.items()]
    assert ids(list(parents_first(nodes))) == [0, 3, 4, 5, 1, 2, 6]


def test_one_whose_parent_is_not_there_stands_where_it_was_asked() -> None:
    nodes = [answered(0), answered(2, parent=1), answered(3)]
    assert ids(list(parents_first(nodes))) == [0, 2, 3]


@given(st.lists(st.integers(-1, 30), max_size=20))
def test_every_follow_up_stands_once_and_behind_its_parent(parents: list[int]) -> None:
    nodes = [
        answered(number, parent=parent if 0 <= parent < number else None)
        for number, parent in enumerate(parents)
    ]
    order = ids(list(parents_first(nodes)))
    assert sorted(order) == list(range(len(nodes)))
    for node in nodes:
        if node.question.parent is not None:
            assert order.index(node.question.parent) < order.index(node.question.id)


def test_only_answers_with_evidence_are_proven_and_the_surest_come_first() -> None:
    nodes = [
        answered(0, cited("a"), confidence=0.2),
        answered(1, confidence=1.0),
        ended(2, NO_EVIDENCE),
        answered(3, cited("b"), confidence=0.9),
        answered(4, cited("c"), confidence=0.2),
    ]
    assert ids(findings.proven(nodes)) == [0, 3, 4]
    assert ids(findings.surest_first(nodes)) == [3, 0, 4]


# -------------------------------------------------------------------------------------------- facts
def test_a_span_is_one_fact_as_sure_as_its_surest_answer() -> None:
    again, other = cited("a", "Said."), cited("a", "Said, too.")
    nodes = [
        answered(0, again, confidence=0.4),
        answered(1, cited("b"), confidence=0.3),
        answered(2, other, again, parent=0, confidence=0.9),
    ]
    retrieved = {"a": Chunk("a", "t", "d", place=3, places=9), "b": Chunk("b", "t", "d")}
    facts = numbered_facts(nodes, retrieved)
    assert [(fact.number, fact.citation, fact.confidence, fact.place) for fact in facts] == [
        (1, again, 0.9, "3 of 9"),
        (2, other, 0.9, "3 of 9"),
        (3, cited("b"), 0.3, ""),
    ]


# ----------------------------------------------------------------------------------------- findings
def found_in(nodes: list[Node], facts: tuple[Fact, ...]) -> list[str]:
    return finding_elements(nodes, facts, document_names(cited_by(nodes)))


def test_a_finding_is_a_question_its_answer_and_its_facts_with_document_and_place() -> None:
    nodes = [
        answered(0, cited("a", "So it\n  is."), cited("b"), confidence=0.987, verdict="partly")
    ]
    facts = numbered_facts(nodes, {"a": Chunk("a", "t", "d", place=3, places=9)})
    [row] = found_in(nodes, facts)
    assert element(row, "finding") == Element(
        {"verdict": "partly", "confidence": "0.99", "depth": "1"},
        "q0\nAnswer: a0\n[1] So it is. (document of a, 3 of 9)\n[2] Said. (document of b)",
    )


def test_documents_of_one_name_stand_with_their_paths() -> None:
    citations = [
        Citation("a", "It is 5.", "README.md", document_id="app/README.md"),
        Citation("b", "It is 6.", "README.md", document_id="lib/README.md"),
        Citation("c", "It is 7.", "Manual", document_id="manual.md"),
    ]
    nodes = [answered(0, *citations)]
    [row] = found_in(nodes, numbered_facts(nodes, {}))
    assert element(row, "finding").lines()[2:] == [
        "[1] It is 5. (README.md (app/README.md))",
        "[2] It is 6. (README.md (lib/README.md))",
        "[3] It is 7. (Manual)",
    ]


def test_findings_stand_parents_first_and_tell_each_fact_once() -> None:
    shared = cited("a")
    nodes = [
        answered(0, shared, confidence=0.1),
        answered(1, shared, cited("b"), confidence=0.9),
        answered(2, cited("c"), shared, parent=0),
        answered(3),
        ended(4, NO_EVIDENCE),
    ]
    facts = numbered_facts(nodes, {})
    shown = [element(row, "finding") for row in found_in(nodes, facts)]
    assert [(one["depth"], one.lines()) for one in shown] == [
        ("1", ["q0", "Answer: a0", "[1] Said. (document of a)"]),
        ("2", ["q2", "Answer: a2", "[2] Said. (document of c)", "[1] as above"]),
        ("1", ["q1", "Answer: a1", "[1] as above", "[3] Said. (document of b)"]),
    ]


# --------------------------------------------------------------------------------------- unanswered
@pytest.mark.parametrize(
    ("node", "line"),
    [
        (answered(0, verdict="answered"), "q0 (looked for in vain)"),
        (ended(0, NO_EVIDENCE), "q0 (looked for in vain)"),
        (ended(0, SKIPPED_BUDGET), "q0 (not asked)"),
        (ended(0, SKIPPED_DEADLINE), "q0 (no time was left)"),
        (ended(0, FollowupState("failed", "model_unavailable")), "q0 (it failed)"),
    ],
)
def test_what_has_no_answer_is_named_with_the_reason(node: Node, line: str) -> None:
    assert unanswered_lines([node, answered(1, cited("a"))]) == [line]


@pytest.mark.parametrize("state", [MERGED, SKIPPED_ENOUGH])
def test_what_others_answer_is_not_named(state: FollowupState) -> None:
    assert unanswered_lines([ended(0, state)]) == []


def test_what_is_unanswered_is_named_once_and_bounded() -> None:
    many = [ended(number, SKIPPED_BUDGET) for number in range(50)]
    twice = [many[0], Node(Question(60, "q0"), SKIPPED_BUDGET), *many[1:]]
    lines = unanswered_lines(twice)
    assert lines == [f"q{number} (not asked)" for number in range(10)]


def test_a_first_try_in_vain_is_left_out_once_the_question_was_answered() -> None:
    first = answered(0, cited("a", "Near."), verdict="not_found")
    again = Node(
        Question(1, "q0", parent=0, depth=2),
        ANSWERED,
        LocalAnswer("So.", (cited("b"),), 0.9, False),
    )
    assert ids(findings.proven([first])) == [0]
    assert ids(findings.proven([first, again])) == [1]
