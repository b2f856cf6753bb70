"""What a search hands back: its answer, and on request usage, trace and verdict."""

from dataclasses import replace
from typing import Any

import pytest

from drift.core.errors import UnusableReplyError
from drift.model.calls import Prompt
from drift.model.graph import Evidence, FollowupQuery, PrimerEvidence
from tests.fakes import StubGraph, chunk, request
from tests.unit.searching import (
    FIRST,
    FOUND,
    SECOND,
    TRACED,
    asked_in,
    cites_what_it_sees,
    local,
    own_chunk,
    primer,
    run_of,
    told,
)


async def test_usage_counts_every_call_by_phase() -> None:
    response = await run_of()(TRACED)
    usage = response.usage
    assert (usage.chat_calls, usage.embedding_calls, usage.graph_round_trips) == (5, 2, 4)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (50 + 3, 10, 5)
    assert {name: phase.chat_calls for name, phase in usage.phases.items()} == {
        "expanding_query": 1,
        "retrieving_communities": 1,
        "executing_followup": 2,
        "aggregating_results": 1,
    }
    assert 0 <= usage.critical_path_seconds <= usage.wall_seconds


async def test_usage_trace_and_verdict_come_only_when_asked_for() -> None:
    plain = await run_of()()
    assert (plain.usage, plain.trace, plain.verdict) == (None, None, None)
    only = await run_of()(request(include=("trace",)))
    assert (only.usage, only.verdict) == (None, None)
    assert only.trace
    judged = await run_of()(request(include=("verdict",)))
    assert (judged.usage, judged.trace) == (None, None)
    assert judged.verdict


async def test_the_trace_says_what_was_planned_asked_and_found() -> None:
    def answers(prompt: Prompt) -> dict[str, Any]:
        reply = cites_what_it_sees(prompt)
        if asked_in(prompt) == SECOND:
            return {**local("No.", cited=(), confidence=0.9), "verdict": "answered"}
        reply["citations"][0] |= {"sentences": "", "words": "THIS is the TEXT"}
        return {**reply, "verdict": "partly"}

    planned = {**primer(FIRST, SECOND), "rationale": "Who made it has to be known."}
    response = await run_of(primer_reply=planned, local_reply=answers)(TRACED)
    trace = response.trace
    assert (trace.initial_answer, trace.rationale) == ("Perhaps.", "Who made it has to be known.")
    assert trace.communities == [7, "x"]
    assert (trace.citations.total, trace.citations.kept, trace.citations.repaired) == (1, 1, 1)
    first, second, *_ = trace.followups
    assert (first.chunk_ids, first.target_communities) == ([f"chunk of {FIRST}"], [7])
    assert (first.verdict, first.confidence) == ("partly", 0.5)
    # What cites nothing has found nothing, whatever it says of itself.
    assert (second.verdict, second.confidence) == ("not_found", 0.1)


async def test_a_follow_up_without_an_answer_has_no_verdict_in_the_trace() -> None:
    graph = StubGraph(FOUND, lambda q: Evidence() if q.question == FIRST else own_chunk(q))
    response = await run_of(graph)(TRACED)
    assert [node.verdict for node in response.trace.followups] == [None, "answered"]


async def test_locations_come_only_when_asked_for_and_change_nothing_else() -> None:
    def evidence(query: FollowupQuery) -> Evidence:
        assert query.located == ("locations" in query_include)
        [found] = own_chunk(query).chunks
        known = replace(found, heading="A > B", place=3, places=9, page="iv", start=1000)
        return Evidence((replace(known, source_uri="https://a.example/b", document_id="a/b.md"),))

    def second_sentence(prompt: Prompt) -> dict[str, Any]:
        reply = cites_what_it_sees(prompt)
        reply["citations"][0]["sentences"] = "2"
        return reply

    query_include: tuple[Any, ...] = ()
    plain = await run_of(StubGraph(FOUND, evidence), local_reply=second_sentence)()
    query_include = ("locations",)
    located = await run_of(StubGraph(FOUND, evidence), local_reply=second_sentence)(
        request(include=query_include)
    )

    [fact] = located.key_facts
    [cited] = fact.citations
    begins = 1000 + chunk(cited.chunk_id).text.index("It says")
    assert cited.model_dump() == {
        "chunk_id": cited.chunk_id,
        "span": cited.span,
        "document_name": cited.document_name,
        "document_id": "a/b.md",
        "page": "iv",
        "heading": "A > B",
        "place": "3 of 9",
        "start": begins,
        "end": begins + len(cited.span),
        "source_uri": "https://a.example/b",
    }
    [[bare]] = [fact.citations for fact in plain.key_facts]
    assert list(bare.model_dump()) == ["chunk_id", "span", "document_name"]
    fact.citations = [bare]
    assert located.to_json() == plain.to_json()


async def test_what_is_not_known_of_a_location_is_left_out() -> None:
    response = await run_of()(request(include=("locations",)))
    [[cited]] = [fact.citations for fact in response.key_facts]
    assert list(cited.model_dump()) == ["chunk_id", "span", "document_name"]


async def test_the_aggregator_is_told_what_was_proved_and_not_the_first_guess() -> None:
    run = run_of(primer_reply={**primer(FIRST, SECOND), "initial_answer": "A guess."})
    await run()
    [asked] = run.ports.chat.named("aggregate_reply")
    assert set(told(asked)) == {FIRST, SECOND}
    assert "A guess." not in asked.user


async def test_nothing_found_still_brings_what_was_asked_to_be_included() -> None:
    everything = request(include=("trace", "usage", "verdict"))
    response = await run_of(StubGraph(PrimerEvidence()))(everything)
    assert (response.verdict.verdict, response.verdict.confidence) == ("not_found", 0)
    assert response.usage.chat_calls == 1
    assert response.trace.followups == []


@pytest.mark.parametrize(
    ("followup", "local_reply"),
    [(own_chunk, local("From memory.", cited=())), (Evidence(), UnusableReplyError("never asked"))],
    ids=["nothing cited", "nothing found"],
)
async def test_without_any_fact_the_aggregator_is_not_asked_and_nothing_is_claimed(
    followup: Any, local_reply: Any
) -> None:
    run = run_of(StubGraph(FOUND, followup), local_reply=local_reply)
    response = await run(request(include=("verdict",)))
    assert not run.ports.chat.named("aggregate_reply")
    assert response.final_answer == "The documents do not answer this question."
    assert response.key_facts == []
    assert "No statement could be backed by a citation." in response.residual_uncertainty
    assert (response.verdict.verdict, response.verdict.confidence) == ("not_found", 0)
    assert run.sink.phases[-1] == "completed"
