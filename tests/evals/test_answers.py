"""Answers against what is expected of them: each kind, the figures, and questions from feedback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drift.core.errors import IngestError
from drift.local.evals.answers import (
    AnswerQuestion,
    SettingAnswers,
    difference,
    measure,
    question_of,
    read_answer_questions,
    report,
)
from tests.command_line import command

SPAN = "In fog the Lighthouse sounds a signal every thirty seconds."
CHUNK = {"text": f"{SPAN} It is red.", "document": {"id": "light.md", "name": "Lighthouse"}}


def question(**fields: Any) -> AnswerQuestion:
    return AnswerQuestion.model_validate(
        {"id": "q", "question": "What of the Lighthouse?", **fields}
    )


def answer(*spans: str, cost: float | None = 0.5) -> dict[str, Any]:
    cited = [{"chunk_id": "c1", "span": span, "document_name": "Lighthouse"} for span in spans]
    usage: dict[str, Any] = {"prompt_tokens": 90, "completion_tokens": 10, "wall_seconds": 2.0}
    if cost is not None:
        usage["cost"] = {"amount": cost, "currency": "USD"}
    facts = [{"fact": "A signal sounds.", "citations": cited}] if spans else []
    said = "It sounds a signal." if spans else "The documents do not answer this."
    return {"final_answer": said, "key_facts": facts, "usage": usage}


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        ({"documents": ["Lighthouse"]}, 1),
        ({"documents": ["light.md", "other.md"]}, 0.5),
        ({"spans": ["A signal. " + SPAN + " More."]}, 1),
        ({"spans": ["every   thirty\nSECONDS"]}, 1),
        ({"spans": ["every thirty sec"]}, 0),
        ({"words": ["signal", "a SIGNAL."]}, 1),
        ({"words": ["thirty"]}, 0),
        ({"answer": "A signal sounds every thirty seconds when there is fog."}, 1),
        ({"statements": ["It burned down in 1889 after a storm."]}, 0),
        ({"documents": ["light.md"], "words": ["storm"]}, 0.5),
        ({"unanswerable": True}, 0),
    ],
)
def test_what_is_expected_is_looked_for_in_what_was_cited_and_said(
    expected: dict[str, Any], met: float
) -> None:
    one = question(**expected)
    assert measure(one, answer(SPAN), {"c1": {"light.md"}}).met(one) == met


def test_no_answer_is_right_for_what_the_documents_do_not_answer_and_wrong_for_the_rest() -> None:
    for expected, met in (({"unanswerable": True}, 1), ({"words": ["documents"]}, 0)):
        one = question(**expected)
        assert measure(one, answer(), {}).met(one) == met


def test_the_figures_count_questions_runs_and_what_differs_between_them() -> None:
    asked = [
        question(documents=["Lighthouse"]),
        question(unanswerable=True).model_copy(update={"id": "none"}),
        question(words=["x"]).model_copy(update={"id": "broken"}),
    ]
    runs = {"q": [answer(SPAN), answer(SPAN), answer()], "none": [answer()] * 3}
    own = SettingAnswers(
        {
            one.id: [measure(one, run, {}) for run in runs[one.id]]
            for one in asked
            if one.id in runs
        },
        {"broken": "deadline"},
    )
    figures = report(asked, own)
    assert figures == {
        "questions": 2,
        "answers": 6,
        "met": 83.3,
        "documents": 66.7,
        "spans": None,
        "words": None,
        "statements": None,
        "answered": 66.7,
        "unanswerable_left": 100.0,
        "same_verdict": 66.7,
        "same_chunks": 66.7,
        "tokens": 100,
        "seconds": 2.0,
        "cost": 3.0,
        "failed": {"broken": "deadline"},
    }
    own.answers["none"] = [measure(asked[1], answer(cost=None), {})]
    assert report(asked, own)["cost"] is None
    assert report([], own)["met"] == 0.0

    best = SettingAnswers({"q": [measure(asked[0], answer(SPAN), {})]})
    ahead = difference(asked, own, best)
    assert (ahead["questions"], ahead["met"]) == (1, -33.3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "q", "question": "What?"}, "needs one of documents"),
        ({"id": "q", "question": "What?", "documents": []}, "needs one of documents"),
        ({"id": "q", "question": "W?", "words": ["a"], "unanswerable": True}, "and not both"),
        ({"id": "q", "question": "W?", "documents": [""]}, "documents.0"),
    ],
)
def test_a_line_that_expects_nothing_or_both_is_named(
    tmp_path: Path, line: dict[str, Any], said: str
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('\n{"id": "a", "question": "A?", "type": "t", "answer": "B"}\n')
    assert [one.id for one in read_answer_questions(file)] == ["a"]
    with file.open("a") as more:
        more.write(json.dumps(line))
    with pytest.raises(IngestError, match="line 3") as refused:
        read_answer_questions(file)
    assert said in refused.value.detail


def said_of(score: int, **fields: Any) -> dict[str, Any]:
    facts = [
        {"fact": "It sounds.", "chunk_ids": ["c1"]},
        {"fact": "It is red.", "chunk_ids": ["c2", "gone"]},
    ]
    about = {"retrieval_id": "r", "question": "What?", "facts": facts, "fact": None}
    return {**about, "expected": [], "score": score, **fields}


ASKED = {"id": "r", "question": "What?", "type": "feedback"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (said_of(1), {"documents": ["light.md", "red.md"]}),
        (said_of(1, fact=2), {"documents": ["red.md"], "statements": ["It is red."]}),
        (said_of(1, facts=[]), {"unanswerable": True}),
        (said_of(-1), None),
        (said_of(-1, facts=[], reason="missing"), None),
        (
            said_of(-1, expected=["c1", "It is loud."]),
            {
                "spans": [CHUNK["text"]],
                "documents": ["light.md"],
                "statements": ["It is loud."],
            },
        ),
    ],
)
def test_feedback_is_a_question_where_it_says_what_to_expect(
    said: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    chunks = {"c1": CHUNK, "c2": {"text": "Red.", "document": {"id": "red.md", "name": "Red"}}}
    found = question_of(said, chunks)
    assert found == (None if expected is None else ASKED | expected)
    if found:
        AnswerQuestion.model_validate(found)


def test_what_cannot_be_measured_is_said_before_any_server_starts(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "a", "question": "A?", "answer": "B"}\n')
    for arguments, said in (
        (["answers", str(file), "-p", "x", "--beside", "x"], "names the same project"),
        (["answers", str(file), "-p", "x", "--beside", "other.env"], "other.env is no file"),
        (["answers", str(file), "-p", "x", "--depth", "deep"], "depth: "),
        (["from-feedback", str(file), "-p", "x"], "is there already"),
    ):
        done = command("eval", *arguments)
        assert done.returncode == 2, done.stderr
        assert said in " ".join(done.stderr.replace("│", " ").split())
