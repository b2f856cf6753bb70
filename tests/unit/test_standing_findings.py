"""What was found stands, whatever becomes of the last call; what was not found shows no answer."""

from __future__ import annotations

from typing import Any

import pytest

from drift.contracts.answer import CitationOut, RetrieveResponse
from drift.core.errors import ModelUnavailableError, UnusableReplyError
from drift.model.calls import Prompt
from drift.model.graph import Evidence, FollowupQuery
from tests.fakes import StubGraph, chunk, request
from tests.unit.searching import FIRST, FOUND, SECOND, cites_what_it_sees, primer, run_of

QUESTION = "What is asked?"
NOTHING = "The documents do not answer this question."
SILENT = {"verdict": "not_found", "final_answer": "", "residual_uncertainty": "It is open."}
EXPLAINED = {**SILENT, "final_answer": "Only a link is told [1]."}
JUDGED = request(QUESTION, include=("verdict", "trace", "references"))


def found(verdict: str) -> Any:
    return lambda prompt: {**cites_what_it_sees(prompt), "verdict": verdict}


def spans(response: RetrieveResponse) -> list[str]:
    cited = [one for fact in response.key_facts for one in fact.citations]
    return [one.chunk_id for one in cited if isinstance(one, CitationOut)]


def verdict(response: RetrieveResponse) -> str:
    return response.verdict.verdict


@pytest.mark.parametrize(
    ("followups", "last", "said"),
    [
        ("partly", SILENT, "It is open."),
        ("partly", EXPLAINED, "It is open."),
        ("answered", SILENT, "what the follow-up questions found stands"),
        ("answered", UnusableReplyError("content_filter"), "could not be written"),
        ("answered", "no JSON", "could not be written"),
    ],
    ids=["silent", "explained", "silent of answers", "filtered", "no JSON"],
)
async def test_what_follow_ups_found_is_not_voided_by_the_last_call(
    followups: str, last: Any, said: str
) -> None:
    response = await run_of(local_reply=found(followups), aggregate_reply=last)(JUDGED)
    assert verdict(response) == "partly"
    assert set(spans(response)) == {f"chunk of {FIRST}", f"chunk of {SECOND}"}
    assert said in response.residual_uncertainty


async def test_links_that_the_last_call_explains_are_near_and_no_answer() -> None:
    response = await run_of(aggregate_reply=EXPLAINED)(JUDGED)
    assert (response.final_answer, response.key_facts) == (NOTHING, [])
    assert "What comes nearest: Only a link is told." in response.residual_uncertainty
    assert [one.chunk_id for one in response.verdict.near] == [f"chunk of {FIRST}"]
    assert (response.references.items, response.references.confidence) == ([], 0.0)


@pytest.mark.parametrize(
    ("answer", "logged"),
    [
        ("So it is [1]. And so [2].", ""),
        ("So it is [1]. And so [9][12], since [9].", '"facts":"9, 12","unmatched":2,"known":2'),
    ],
)
async def test_facts_that_an_answer_names_and_nobody_gave_it_are_logged(
    answer: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    await run_of(aggregate_reply={**SILENT, "verdict": "answered", "final_answer": answer})(JUDGED)
    assert ("citation_enrichment_unmatched_chunk_id" in caplog.text) is bool(logged)
    assert logged in caplog.text


async def test_where_no_follow_up_found_anything_nothing_is_claimed() -> None:
    response = await run_of(local_reply=found("not_found"), aggregate_reply=EXPLAINED)(JUDGED)
    assert (response.final_answer, response.key_facts) == (NOTHING, [])
    assert verdict(response) == "not_found"


LOOKED = {
    "evidence": ["K1.1"],
    "verdict": "partly",
    "answer": "Ada made alpha [1].",
    "confidence": 0.5,
    "residual_uncertainty": "",
}


def by_question(query: FollowupQuery) -> Evidence:
    name = "look" if query.question == QUESTION else f"of {query.question}"
    return Evidence((chunk(name),))


async def test_auto_gives_no_less_than_a_look_that_is_unsure_of_its_part() -> None:
    unsure = {**LOOKED, "confidence": 0.1}
    run = run_of(StubGraph(FOUND, by_question), quick_reply=unsure, aggregate_reply=SILENT)
    response = await run(request(QUESTION, depth="auto", include=("verdict",)))
    assert (verdict(response), "look" in spans(response)) == ("partly", True)


@pytest.mark.parametrize(
    "failing",
    [
        {"hypothesis": ModelUnavailableError("down")},
        {"primer_reply": ModelUnavailableError("down")},
        {"aggregate_reply": ModelUnavailableError("down")},
        {"aggregate_reply": SILENT},
        {"aggregate_reply": EXPLAINED},
        {"local_reply": found("not_found"), "aggregate_reply": SILENT},
    ],
    ids=["hypothesis", "primer", "last call", "silent", "explained", "in vain"],
)
async def test_auto_gives_no_less_than_its_own_look(failing: dict[str, Any]) -> None:
    replies = {"quick_reply": LOOKED, "primer_reply": primer(FIRST), **failing}
    run = run_of(StubGraph(FOUND, by_question), **replies)
    response = await run(request(QUESTION, depth="auto", include=("verdict", "trace")))
    assert "Ada made alpha." in response.final_answer
    assert "look" in spans(response)
    assert verdict(response) == "partly"
    assert run.sink.phases[-1] == "completed"


async def test_an_answer_about_a_name_that_nothing_shows_is_no_answer() -> None:
    def read(prompt: Prompt) -> dict[str, Any]:
        return found("partly")(prompt)

    asked = request("It says what of Pickwick and a thing?", include=("verdict", "references"))
    shown = Evidence((chunk("c", "It says what is a thing."),))
    response = await run_of(StubGraph(FOUND, shown), local_reply=read)(asked)
    assert (response.final_answer, response.key_facts) == (NOTHING, [])
    assert response.verdict.near
