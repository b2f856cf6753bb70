"""Whether a question was answered, and where code overrules the model."""

import pytest

from drift.evidence.answer_statements import Statement
from drift.evidence.verdict import judged
from drift.model.tree import Citation, Fact, Verdict


def statement(*confidences: float) -> Statement:
    facts = (Fact(n, Citation("c", "s", "d"), value) for n, value in enumerate(confidences, 1))
    return Statement("Marley was dead.", tuple(facts))


@pytest.mark.parametrize(
    ("said", "statements", "verdict", "confidence", "overrules"),
    [
        ("answered", [statement(1.0, 0.8), statement(0.7)], "answered", 0.8, False),
        ("partly", [statement(0.9)], "partly", 0.5, False),
        ("partly", [statement(0.4)], "partly", 0.4, False),
        ("not_found", [statement(0.9)], "not_found", 0.0, False),
        ("answered", [], "not_found", 0.0, True),
        ("answered", [statement(0.1), statement(0.2)], "partly", 0.15, True),
        ("answered", [statement(0.1), statement(0.9)], "answered", 0.5, False),
    ],
)
def test_evidence_decides_against_the_model(
    said: Verdict, statements: list[Statement], verdict: Verdict, confidence: float, overrules: bool
) -> None:
    found = judged("How dead was Marley?", said, statements, ["Marley was dead."])

    assert (found.verdict, found.confidence) == (verdict, confidence)
    assert bool(found.overruled) is overrules


def test_a_name_that_nothing_shows_decides_against_the_model() -> None:
    question, shown = "What did Scrooge know about Pickwick?", "Scrooge did know what about Marley."
    found = judged(question, "answered", [statement(0.9)], [shown])

    assert found.verdict == "not_found"
    assert "Pickwick" in found.overruled
    assert judged(question, "answered", [statement(0.9)], [shown, "Pickwick"]).verdict == "answered"
