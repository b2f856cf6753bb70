"""A search whose model, graph or citations are bad: what it costs, and what the answer says."""

from collections.abc import Sequence
from typing import Any

import pytest

from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphTimeoutError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.local.prompt_elements import elements
from drift.model.calls import Prompt
from drift.model.graph import Chunk, Evidence, FollowupQuery
from tests.fakes import HashingEmbedder, ScriptedChat, StubGraph, chunk, ports
from tests.unit.searching import (
    FIRST,
    FOUND,
    SECOND,
    THIRD,
    TRACED,
    Run,
    aggregated,
    asked_in,
    chunks_of,
    cites_what_it_sees,
    local,
    own_chunk,
    primer,
    proposals,
    run_of,
    script,
    states,
)


# -------------------------------------------------------------------------------------- bad replies
@pytest.mark.parametrize(
    "reply", ["no JSON at all", UnusableReplyError("refused")], ids=["no JSON", "refused"]
)
async def test_without_usable_replies_the_question_itself_is_searched_and_followed(
    reply: Any,
) -> None:
    run = run_of(primer_reply=reply, hypothesis=UnusableReplyError("refused"))
    response = await run(TRACED)
    assert states(response) == {"What is asked?": "answered"}
    assert run.ports.graph.followups[1].communities == (7, "x")
    assert run.ports.embedder.calls[0] == ("What is asked?",)


async def test_a_hypothesis_without_an_end_is_cut_before_it_is_embedded() -> None:
    run = run_of(hypothesis="so " * 10_000)
    await run()
    (text,) = run.ports.embedder.calls[0]
    assert len(text) < 5000


async def test_a_primer_with_one_follow_up_also_follows_the_question_itself() -> None:
    response = await run_of(primer_reply=primer(FIRST))(TRACED)
    assert list(states(response)) == [FIRST, "What is asked?"]


async def test_communities_that_do_not_exist_are_left_out() -> None:
    reply = {"followups": proposals(FIRST, SECOND, communities=["C9", "C2", "7", "C2"])}
    run = run_of(primer_reply=reply)
    await run()
    assert run.ports.graph.followups[1].communities == ("x", 7)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ("no JSON", "unusable_reply"),
        (ModelUnavailableError("down"), "model_unavailable"),
        (GraphTimeoutError("slow"), "graph_unavailable"),
        (GraphMisconfiguredError("zero"), "graph_misconfigured"),
    ],
    ids=["no JSON", "unavailable", "slow", "zero"],
)
async def test_one_bad_follow_up_loses_only_itself_and_the_answer_says_so(
    failure: Any, code: str
) -> None:
    is_of_graph = code.startswith("graph")

    def local_reply(prompt: Prompt) -> Any:
        fails = asked_in(prompt) == FIRST and not is_of_graph
        return failure if fails else cites_what_it_sees(prompt)

    def followup(query: FollowupQuery) -> Any:
        return failure if query.question == FIRST and is_of_graph else own_chunk(query)

    run = run_of(StubGraph(FOUND, followup), local_reply=local_reply)
    response = await run(TRACED)
    assert states(response) == {FIRST: f"failed: {code}", SECOND: "answered"}
    assert "1 follow-up question(s) could not be answered" in response.residual_uncertainty
    assert run.sink.phases[-1] == "completed"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelUnavailableError("busy"), "model_unavailable"),
        (UnusableReplyError("content_filter"), "unusable_reply"),
    ],
    ids=["busy", "filtered"],
)
async def test_a_wave_that_cannot_be_embedded_is_lost_with_its_follow_ups_only(
    error: DriftError, code: str
) -> None:
    def failure(texts: Sequence[str]) -> Exception | None:
        return error if texts == [THIRD] else None

    def local_reply(prompt: Prompt) -> dict[str, Any]:
        return cites_what_it_sees(prompt, *([THIRD] if asked_in(prompt) == FIRST else []))

    response = await run_of(None, HashingEmbedder(failure), local_reply=local_reply)(TRACED)
    assert states(response) == {FIRST: "answered", SECOND: "answered", THIRD: f"failed: {code}"}


# ---------------------------------------------------------------------------------------- citations
async def test_sentences_that_name_no_fact_are_left_out_and_said() -> None:
    said = [["It is cited.", 1], ["It is free."], ["It is bare."], ["It is of no fact.", 9]]
    response = await run_of(aggregate_reply={**aggregated(), "sentences": said})()
    assert response.final_answer == "It is cited."
    assert [f.fact for f in response.key_facts] == ["It is cited."]
    assert "3 statement(s) without any evidence were left out." in response.residual_uncertainty


async def test_a_citation_of_a_chunk_that_did_not_fit_the_prompt_holds() -> None:
    many = tuple(chunk(f"c{n}") for n in range(4))
    graph = StubGraph(FOUND, Evidence(many))
    chat = ScriptedChat(script(local_reply=local(cited=["c3", "c2", "elsewhere"])))
    run = Run(ports(graph, chat), max_chunks_for_prompt=2, max_followups=1)
    response = await run(TRACED)
    assert response.trace.citations.kept == 2
    assert response.trace.citations.dropped == {"unmatched_chunk_id": 1}
    [asked] = chat.named("local_reply")
    assert [row["id"] for row in chunks_of(asked)] == ["K1", "K2"]
    assert [" ".join(row.sentences().values()) for row in chunks_of(asked)] == [
        c.text for c in many[:2]
    ]
    assert response.key_facts[0].citations[0].chunk_id == "c3"


async def test_a_handle_names_the_chunk_that_stands_under_it_in_the_prompt() -> None:
    late = Chunk("late", "It says a thing, late.", "doc", place=8, places=9)
    early = Chunk("early", "It says a thing, early.", "doc", place=2, places=9)
    chat = ScriptedChat(script(local_reply=cites_what_it_sees))
    run = Run(ports(StubGraph(FOUND, Evidence((late, early))), chat), max_followups=1)
    response = await run(TRACED)
    [asked] = chat.named("local_reply")
    assert chunks_of(asked)[0].sentences() == {1: early.text}
    assert response.key_facts[0].citations[0].chunk_id == "early"
    assert response.trace.followups[0].chunk_ids == ["late", "early"]


@pytest.mark.parametrize(
    ("written", "cited"), [("K1, K2", ["a", "b"]), ("K2 and K1", ["b", "a"]), ("K9, K2", ["b"])]
)
async def test_a_citation_that_names_several_chunks_or_in_brackets_is_understood(
    written: str, cited: list[str]
) -> None:
    evidence = Evidence((chunk("a", "Ann did it."), chunk("b", "Bob did it.")))
    chat = ScriptedChat(script(local_reply=local(cited=[written])))
    run = Run(ports(StubGraph(FOUND, evidence), chat), max_followups=1)
    response = await run(TRACED)
    numbers = range(1, len(cited) + 1)
    [asked] = chat.named("aggregate_reply")
    facts = [line for finding in elements(asked.user, "finding") for line in finding.lines()[2:]]
    said = {"a": "Ann did it.", "b": "Bob did it."}
    assert facts == [f"[{n}] {said[c]} (doc)" for n, c in zip(numbers, cited, strict=True)]
    assert response.trace.citations.kept == len(cited)


async def test_a_chunk_of_another_follow_up_cannot_be_cited_before_it_is_settled() -> None:
    response = await run_of(local_reply=local(cited=["K1"]))(TRACED)
    first, second, *_ = response.trace.followups
    assert (first.verdict, second.verdict) == ("answered", "not_found")
    assert response.trace.citations.dropped == {"unmatched_chunk_id": 1}
