"""Names that answers have found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.names import MAX_NAMES_FOUND, names_found, stands_in
from drift.model.tree import ANSWERED, NO_EVIDENCE, Answer, Citation, Node, Question


def node(asked: str, answer: str, *spans: str, confidence: float = 0.9) -> Node:
    citations = tuple(Citation("c", span, "doc") for span in spans)
    return Node(Question(0, asked), ANSWERED, Answer(answer, citations, confidence, False))


def test_a_name_is_found_that_stands_in_the_answer_and_in_a_span_and_in_no_question() -> None:
    answered = node(
        "Under whom was the Empire greatest?",
        "The Empire was greatest under Trajan, born in Italica, as Gibbon wrote of Rome.",
        "In  117, under\nTrajan, the Empire was greatest; Rome ruled Italica.",
    )
    assert names_found([answered], "Who was the mother of the emperor of Rome?") == (
        "Trajan",
        "Italica",
    )


def test_names_keep_their_spelling_and_stand_as_whole_words() -> None:
    answered = node(
        "Where was he born?",
        "In \"Santa Cruz de Mudela\", in O'Brien's time, near Ann.",
        "Santa  Cruz lies there, O'Brien wrote to Anna.",
    )
    assert names_found([answered], "Where?") == ("Santa Cruz", "O'Brien")


def test_the_surest_answers_names_come_first_and_then_those_that_most_found() -> None:
    nodes = [
        node("One?", "Alba and Brno.", "Alba, Brno", confidence=0.4),
        node("Two?", "Coburg and Delft.", "Coburg, Delft", confidence=0.8),
        node("Three?", "Delft.", "Delft", confidence=0.2),
        Node(Question(3, "Four?"), NO_EVIDENCE),
    ]
    assert names_found(nodes, "Which?") == ("Delft", "Coburg", "Alba", "Brno")


NAMES = st.lists(
    st.sampled_from(["Alba", "Brno", "Coburg Nord", "und", "Delft", "a b"]), max_size=5
)
NODES = st.lists(
    st.builds(
        lambda asked, answer, spans, sure: node(
            " ".join(asked), ". ".join(answer), *spans, confidence=sure
        ),
        NAMES,
        NAMES,
        NAMES,
        st.floats(0, 1),
    ),
    max_size=5,
)


@given(nodes=NODES, question=NAMES.map(" ".join))
def test_every_name_found_is_cited_and_new(nodes: list[Node], question: str) -> None:
    for name in names_found(nodes, question):
        assert not stands_in(name.casefold(), [question.casefold()])
        assert any(
            name in one.answer.text and stands_in(name, [c.span for c in one.answer.citations])
            for one in nodes
            if one.answer
        )


def test_at_most_twelve_names_are_found() -> None:
    names = ". ".join(f"Name{number}" for number in range(30))
    assert len(names_found([node("Who?", names, names)], "Which?")) == MAX_NAMES_FOUND == 12


def test_a_month_or_a_day_is_no_name_and_stays_within_one() -> None:
    answered = node(
        "When?", "In April, on Monday, at June Hall.", "In April, on Monday, at June Hall."
    )
    assert names_found([answered], "Which?") == ("June Hall",)
