"""The body of feedback: what is refused, in words with the field's name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drift.contracts.answer import CitationOut, KeyFact, RetrieveResponse
from drift.contracts.feedback import Feedback, ScorableAnswer
from drift.contracts.request import ProjectRequest
from drift.core.errors import InvalidRequestError
from drift.http.http import parse

ID = "6f2c1e08-93b4-4d57-8a1e-0c5d7f3b9a62"


def body(**fields: Any) -> bytes:
    return json.dumps({"retrieval_id": ID, "score": 1, **fields}).encode()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("retrieval_id", "never", "must be a UUID"),
        ("score", True, "must be -1 or 1"),
        ("score", 0, "must be -1 or 1"),
        ("score", "1", "must be -1 or 1"),
        ("fact", 0, "must be the number of a key fact, from 1, or its text"),
        ("fact", True, "must be the number of a key fact, from 1, or its text"),
        ("fact", [1], "must be the number of a key fact, from 1, or its text"),
        ("fact", "x" * 2001, "must be the number of a key fact, from 1, or its text"),
        ("reason", "bad", "must be 'wrong', 'missing', 'unsupported', 'old' or 'other'"),
        ("comment", "x" * 2001, "must have at most 2000 characters"),
        ("comment", "a\x00b", "must not contain NUL characters"),
        ("expected", ["x"] * 10_000, "must have at most 20 items"),
        ("expected", "x", "must be a list"),
        ("project_id", "p", "is not a field of this request"),
    ],
)
def test_a_wrong_field_is_named(field: str, value: object, message: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        parse(body(**{field: value}), Feedback)
    assert [(one.field, one.message) for one in refused.value.problems] == [(field, message)]


def test_wrong_items_of_what_was_expected_are_named_once() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        parse(body(expected=[1] * 20), Feedback)
    assert [one.field for one in refused.value.problems] == ["expected.0"]


def test_a_fact_is_named_by_a_number_as_json_has_it_or_by_its_text() -> None:
    said = [parse(body(fact=fact), Feedback).fact for fact in (2, 2.0, "It rains.", None)]
    assert said == [2, 2, "It rains.", None]
    assert isinstance(said[1], int)


def test_what_is_kept_of_an_answer_is_bounded() -> None:
    cited = [CitationOut(chunk_id="c1", span="s" * 9000, document_name="d"), "c2"]
    fact = KeyFact(fact="f" * 9000, citations=cited)
    answer = RetrieveResponse(
        final_answer="a" * 9000, key_facts=[fact] * 200, residual_uncertainty=""
    )
    kept = ScorableAnswer.of(answer, ID, ProjectRequest(query="q", project_id="p"))
    assert (kept.question, kept.project_id, len(kept.facts)) == ("q", "p", 50)
    assert kept.facts[0].chunk_ids == ("c1", "c2")
    assert len(kept.model_dump_json()) < 64 * 1024
