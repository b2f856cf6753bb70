"""What a model writes is read where its meaning is plain, and bounded."""

import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from drift.contracts.final_replies import ANSWER_CUT, AggregateReply
from drift.contracts.replies import JointReply, LastReply, LocalReply, PrimerReply

REPLIES = [PrimerReply, LocalReply, LastReply, JointReply, AggregateReply]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=8,
)


# ----------------------------------------------------------------------------------------- leniency
WHO, BARE = {"question": "Who?", "target_communities": ["C1"]}, {"target_communities": []}
K1, UNNAMED = {"chunk_id": "K1"}, {"chunk_id": ""}
NONE: list[Any] = []
SO = [{"text": "It is so.", "facts": ()}]
BASES: dict[type[BaseModel], dict[str, Any]] = {
    PrimerReply: {"initial_answer": "a"},
    LocalReply: {"answer": "a"},
    AggregateReply: {"verdict": "not_found", "sentences": [["a", 1]]},
}


def cited(sentences: str, words: str) -> list[dict[str, Any]]:
    return [{**K1, "sentences": sentences, "words": words}]


READ: list[tuple[type[BaseModel], str, Any, Any]] = [
    (LocalReply, "confidence", 85, 0.85),
    (LocalReply, "confidence", 1, 1.0),
    (LocalReply, "confidence", -3, 0.0),
    (LocalReply, "confidence", 10**400, 1.0),
    (LocalReply, "confidence", " Very High ", 0.95),
    (LocalReply, "confidence", "85 %", 0.85),
    (LocalReply, "confidence", "1%", 0.01),
    (LocalReply, "confidence", float("nan"), 0.0),
    (LocalReply, "confidence", float("inf"), 1.0),
    (LocalReply, "confidence", None, 0.0),
    (PrimerReply, "followups", [WHO], [WHO]),
    (PrimerReply, "followups", {**WHO, "target_communities": "C1"}, [WHO]),
    (PrimerReply, "followups", [{**WHO, "question": " Who? ", "why": "unknown"}], [WHO]),
    (PrimerReply, "followups", {**WHO, "target_communities": ["C1", None]}, [WHO]),
    (PrimerReply, "followups", [WHO, "", " ", None, {}, {"question": None}], [WHO]),
    (PrimerReply, "followups", ["Who?"], [{**WHO, **BARE}]),
    (PrimerReply, "followups", {**WHO, "target_communities": [7]}, [{"target_communities": ["7"]}]),
    (LocalReply, "citations", {"chunk_id": " K1 ", "span": None}, [K1]),
    (LocalReply, "citations", ["K1", 7], [K1, {"chunk_id": "7"}]),
    (LocalReply, "citations", None, NONE),
    (
        LocalReply,
        "citations",
        [None, {"span": "s"}, {"chunk_id": "  "}, ""],
        [{"chunk_id": ""}] * 4,
    ),
    (
        LocalReply,
        "citations",
        {**K1, "sentences": "4-5", "words": " It is "},
        cited("4-5", "It is"),
    ),
    (LocalReply, "citations", {**K1, "sentences": 4, "words": None}, cited("4", "")),
    (
        LocalReply,
        "citations",
        {**K1, "sentences": [4, 5], "words": ["It", "is"]},
        cited("4,5", "It is"),
    ),
    (LocalReply, "citations", {**K1, "sentences": {"from": 4, "to": 6}}, cited("4-6", "")),
    (LocalReply, "citations", {**K1, "sentences": None, "span": "It is"}, cited("", "It is")),
    (LocalReply, "citations", {**K1, "sentences": True, "words": "", "span": "x"}, cited("", "")),
    (LocalReply, "verdict", " Not found. ", "not_found"),
    (LocalReply, "verdict", "answered, partly", "partly"),
    (LocalReply, "verdict", ["answered", "not_found"], "not_found"),
    (LocalReply, "verdict", "no", "not_found"),
    (LocalReply, "verdict", None, "partly"),
    (LocalReply, "verdict", "perhaps", "partly"),
    (LocalReply, "verdict", 7, "partly"),
    (AggregateReply, "verdict", "perhaps", "partly"),
    (AggregateReply, "sentences", ["One [1]."], [{"text": "One.", "facts": (1,)}]),
    (AggregateReply, "residual_uncertainty", None, ""),
    # What has found nothing may say nothing.
    *((AggregateReply, "sentences", nothing, ()) for nothing in ("  ", [], None, [[]], {})),
    (AggregateReply, "sentences", [["It is so."]], SO),
    (AggregateReply, "sentences", "It is so.", SO),
]


def holds(read: Any, expected: Any) -> bool:
    """Whether a value is the expected one; of objects only the named fields are looked at."""
    if isinstance(expected, dict):
        return all(holds(read[name], value) for name, value in expected.items())
    if isinstance(expected, list | tuple):
        return len(read) == len(expected) and all(map(holds, read, expected))
    return bool(
        read == pytest.approx(expected) if isinstance(expected, float) else read == expected
    )


