"""What stands for a final answer without numbers: its own sentences, or the follow-ups' answers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.unmarked import from_answers, repaired
from drift.model.tree import ANSWERED, Answer, Citation, Fact, Node, Question, Verdict

SPANS = [
    "Jean-Luc Vandenbroucke (born 31 May 1955 in Mouscron) is a former Belgian racing cyclist.",
    "Mouscron is a municipality and city in the Walloon region of Belgium.",
    "The Nets were founded in 1967 and initially played in Teaneck, New Jersey.",
    "The treaty was not signed by the delegates of Geneva.",
]
FACTS = [Fact(n, Citation(f"c{n}", span, "d"), 0.9) for n, span in enumerate(SPANS, 1)]


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("Jean-Luc Vandenbroucke was born in Mouscron in 1955.", (1,)),
        (
            "Vandenbroucke, a former racing cyclist, was born in Mouscron in the Walloon region.",
            (1, 2),
        ),
        ("The Nets initially played in Teaneck, New Jersey.", (3,)),
        ("The treaty was not signed by the delegates of Geneva.", (4,)),
        ("The delegates of Geneva never signed the treaty.", (4,)),
    ],
)
def test_a_sentence_that_spans_bear_out_is_kept(sentence: str, numbers: tuple[int, ...]) -> None:
    said = repaired(f"It rained in Rome for weeks. {sentence}", FACTS)

    assert said.text == sentence
    assert [f.number for s in said.statements for f in s.facts] == [*numbers]
    assert said.left_out == ("It rained in Rome for weeks.",)


@pytest.mark.parametrize(
    "sentence",
    [
        "Jean-Luc Vandenbroucke was born in Mouscron in 1956.",
        "Eric Vandenbroucke was born in Mouscron in 1955.",
        "Jean-Luc Vandenbroucke was born in Tournai in 1955.",
        "Jean-Luc Vandenbroucke, a Belgian cyclist, married twice and raised horses.",
        "The treaty was signed by the delegates of Geneva.",
        "The Nets were not founded in 1967.",
        "Founded.",
    ],
)
def test_another_number_name_or_negation_is_not_borne_out(sentence: str) -> None:
    assert repaired(sentence, FACTS).text == ""


def test_lists_and_tables_keep_their_form_and_invented_numbers_go() -> None:
    table = "| team | founded |\n|---|---|\n| Nets | founded in 1967 |"
    founded, won = "- The Nets were founded in 1967", "- The Nets won in 1999"
    said = repaired(f"## The Nets\n\n{founded} [77].\n{won} [78].\n\n{table}\n", FACTS)
    assert said.text == f"## The Nets\n\n{founded}.\n\n{table}"


@given(st.lists(st.sampled_from([*SPANS, "It rained. ", " [7] ", "\n- "]) | st.text(max_size=9)))
def test_of_any_text_only_what_a_fact_bears_out_is_kept(parts: list[str]) -> None:
    said = repaired("".join(parts), FACTS)
    assert all(statement.facts for statement in said.statements)
    assert not {"It rained.", "[7]"} & {statement.text.strip() for statement in said.statements}


def node(text: str, verdict: Verdict, *facts: Fact) -> Node:
    citations = tuple(replace(f.citation, sentences="1") for f in facts)
    answer = Answer(text, citations, 0.9, False, verdict=verdict)
    return Node(Question(1, "?"), ANSWERED, answer)


def test_the_last_resort_are_the_answers_that_have_citations() -> None:
    nodes = [
        node("Marley died.", "answered", FACTS[0]),
        node("He was rich.", "answered"),
        node("Perhaps.", "partly", FACTS[2]),
        node("Marley died.", "answered", FACTS[1]),
        node("It is not said.", "not_found", FACTS[1]),
        node("Scrooge knew.", "answered", FACTS[1]),
        Node(Question(2, "?"), ANSWERED),
    ]

    said = from_answers(nodes, FACTS)

    assert said.text == "Marley died.\n\nScrooge knew."
    assert [s.facts for s in said.statements] == [(FACTS[0],), (FACTS[1],)]
    assert from_answers(nodes[1:3], FACTS).text == "Perhaps."
    assert from_answers(nodes[1:2], FACTS).text == ""
