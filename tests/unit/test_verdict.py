"""Whether a question was answered, and where code overrules the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.names import unseen_name
from drift.evidence.statements import Statement
from drift.evidence.verdict import judged
from drift.model.tree import Citation, Fact, Verdict

CAROL = (
    "A Christmas Carol > Stave One: Marley's Ghost\n"
    "Old Marley was as dead as a door-nail. Scrooge knew he was dead? Of course he did. Scrooge "
    "and he were partners for I don't know how many years. It was all the same to Bob Cratchit, "
    "the clerk, in Camden Town. The Royal Exchange stood open."
)
TOWNS = (
    "Pan Kowalski urodził się w Łodzi i mieszkał w mieście Kraków. Tchaikovsky came to Munich. "
    "It was written by the World Health Organization, in the US, about GPT-4 and the road M25."
)


def statement(*confidences: float) -> Statement:
    facts = (Fact(n, Citation("c", "s", "d"), value) for n, value in enumerate(confidences, 1))
    return Statement("Marley was dead.", tuple(facts))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Scrooge know about Pickwick?", "Pickwick"),
        ("How many years were Mr. Scrooge and Uriah Heep partners?", "Uriah Heep"),
        ("Was the clerk's town known to Copperfield's partners?", "Copperfield"),
    ],
)
def test_a_name_that_stands_nowhere_is_told(question: str, name: str) -> None:
    assert unseen_name(question, [CAROL]) == name
    assert not unseen_name(question, [CAROL, f"Then came {name}."])
    assert judged(question, "answered", [statement(0.9)], [CAROL]).verdict == "not_found"
    assert name in judged(question, "answered", [statement(0.9)], [CAROL]).overruled


@pytest.mark.parametrize(
    "question",
    [
        "How many years were Scrooge and Marley partners?",
        "Was old Marly, whom Scrouge knew, dead?",
        "Was Jacob Marley a partner of Ebenezer Scrooge?",
        "What was Scrooge's clerk called?",
        "How dead was Marley according to Wikipedia?",
        "What did the clerk do for years in the novella The Haunted House?",
        'Was he dead for years in "Great Expectations"?',
        "Was the clerk (Tiny Tim's father) dead?",
        "Who was the dead partner in December?",
        "Who was the English clerk?",
        "Did he know the UN?",
        "who was pickwick's clerk in all the years?",
        "WHO WAS THE CLERK OF PICKWICK IN THE OPEN TOWN?",
        "Who Was The Dead Partner Of Old Pickwick?",
        "Wer war der Schreiber von Herrn Pickwick in der Stadt?",
        "Kto był wspólnikiem pana Pickwicka?",
        "ディケンズの Pickwick は誰ですか",
        "Pickwick?",
        "",
    ],
)
def test_what_may_be_answered_is_not_refused(question: str) -> None:
    assert unseen_name(question, [CAROL]) == ""
    assert judged(question, "answered", [statement(0.9)], [CAROL]).verdict == "answered"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When came Pickwick, and what was written about the road?", "Pickwick"),
        ("When came Kowalskiego, and what was written about the road?", ""),
        ("What came to Čajkovskij, and what was written about the road?", ""),
        ("What came to München, and what was written about the road?", ""),
        ("What was written about the road by the WHO?", ""),
        ("What was written about the road by the United States?", ""),
        ("What was written about the road by GPT-4?", ""),
        ("What was written about the road by GPT-5?", "GPT-5"),
        ("What was written about the road M 25?", ""),
    ],
)
def test_names_are_found_in_other_spellings(question: str, name: str) -> None:
    assert unseen_name(question, [TOWNS]) == name


def test_nouns_of_a_german_question_are_no_names() -> None:
    shown = "Gießerei Rauh, Plauen: nur Vorkasse. Vorkasse gibt nur Svenja frei."
    assert unseen_name("Wer gibt Zahlungen an die Gießerei Rauh frei?", [shown]) == ""


@pytest.mark.parametrize(
    ("said", "statements", "verdict", "confidence", "overrules"),
    [
        ("answered", [statement(1.0, 0.8), statement(0.7)], "answered", 0.8, False),
        ("partly", [statement(0.9)], "partly", 0.5, False),
        ("partly", [statement(0.4)], "partly", 0.4, False),
        ("not_found", [statement(0.9)], "not_found", 0.0, False),
        ("not_found", [], "not_found", 0.0, False),
        ("answered", [], "not_found", 0.0, True),
        ("partly", [], "not_found", 0.0, True),
        ("answered", [statement(0.1), statement(0.2)], "partly", 0.15, True),
        ("answered", [statement(0.1), statement(0.9)], "answered", 0.5, False),
    ],
)
def test_evidence_decides_against_the_model(
    said: Verdict, statements: list[Statement], verdict: Verdict, confidence: float, overrules: bool
) -> None:
    found = judged("How dead was Marley?", said, statements, [CAROL])

    assert (found.verdict, found.confidence) == (verdict, confidence)
    assert bool(found.overruled) is overrules


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_question_and_any_text_can_be_compared(question: str, shown: list[str]) -> None:
    name = unseen_name(question, shown)
    assert not name or not unseen_name(question, [*shown, question])
