"""The story of one request, with a scripted model and a stub of the graph."""

import asyncio
import json
from typing import Any

import pytest

from drift.errors import (
    DeadlineError,
    UnusableReplyError,
)
from drift.progress import Progress
from drift.search import DriftSearch
from drift.tasks import Deadline
from drift.values.calls import Prompt
from drift.values.graph import Evidence, FollowupQuery, PrimerEvidence
from tests.fakes import (
    ScriptedChat,
    StubGraph,
    chunk,
    ports,
    request,
    vector_of,
)
from tests.story.searching import (
    FIRST,
    FOUND,
    SECOND,
    THIRD,
    TRACED,
    Run,
    aggregated,
    asked_in,
    block,
    local,
    own_chunk,
    primer,
    run_of,
    script,
    states,
)
from tests.virtual_time import in_virtual_time


# ---------------------------------------------------------------------------------- the whole story
async def test_two_passes_from_the_question_to_a_cited_answer() -> None:
    def local_reply(prompt: Prompt) -> dict[str, Any]:
        return local(more=[THIRD] if asked_in(prompt) == FIRST else ())

    run = run_of(
        local_reply=local_reply, aggregate_reply=aggregated("K1", "K2", "K3", doubt="Some.")
    )
    response = await run(TRACED)
    graph, chat, embedder = run.ports.graph, run.ports.chat, run.ports.embedder

    assert (response.final_answer, response.residual_uncertainty) == ("The answer.", "Some.")
    assert [[c.chunk_id for c in fact.citations] for fact in response.key_facts] == [
        [f"chunk of {FIRST}"],
        [f"chunk of {SECOND}"],
        [f"chunk of {THIRD}"],
    ]
    assert {c.document_name for fact in response.key_facts for c in fact.citations} == {
        "Who",
        "Where",
        "When",
    }
    assert embedder.calls == [("What is asked?\nA paragraph.",), (FIRST, SECOND), (THIRD,)]
    assert graph.primers[0].vector == vector_of("What is asked?\nA paragraph.")
    assert [(q.question, q.communities, q.vector) for q in graph.followups] == [
        (FIRST, (7,), vector_of(FIRST)),
        (SECOND, (7,), vector_of(SECOND)),
        (THIRD, ("x",), vector_of(THIRD)),
    ]
    assert [p.name for p in chat.prompts] == [
        "hypothesis",
        "primer_reply",
        *["local_reply"] * 3,
        "aggregate_reply",
    ]
    assert [(n.id, n.parent, n.pass_, n.state) for n in response.trace.followups] == [
        (0, None, 1, "answered"),
        (1, None, 1, "answered"),
        (2, 0, 2, "answered"),
    ]


async def test_progress_passes_every_phase_in_order_and_shows_the_citations() -> None:
    run = run_of(aggregate_reply=aggregated("K1", "K2", "K1"))
    await run()
    messages = run.sink.messages
    assert list(dict.fromkeys(run.sink.phases)) == [
        "initializing",
        "expanding_query",
        "retrieving_communities",
        "executing_followup",
        "aggregating_results",
        "completed",
    ]
    percentages = [m["progress_pct"] for m in messages]
    assert percentages == sorted(percentages)
    by_phase = {phase: [m for m in messages if m["phase"] == phase] for phase in run.sink.phases}
    assert [by_phase[p][0]["progress_pct"] for p in by_phase] == [0, 20, 40, 40, 90, 100]
    assert by_phase["retrieving_communities"][0]["details_md"] == "- Summary of 7\n- Summary of x"
    followups = by_phase["executing_followup"]
    started = [m for m in followups if m["thought_summary"].startswith("Looking into: ")]
    answered = [m for m in followups if m["thought_summary"].startswith("Answered: ")]
    assert len(started) + len(answered) == len(followups) == 4
    assert all("details_md" not in m for m in started)
    assert [m["details_md"] for m in answered] == [
        f'[Who] "It says a thing about chunk of {FIRST}."',
        f'[Where] "It says a thing about chunk of {SECOND}."',
    ]
    assert answered[-1]["progress_pct"] == 80
    assert by_phase["aggregating_results"][0]["details_md"] == "Who, Where"
    assert by_phase["completed"][0]["details_md"] == "[Who], [Where]"


async def test_usage_counts_every_call_by_phase() -> None:
    response = await run_of()(TRACED)
    usage = response.usage
    assert usage
    assert (usage.chat_calls, usage.embedding_calls, usage.graph_round_trips) == (5, 2, 3)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (50 + 3, 10, 5)
    assert {name: phase.chat_calls for name, phase in usage.phases.items()} == {
        "expanding_query": 1,
        "retrieving_communities": 1,
        "executing_followup": 2,
        "aggregating_results": 1,
    }
    assert 0 <= usage.critical_path_seconds <= usage.wall_seconds


