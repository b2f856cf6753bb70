"""One look at the documents, and when it is not enough."""

from __future__ import annotations

from typing import Any

import pytest

from drift.answer.conclusion import Conclusion
from drift.core.errors import GraphUnavailableError, ModelUnavailableError
from drift.evidence.answer_statements import Statement
from drift.model.graph import Evidence, FollowupQuery, PrimerEvidence
from drift.model.tree import Citation, CitationCounts, Fact
from drift.search.quick import open_question
from tests.fakes import StubGraph, chunk, request
from tests.unit.searching import FIRST, FOUND, Run, aggregated, primer, run_of, told

QUESTION = "What is asked?"
ABOUT = chunk("k-one", "Alpha was made by Ada. Beta lives in Bonn. Gamma was found in 1900.", "A")
OTHER = chunk("k-two", "Delta is a river. It is long.", "B")
HELD = Evidence((ABOUT, OTHER))


def quick(**fields: Any) -> dict[str, Any]:
    """Return a reply that one sentence bears out."""
    return {
        "evidence": ["K1.1"],
        "answer": "Ada made alpha [1].",
        "verdict": "answered",
        "confidence": 1.0,
        "residual_uncertainty": "",
        **fields,
    }


def looking(reply: Any) -> Run:
    return run_of(StubGraph(FOUND, HELD), quick_reply=reply)


def asked(depth: str, *include: str) -> Any:
    return request(QUESTION, depth=depth, include=("trace", "usage", "verdict", *include))


# --------------------------------------------------------------------------------------- quick
@pytest.mark.parametrize("depth", ["quick", "auto"])
async def test_a_look_that_settles_the_question_takes_one_search_and_one_call(depth: str) -> None:
    run = looking(quick())
    response = await run(asked(depth, "locations"))
    assert response.final_answer == "Ada made alpha."
    ((citation,),) = [fact.citations for fact in response.key_facts]
    assert (citation.chunk_id, citation.span) == ("k-one", "Alpha was made by Ada.")
    assert (response.verdict.verdict, response.verdict.confidence) == ("answered", 1.0)

    assert [prompt.name for prompt in run.ports.chat.prompts] == ["quick_reply"]
    assert run.ports.embedder.calls == [(QUESTION,)]
    assert len(run.ports.graph.primers) == 0
    assert [query.located for query in run.ports.graph.followups] == [True]
    assert (response.usage.chat_calls, response.usage.graph_round_trips) == (1, 1)
    assert run.sink.phases == [
        "initializing",
        "expanding_query",
        "aggregating_results",
        "completed",
    ]

    assert response.trace.depth.model_dump() == {"asked": depth, "used": "quick", "reason": ""}
    (look,) = response.trace.followups
    assert (look.id, look.pass_, look.question, look.state) == (-1, 0, QUESTION, "answered")
    assert (look.verdict, look.chunk_ids) == ("answered", ["k-one", "k-two"])
    assert response.trace.citations.kept == 1


@pytest.mark.parametrize(
    ("reply", "answer", "cited"),
    [
        (
            quick(evidence=["K2.1", "K1.3"], answer="It was in 1900 [2]. A river is delta [1]."),
            "It was in 1900. A river is delta.",
            ["Gamma was found in 1900.", "Delta is a river."],
        ),
        (
            quick(evidence=["K1.1", "K9.1"], answer="Ada made it [1]. Eve helped [2]."),
            "Ada made it.",
            ["Alpha was made by Ada."],
        ),
        (
            quick(evidence=[{"chunk_id": "K1", "sentences": "3"}], answer="In 1900 [1]."),
            "In 1900.",
            ["Gamma was found in 1900."],
        ),
    ],
    ids=["two chunks", "no such chunk", "as an object"],
)
async def test_what_is_cited_holds_and_the_rest_is_left_out(
    reply: dict[str, Any], answer: str, cited: list[str]
) -> None:
    response = await looking(reply)(asked("quick"))
    assert response.final_answer == answer
    assert [c.span for fact in response.key_facts for c in fact.citations] == cited


async def test_without_evidence_that_holds_nothing_is_found() -> None:
    for reply in (
        quick(evidence=[], answer="Ada, I believe."),
        quick(evidence=["K7.1"], answer="Ada [1]."),
        quick(evidence=[], answer="", verdict="not_found", confidence=0.1),
    ):
        response = await looking(reply)(asked("quick"))
        assert (response.verdict.verdict, response.verdict.confidence) == ("not_found", 0.0)
        assert response.final_answer == "The documents do not answer this question."
        assert response.key_facts == []


@pytest.mark.parametrize("depth", ["quick", "auto"])
async def test_a_project_without_chunks_has_no_data_and_no_model_reads(depth: str) -> None:
    run = run_of(StubGraph(PrimerEvidence(), Evidence()), quick_reply=quick())
    response = await run(asked(depth))
    assert response.no_data_found
    assert response.trace.depth.reason == "no_evidence"
    assert {prompt.name for prompt in run.ports.chat.prompts} <= {"hypothesis"}


async def test_a_quick_reply_that_cannot_be_used_fails_the_request() -> None:
    with pytest.raises(ModelUnavailableError):
        await looking("no JSON")(asked("quick"))


async def test_what_fails_behind_a_quick_look_fails_the_request() -> None:
    run = run_of(StubGraph(FOUND, lambda _query: GraphUnavailableError("gone")))
    with pytest.raises(GraphUnavailableError):
        await run(asked("quick"))
    assert run.sink.phases[-1] == "error"


