"""How often the rule about names refuses a question of a set."""

from __future__ import annotations

from drift.local.evals.recall.question_sets import LabelledQuestion, Passage, QuestionSet
from drift.local.evals.unseen_names import measure_names


def passage(name: str, text: str) -> Passage:
    return Passage(name, name, text, (), ())


PASSAGES = (
    passage("a", "The novel of the lighthouse was written by Ada Kestrel."),
    passage("b", "The novel of the harbour was written by somebody else."),
    passage("c", "Nothing is known about the mill."),
)


def test_questions_are_counted_with_their_passages_and_without() -> None:
    questions = (
        LabelledQuestion("1", "Which novel was written by Kestrel?", frozenset("a")),
        LabelledQuestion("2", "Which novel of the harbour was written?", frozenset("b")),
        LabelledQuestion("3", "Which novel was written by Zuckmayer?", frozenset("b")),
    )
    figures = measure_names(QuestionSet("mills", PASSAGES, questions))

    assert (figures.name, figures.questions) == ("mills", 3)
    assert (figures.shown, figures.misspelt, figures.withheld) == (1, 1, 2)
    assert figures.false_alarms == ("Zuckmayer: Which novel was written by Zuckmayer?",)