async def test_a_hypothesis_that_cannot_be_used_is_a_call_too() -> None:
    run = run_of(hypothesis=UnusableReplyError("refused"))
    response = await run(TRACED)
    assert response.usage
    assert response.usage.chat_calls == len(run.ports.chat.prompts) == 5
    assert response.usage.phases["expanding_query"].chat_calls == 1


async def test_a_follow_ups_chain_is_as_long_as_those_that_led_to_it() -> None:
    clock = iter(range(10_000))
    deadline = Deadline.after(9_000, lambda: next(clock))
    run = run_of(local_reply=lambda p: local(more=[THIRD] if asked_in(p) == FIRST else ()))
    async with Progress("p", "r") as progress:
        search = DriftSearch(run.ports, run.limits)
        response = await search.retrieve(TRACED, progress, deadline)

    assert response.trace
    assert response.usage
    seconds = {node.question: node.seconds for node in response.trace.followups}
    chain = max(seconds[FIRST] + seconds[THIRD], seconds[SECOND])
    assert min(seconds.values()) >= 1
    assert chain <= response.usage.critical_path_seconds < chain + 1


async def test_usage_and_trace_come_only_when_asked_for() -> None:
    plain = await run_of()()
    assert (plain.usage, plain.trace) == (None, None)
    only = await run_of()(request(include=("trace",)))
    assert only.usage is None
    assert only.trace
    assert only.trace.communities == [7, "x"]
    assert (
        only.trace.citations.total,
        only.trace.citations.kept,
        only.trace.citations.repaired,
    ) == (2, 2, 2)
    assert only.trace.followups[0].chunk_ids == [f"chunk of {FIRST}"]
    assert only.trace.followups[0].target_communities == [7]


async def test_no_prompt_holds_a_real_id() -> None:
    run = run_of(
        StubGraph(
            FOUND,
            lambda _q: Evidence((chunk("real-id-1", "Text."), chunk("real-id-2", "More."))),
        )
    )
    await run()
    assert not [p for p in run.ports.chat.prompts if "real-id" in p.user]


# ---------------------------------------------------------------------- nothing found, little found
async def test_an_empty_project_is_an_answer_with_progress_completed() -> None:
    run = run_of(StubGraph(PrimerEvidence()))
    response = await run()
    assert json.loads(response.to_json()) == {
        "final_answer": "",
        "key_facts": [],
        "residual_uncertainty": "",
        "no_data_found": True,
    }
    assert run.sink.phases[-1] == "completed"
    assert [p.name for p in run.ports.chat.prompts] == ["hypothesis"]


async def test_nothing_found_still_brings_what_was_asked_to_be_included() -> None:
    response = await run_of(StubGraph(PrimerEvidence()))(TRACED)
    assert response.usage
    assert response.usage.chat_calls == 1
    assert response.trace
    assert response.trace.followups == []


async def test_a_project_without_communities_is_answered_from_its_chunks() -> None:
    run = run_of(StubGraph(PrimerEvidence(chunks=(chunk("loose", "Loose text."),)), own_chunk))
    response = await run()
    assert response.no_data_found is None
    assert response.key_facts
    [asked] = run.ports.chat.named("primer_reply")
    assert block(asked, "Sample chunks") == [
        {"id": "K1", "community": None, "document": "doc", "text": "Loose text."}
    ]
    assert [q.communities for q in run.ports.graph.followups] == [(), ()]


async def test_a_follow_up_without_chunks_is_not_sent_to_the_model() -> None:
    graph = StubGraph(FOUND, lambda q: Evidence() if q.question == FIRST else own_chunk(q))
    run = run_of(graph)
    response = await run(TRACED)
    assert states(response) == {FIRST: "no_evidence", SECOND: "answered"}
    assert len(run.ports.chat.named("local_reply")) == 1


async def test_a_follow_up_that_finds_only_what_was_answered_from_is_not_sent_to_the_model() -> (
    None
):
    graph = StubGraph(FOUND, Evidence((chunk("same"),)))
    reply = [local(more=[THIRD]), local()]
    run = run_of(graph, primer_reply=primer(FIRST), local_reply=lambda _p: reply.pop(0))
    response = await run(TRACED)
    assert states(response)[THIRD] == "skipped: enough"
    assert THIRD not in [asked_in(p) for p in run.ports.chat.named("local_reply")]


async def test_near_duplicates_reach_neither_graph_nor_model() -> None:
    run = run_of(primer_reply=primer(FIRST, "who MADE alpha", SECOND))
    response = await run(TRACED)
    assert states(response) == {FIRST: "answered", "who MADE alpha": "merged", SECOND: "answered"}
    assert [q.question for q in run.ports.graph.followups] == [FIRST, SECOND]
    assert run.ports.embedder.calls[1] == (FIRST, SECOND)


