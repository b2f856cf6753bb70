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
@pytest.mark.parametrize(
    ("given_", "understood"),
    [
        (85, 0.85),
        (1, 1.0),
        (-3, 0.0),
        (10**400, 1.0),
        (" Very High ", 0.95),
        ("85 %", 0.85),
        ("1%", 0.01),
        (float("nan"), 0.0),
        (float("inf"), 1.0),
        (None, 0.0),
    ],
    ids=lambda value: f"{value!r:.20}",
)
def test_a_score_is_read_where_its_meaning_is_plain(given_: Any, understood: float) -> None:
    assert LocalReply.model_validate(
        {"answer": "a", "confidence": given_}
    ).confidence == pytest.approx(understood)


@pytest.mark.parametrize("given_", ["8/10", [0.5]])
def test_a_score_without_plain_meaning_is_refused(given_: Any) -> None:
    with pytest.raises(ValidationError, match="confidence"):
        LocalReply.model_validate({"answer": "a", "confidence": given_})


@pytest.mark.parametrize(
    "given_",
    [
        [{"question": "Who?", "target_communities": ["C1"]}],
        {"question": "Who?", "target_communities": "C1"},
        [
            {
                "question": " Who? ",
                "target_communities": ["C1", None],
                "why": "unknown fields are ignored",
            }
        ],
        [
            {"question": "Who?", "target_communities": ["C1"]},
            "",
            " ",
            None,
            {},
            {"question": None},
            {"question": " "},
        ],
    ],
    ids=["as asked", "single objects", "null among ids", "empty questions"],
)
def test_followups_are_read_where_their_meaning_is_plain(given_: Any) -> None:
    reply = PrimerReply.model_validate({"initial_answer": "a", "followups": given_})
    assert [(f.question, f.target_communities) for f in reply.followups] == [("Who?", ["C1"])]


def test_a_bare_question_and_numbers_as_ids_are_read() -> None:
    reply = PrimerReply.model_validate(
        {"followups": ["Who?", {"question": "When?", "target_communities": [17, 3]}]}
    )
    assert [(f.question, f.target_communities) for f in reply.followups] == [
        ("Who?", []),
        ("When?", ["17", "3"]),
    ]


@pytest.mark.parametrize(
    ("given_", "ids"),
    [
        ({"chunk_id": " K1 ", "span": None}, ["K1"]),
        (["K1", 7], ["K1", "7"]),
        (None, []),
        ([None, {"span": "s"}, {"chunk_id": "  "}, ""], ["", "", "", ""]),
    ],
)
def test_citations_are_read_where_their_meaning_is_plain(given_: Any, ids: list[str]) -> None:
    reply = LocalReply.model_validate({"answer": "a", "citations": given_})
    assert [c.chunk_id for c in reply.citations] == ids


def test_null_and_empty_ids_are_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    given_ = [
        {"chunk_id": None, "span": "one"},
        {"span": "two"},
        None,
        {"chunk_id": " ", "span": "three"},
        "",
    ]
    LocalReply.model_validate({"answer": "a", "citations": given_})
    null, empty = "citation_model_null_chunk_id", "citation_model_empty_chunk_id"
    assert [r.event for r in caplog.records] == [null, null, null, empty, empty]
    assert caplog.records[0].span_characters == len("one")
    assert all(r.levelno == logging.WARNING for r in caplog.records)


@pytest.mark.parametrize(
    ("given_", "sentences", "words"),
    [
        ({"chunk_id": "K1", "sentences": "4-5", "words": " So it is "}, "4-5", "So it is"),
        ({"chunk_id": "K1", "sentences": 4, "words": None}, "4", ""),
        ({"chunk_id": "K1", "sentences": [4, 5], "words": ["So", "it"]}, "4,5", "So it"),
        ({"chunk_id": "K1", "sentences": {"from": 4, "to": 6}}, "4-6", ""),
        ({"chunk_id": "K1", "sentences": None, "span": "So it is"}, "", "So it is"),
        ({"chunk_id": "K1", "sentences": True, "words": "", "span": "not read"}, "", ""),
    ],
)
def test_evidence_is_read_where_its_meaning_is_plain(
    given_: Any, sentences: str, words: str
) -> None:
    [citation] = LocalReply.model_validate({"answer": "a", "citations": given_}).citations
    assert (citation.chunk_id, citation.sentences, citation.words) == ("K1", sentences, words)


@pytest.mark.parametrize("shape", [LocalReply, AggregateReply])
@pytest.mark.parametrize(
    ("given_", "verdict"),
    [
        (" Not found. ", "not_found"),
        ("answered, partly", "partly"),
        (["answered", "not_found"], "not_found"),
        ("no", "not_found"),
        (None, "partly"),
        ("perhaps", "partly"),
        (7, "partly"),
    ],
)
def test_a_verdict_is_read_where_its_meaning_is_plain_and_else_is_partly(
    shape: type[LocalReply] | type[AggregateReply], given_: Any, verdict: str
) -> None:
    said = {"answer": "a", "sentences": [["a", 1]]}
    assert shape.model_validate({**said, "verdict": given_}).verdict == verdict
    assert shape.model_validate(said).verdict == "partly"


def test_an_aggregate_is_read_where_its_meaning_is_plain() -> None:
    reply = AggregateReply.model_validate(
        {"final_answer": ["One [1].", "Two [2]."], "residual_uncertainty": None, "key_facts": 7}
    )
    assert [(one.text, one.facts) for one in reply.sentences] == [("One.", (1,)), ("Two.", (2,))]
    assert reply.residual_uncertainty == ""


@pytest.mark.parametrize("final", ["  ", [], None, [["It is so."]], "It is so.", [[]], {}])
def test_only_an_aggregate_that_has_found_nothing_may_say_nothing(final: Any) -> None:
    reply = AggregateReply.model_validate({"verdict": "not_found", "sentences": final})
    assert reply.verdict == "not_found"
    assert not any(one.facts for one in reply.sentences)
    for body in ({}, {"verdict": "answered"}, {"verdict": "partly"}):
        with pytest.raises(ValidationError, match="must name the numbers of their facts"):
            AggregateReply.model_validate({**body, "sentences": final})


@pytest.mark.parametrize("body", [{}, {"answer": True, "sentences": True}])
@pytest.mark.parametrize(
    ("shape", "verdict"),
    [
        (LastReply, "answered"),
        (LocalReply, "answered"),
        (AggregateReply, "answered"),
        (AggregateReply, "not_found"),
    ],
)
def test_a_reply_without_a_readable_answer_is_refused(
    shape: type[BaseModel], verdict: str, body: Any
) -> None:
    with pytest.raises(ValidationError, match=r"answer|sentences"):
        shape.model_validate({"verdict": verdict, **body})


@pytest.mark.parametrize(("given_", "flag"), [(None, False), ("yes", True), ("false", False)])
def test_a_flag_is_read_where_its_meaning_is_plain(given_: Any, flag: bool) -> None:
    assert (
        LocalReply.model_validate({"answer": "a", "should_continue": given_}).should_continue
        is flag
    )


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