# ---------------------------------------------------------------------------------------- auto
async def test_auto_ends_where_nothing_that_is_found_has_a_name_of_the_question() -> None:
    run = looking(quick(evidence=[], answer="", verdict="not_found", confidence=0.1))
    question = "Was Captain Ahab made in Bonn by Ada?"
    response = await run(request(question, depth="auto", include=("trace", "verdict")))
    assert [prompt.name for prompt in run.ports.chat.prompts] == ["quick_reply"]
    assert (response.trace.depth.used, response.trace.depth.reason) == ("quick", "unknown_name")
    assert response.verdict.verdict == "not_found"


def by_question(query: FollowupQuery) -> Evidence:
    """Return the look's chunks for the user's question, and another one for any follow-up."""
    return HELD if query.question == QUESTION else Evidence((chunk(f"of {query.question}"),))


async def test_auto_goes_on_with_what_was_found() -> None:
    partly = quick(verdict="partly", confidence=0.5)
    run = run_of(
        StubGraph(FOUND, by_question),
        quick_reply=partly,
        primer_reply=primer(FIRST),
        aggregate_reply=aggregated(1, 2),
    )
    response = await run(asked("auto"))
    names = [prompt.name for prompt in run.ports.chat.prompts]
    assert names == ["quick_reply", "hypothesis", "primer_reply", "local_reply", "aggregate_reply"]
    (final,) = run.ports.chat.named("aggregate_reply")
    assert told(final) == {QUESTION: "Ada made alpha.", FIRST: "It is so."}
    (local,) = run.ports.chat.named("local_reply")
    assert "Ada made alpha." in local.user

    assert response.trace.depth.model_dump() == {
        "asked": "auto",
        "used": "drift",
        "reason": "partly",
    }
    assert [(one.id, one.pass_) for one in response.trace.followups] == [(-1, 0), (0, 1)]
    spans = [c.span for fact in response.key_facts for c in fact.citations]
    assert "Alpha was made by Ada." in spans
    order = list(dict.fromkeys(run.sink.phases))
    assert order == [
        "initializing",
        "expanding_query",
        "retrieving_communities",
        "executing_followup",
        "aggregating_results",
        "completed",
    ]


async def test_what_the_look_has_answered_is_not_asked_again() -> None:
    run = run_of(
        StubGraph(FOUND, by_question),
        quick_reply=quick(confidence=0.5),
        primer_reply=primer(QUESTION, FIRST),
    )
    response = await run(asked("auto"))
    states = {one.id: one.state for one in response.trace.followups}
    assert states == {-1: "answered", 0: "merged", 1: "answered"}


@pytest.mark.parametrize(
    "reply",
    [
        quick(evidence=[], answer="", verdict="not_found", confidence=0.1),
        quick(answer="Ada made alpha, not delta [1].", verdict="not_found", confidence=0.1),
    ],
    ids=["without evidence", "with what comes closest"],
)
async def test_a_look_that_found_nothing_leaves_the_search_as_it_was(reply: dict[str, Any]) -> None:
    run = run_of(StubGraph(FOUND, by_question), quick_reply=reply, primer_reply=primer(QUESTION))
    response = await run(asked("auto"))
    assert response.trace.depth.reason == "not_found"
    assert next((one.id, one.state) for one in response.trace.followups) == (0, "answered")
    assert -1 not in [one.id for one in response.trace.followups]


async def test_an_unusable_look_costs_only_itself() -> None:
    run = run_of(StubGraph(FOUND, by_question), quick_reply="no JSON", primer_reply=primer(FIRST))
    response = await run(asked("auto"))
    assert response.key_facts
    assert response.trace.depth.reason == "unusable_reply"


async def test_where_no_community_is_found_the_look_stands() -> None:
    run = run_of(
        StubGraph(PrimerEvidence(), by_question),
        quick_reply=quick(verdict="partly"),
        primer_reply=primer(FIRST),
    )
    response = await run(asked("auto"))
    assert response.no_data_found is None
    assert response.key_facts


# ---------------------------------------------------------------------------------------- the rule
def concluded(
    *documents: str, verdict: Any = "answered", confidence: float = 1.0, **more: Any
) -> Any:
    facts = tuple(
        Fact(number, Citation(f"k{number}", "span", "Handbook", document_id=document), confidence)
        for number, document in enumerate(documents, start=1)
    )
    return Conclusion("text", (Statement("text", facts),), 0, verdict, confidence, **more)


KEPT = CitationCounts(1, 1)


@pytest.mark.parametrize(
    ("conclusion", "counts", "reason"),
    [
        (concluded("A"), KEPT, ""),
        (concluded("A", "B", "A"), KEPT, ""),
        (concluded("A", "B", "C"), KEPT, "scattered"),
        (concluded("A", confidence=0.8), KEPT, ""),
        (concluded("A", confidence=0.79), KEPT, "unsure"),
        (concluded("A", verdict="partly"), KEPT, "partly"),
        (concluded("A", verdict="not_found"), KEPT, "not_found"),
        (concluded("A"), CitationCounts(2, 1, 0, {"unknown_sentence": 1}), "citation_dropped"),
        (Conclusion("t", concluded("A").statements, 1, "answered", 1.0), KEPT, "sentence_left_out"),
        (Conclusion(), CitationCounts(), "not_found"),
    ],
)
def test_the_rule_is_fixed(conclusion: Conclusion, counts: CitationCounts, reason: str) -> None:
    assert open_question(conclusion, counts) == reason