async def test_the_third_pass_does_not_happen() -> None:
    more = {FIRST: [SECOND], SECOND: [THIRD]}
    run = run_of(
        primer_reply=primer(FIRST), local_reply=lambda p: local(more=more.get(asked_in(p), ()))
    )
    response = await run(TRACED)
    assert states(response)[SECOND] == "answered"
    assert states(response)[THIRD] == "skipped: enough"


async def test_the_budget_of_follow_ups_holds() -> None:
    run = Run(ports(StubGraph(FOUND, own_chunk), ScriptedChat(script())), max_followups=1)
    response = await run(TRACED)
    assert states(response) == {FIRST: "answered", SECOND: "skipped: budget"}


async def test_a_primer_proposes_six_follow_ups_at_most_and_a_follow_up_three() -> None:
    many = [f"word{n} thing{n}?" for n in range(9)]
    more = [f"other{n} matter{n}?" for n in range(5)]
    replies = {"local_reply": lambda p: local(more=more if asked_in(p) == many[0] else ())}
    chat = ScriptedChat(script(primer_reply=primer(*many), **replies))
    run = Run(ports(StubGraph(FOUND, own_chunk), chat), max_followups=50)
    response = await run(TRACED)
    assert list(states(response)) == [*many[:6], *more[:3]]


# -------------------------------------------------------------------------------------- concurrency
def test_a_follow_ups_own_follow_up_does_not_wait_for_a_slow_sibling() -> None:
    child_answered = asyncio.Event()

    async def slow() -> dict[str, Any]:
        await child_answered.wait()
        return local()

    def local_reply(prompt: Prompt) -> Any:
        if asked_in(prompt) == SECOND:
            return slow()
        if asked_in(prompt) == THIRD:
            child_answered.set()
        return local(more=[THIRD] if asked_in(prompt) == FIRST else ())

    response = in_virtual_time(run_of(local_reply=local_reply)(TRACED))
    assert states(response) == {FIRST: "answered", SECOND: "answered", THIRD: "answered"}


async def test_two_requests_at_once_do_not_mix() -> None:
    both_asked = asyncio.Barrier(2)

    async def meet(reply: dict[str, Any]) -> dict[str, Any]:
        await both_asked.wait()
        return reply

    def aggregate_reply(prompt: Prompt) -> Any:
        return meet(aggregated(final=f"About {block(prompt, 'User question')}"))

    def found_by(query: FollowupQuery) -> Evidence:
        return Evidence((chunk(f"{query.project_id} {query.question}"),))

    shared = ports(
        StubGraph(FOUND, found_by), ScriptedChat(script(aggregate_reply=aggregate_reply))
    )
    one, other = Run(shared), Run(shared)
    first, second = await asyncio.gather(one(request("one?", "p1")), other(request("other?", "p2")))
    assert (first.final_answer, second.final_answer) == ("About one?", "About other?")
    for response, project in ((first, "p1"), (second, "p2")):
        assert all(c.chunk_id.startswith(project) for f in response.key_facts for c in f.citations)
    assert (
        one.sink.phases.count("executing_followup")
        == other.sink.phases.count("executing_followup")
        == 4
    )


# ----------------------------------------------------------------------------------------- deadline
def test_at_three_quarters_of_the_time_the_answer_is_made_from_what_is_there() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    def local_reply(prompt: Prompt) -> Any:
        return (
            never()
            if asked_in(prompt) == SECOND
            else local(more=[THIRD] if asked_in(prompt) == FIRST else ())
        )

    run = run_of(local_reply=local_reply)
    run.deadline_s = 4
    response = in_virtual_time(run(TRACED))
    assert states(response) == {FIRST: "answered", SECOND: "skipped: deadline", THIRD: "answered"}
    assert "before 1 follow-up question(s) were answered" in response.residual_uncertainty
    assert response.key_facts
    assert run.sink.phases[-1] == "completed"


@pytest.mark.parametrize("step", ["hypothesis", "primer_reply", "local_reply", "aggregate_reply"])
async def test_a_model_that_never_answers_ends_with_the_deadline(step: str) -> None:
    async def never(_prompt: Prompt) -> None:
        await asyncio.Event().wait()

    run = run_of(**{step: never})
    run.deadline_s = 0.1
    with pytest.raises(DeadlineError):
        await run()
    assert run.sink.phases[-1] == "error"
    assert run.sink.phases.count("error") == 1


async def test_a_cancelled_request_cancels_its_calls_and_says_so() -> None:
    waiting, cancelled = asyncio.Event(), asyncio.Event()

    async def hanging(_prompt: Prompt) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    run = run_of(local_reply=hanging)
    task = asyncio.create_task(run())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()
    assert run.sink.phases[-1] == "error"
    assert "cancelled" in run.sink.messages[-1]["details_md"]