@pytest.mark.parametrize(("shape", "field", "given_", "expected"), READ)
def test_a_field_is_read_where_its_meaning_is_plain(
    shape: type[BaseModel], field: str, given_: Any, expected: Any
) -> None:
    read = shape.model_validate({**BASES[shape], field: given_}).model_dump()
    assert holds(read[field], expected)


REFUSED: list[tuple[type[BaseModel], Any, str]] = [
    (LocalReply, {"answer": "a", "confidence": "8/10"}, "confidence"),
    (LocalReply, {"answer": "a", "confidence": [0.5]}, "confidence"),
    *(
        (AggregateReply, {"verdict": verdict, "sentences": said}, "numbers of their facts")
        for verdict in ("answered", "partly")
        for said in ("  ", [], None, [["It is so."]], "It is so.", [[]], {})
    ),
    *(
        (shape, {"verdict": verdict, **body}, r"answer|sentences")
        for body in ({}, {"answer": True, "sentences": True})
        for shape, verdict in (
            (LastReply, "answered"),
            (LocalReply, "answered"),
            (AggregateReply, "answered"),
            (AggregateReply, "not_found"),
        )
    ),
]


@pytest.mark.parametrize(("shape", "body", "problem"), REFUSED)
def test_a_reply_without_plain_meaning_is_refused(
    shape: type[BaseModel], body: Any, problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        shape.model_validate(body)


def test_a_verdict_that_is_missing_is_partly() -> None:
    said = {"answer": "a", "sentences": [["a", 1]]}
    assert [shape.model_validate(said).verdict for shape in (LocalReply, AggregateReply)] == [
        "partly",
        "partly",
    ]


def test_null_and_empty_ids_are_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    given_ = [{"chunk_id": None, "span": "one"}, {"chunk_id": " "}, None]
    LocalReply.model_validate({"answer": "a", "citations": given_})
    null, empty = "citation_model_null_chunk_id", "citation_model_empty_chunk_id"
    assert [r.event for r in caplog.records] == [null, empty, null]
    assert caplog.records[0].span_characters == len("one")
    assert all(r.levelno == logging.WARNING for r in caplog.records)


@given(
    value=JSON_VALUES,
    field=st.sampled_from(["answer", "citations", "new_followups", "confidence", "verdict"]),
)
def test_no_reply_raises_anything_but_a_validation_error(value: Any, field: str) -> None:
    for shape in REPLIES:
        for body in (
            value,
            {"answer": "a", "sentences": [["a", 1]], field: value},
            {"verdict": "answered", "sentences": value},
            {"verdict": "answered", "sentences": [["a", 1], value]},
            {"followups": value},
            {"answers": [value, {"followup": "Q1", "answer": "a", field: value}]},
        ):
            with suppress(ValidationError):
                read = shape.model_validate(body)
                assert shape.model_validate(read.model_dump()) == read


# ----------------------------------------------------------------------- a model that does not stop
def test_a_reply_of_megabytes_is_cut_where_its_meaning_is_plain() -> None:
    long = "word " * 200_000
    local = LocalReply.model_validate(
        {
            "answer": long,
            "citations": [{"chunk_id": long, "span": long}] * 1000,
            "new_followups": [{"question": long, "beside": long}] * 1000,
        }
    )
    assert (len(local.answer), len(local.citations), len(local.new_followups)) == (15_999, 50, 20)
    assert (len(local.citations[0].chunk_id), len(local.citations[0].words)) == (499, 3_999)
    proposed = local.new_followups[0]
    assert (len(proposed.question), len(proposed.beside)) == (999, 499)

    [followup] = PrimerReply.model_validate(
        {"followups": {"question": long, "target_communities": [long] * 1000}}
    ).followups
    assert (len(followup.question), len(followup.target_communities)) == (999, 50)

    evidence = {"chunk_id": "K1", "sentences": ["4"] * 100_000, "words": [long]}
    [citation] = LocalReply.model_validate({"answer": "a", "citations": evidence}).citations
    assert len(citation.sentences.split(",")) <= 50

    for written in (long + "[1]", f"A [1]. {long}", [[long, 1]], [["word " * 99, 1]] * 1_000):
        whole = AggregateReply.model_validate(
            {"verdict": "not_found", "sentences": written, "residual_uncertainty": [long]}
        )
        length = sum(len(one.text) for one in whole.sentences)
        assert (length <= 16_000, len(whole.residual_uncertainty)) == (True, 4_000)
        assert whole.sentences
    assert whole.residual_uncertainty.startswith(f"{ANSWER_CUT} word word")

    primer = PrimerReply.model_validate([long] * 1000)
    assert (len(primer.followups), len(primer.followups[0].question)) == (20, 999)
