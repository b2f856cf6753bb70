"""The story of one request, with a scripted model and a stub of the graph."""

import json
from typing import Any

from drift.core.deadline import Deadline
from drift.local.prompt_elements import Element, element, elements
from drift.model.calls import Prompt
from drift.model.graph import Evidence, FollowupQuery, PrimerEvidence
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fakes import ScriptedChat, StubGraph, chunk, ports, vector_of
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


def first_leads_to_third(prompt: Prompt) -> dict[str, Any]:
    """Return the reply of a model that has one more question when it is asked the first."""
    more = [THIRD] if asked_in(prompt) == FIRST else []
    return cites_what_it_sees(prompt, *more)


# ---------------------------------------------------------------------------------- the whole story
async def test_two_passes_from_the_question_to_a_cited_answer() -> None:
    run = run_of(local_reply=first_leads_to_third, aggregate_reply=aggregated(1, 2, 3, doubt="?"))
    response = await run(TRACED)
    graph, chat, embedder = run.ports.graph, run.ports.chat, run.ports.embedder

    assert response.final_answer == "The answer 0. The answer 1. The answer 2."
    assert response.residual_uncertainty == "?"
    cited = {fact.fact: [c.chunk_id for c in fact.citations] for fact in response.key_facts}
    assert cited == {
        "The answer 0.": [f"chunk of {FIRST}"],
        "The answer 1.": [f"chunk of {THIRD}"],
        "The answer 2.": [f"chunk of {SECOND}"],
    }
    assert {c.document_name for fact in response.key_facts for c in fact.citations} == {
        "Who",
        "Where",
        "When",
    }
    assert embedder.calls == [("What is asked?\nA paragraph.",), (FIRST, SECOND), (THIRD,)]
    assert graph.primers[0].vector == vector_of("What is asked?\nA paragraph.")
    assert [(q.question, q.communities, q.vector) for q in graph.followups] == [
        ("What is asked?", (), vector_of("What is asked?\nA paragraph.")),
        (FIRST, (7,), vector_of(FIRST)),
        (SECOND, (7,), vector_of(SECOND)),
        (THIRD, (), vector_of(THIRD)),
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
    def one_sentence(query: FollowupQuery) -> Evidence:
        first, name, *_ = query.question.split()
        return Evidence((chunk(query.question, f"One who {name} is known.", first),))

    run = run_of(StubGraph(FOUND, one_sentence), aggregate_reply=aggregated(1, 2, 1))
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
    begun, found = by_phase["retrieving_communities"]
    assert "details_md" not in begun
    assert found["details_md"] == "- Summary of 7\n- Summary of x"
    followups = by_phase["executing_followup"]
    started = [m for m in followups if m["thought_summary"].startswith("Looking into: ")]
    answered = [m for m in followups if m["thought_summary"].startswith("Answered: ")]
    assert len(started) + len(answered) == len(followups) == 4
    assert all("details_md" not in m for m in started)
    assert [m["details_md"] for m in answered] == [
        '[Who] "One who made is known."',
        '[Where] "One who does is known."',
    ]
    assert answered[-1]["progress_pct"] == 80
    assert by_phase["aggregating_results"][0]["details_md"] == "Who, Where"
    assert by_phase["completed"][0]["details_md"] == "[Who], [Where]"


async def test_a_follow_ups_chain_is_as_long_as_those_that_led_to_it() -> None:
    clock = iter(range(10_000))
    deadline = Deadline.after(9_000, lambda: next(clock))
    run = run_of(local_reply=first_leads_to_third)
    async with Progress("p", "r") as progress:
        search = DriftSearch(run.ports, run.limits)
        response = await search.retrieve(TRACED, progress, deadline)

    seconds = {node.question: node.seconds for node in response.trace.followups}
    chain = max(seconds[FIRST] + seconds[THIRD], seconds[SECOND])
    assert min(seconds.values()) >= 1
    assert chain <= response.usage.critical_path_seconds < chain + 1


async def test_a_chunk_has_one_handle_in_all_prompts_of_a_request() -> None:
    def found(query: FollowupQuery) -> Evidence:
        names = {FIRST: "ab", SECOND: "cdefg", THIRD: "hcb"}
        return Evidence(tuple(chunk(name) for name in names.get(query.question, "b")))

    run = run_of(StubGraph(FOUND, found), local_reply=first_leads_to_third)
    await run()
    asked = run.ports.chat.named("local_reply")
    assert len(asked) == 3
    shown = {(row["id"], row.content) for prompt in asked for row in chunks_of(prompt)}
    assert len({handle for handle, _ in shown}) == len({text for _, text in shown}) == len(shown)


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


async def test_a_project_without_communities_is_answered_from_its_chunks() -> None:
    def found(query: FollowupQuery) -> Evidence:
        is_own = query.question == "What is asked?"
        return Evidence((chunk("loose", "Loose text."),)) if is_own else own_chunk(query)

    run = run_of(StubGraph(PrimerEvidence(), found))
    response = await run()
    assert response.no_data_found is None
    assert response.key_facts
    [asked] = run.ports.chat.named("primer_reply")
    sample = Element({"id": "P1", "document": "doc"}, "Loose text.")
    assert elements(asked.user, "sample") == [sample]
    assert {q.communities for q in run.ports.graph.followups} == {()}


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
    run = run_of(graph, primer_reply=primer(FIRST), local_reply=first_leads_to_third)
    response = await run(TRACED)
    assert states(response)[THIRD] == "skipped: enough"
    assert THIRD not in [asked_in(p) for p in run.ports.chat.named("local_reply")]


async def test_the_third_pass_does_not_happen_and_the_second_is_asked_for_none() -> None:
    more = {FIRST: [SECOND], SECOND: [THIRD]}
    run = run_of(
        primer_reply=primer(FIRST),
        local_reply=lambda p: cites_what_it_sees(p, *more.get(asked_in(p), ())),
    )
    response = await run(TRACED)
    assert states(response)[SECOND] == "answered"
    assert states(response)[THIRD] == "skipped: enough"
    fields = {asked_in(p): p.schema["properties"] for p in run.ports.chat.named("local_reply")}
    assert "new_followups" in fields[FIRST]
    assert "new_followups" not in fields[SECOND]


async def test_of_a_primer_six_follow_ups_are_asked_at_most_and_three_of_a_follow_up() -> None:
    many = [f"word{n} thing{n}?" for n in range(9)]
    more = [f"other{n} matter{n}?" for n in range(5)]

    def local_reply(prompt: Prompt) -> dict[str, Any]:
        return cites_what_it_sees(prompt, *(more if asked_in(prompt) == many[0] else ()))

    chat = ScriptedChat(script(primer_reply=primer(*many), local_reply=local_reply))
    run = Run(ports(StubGraph(FOUND, own_chunk), chat), max_followups=50)
    response = await run(TRACED)
    told = states(response)
    assert list(told) == [*many, *more]
    skipped = [question for question, state in told.items() if state == "skipped: budget"]
    assert skipped == [*many[6:], *more[3:]]
    assert {state for question, state in told.items() if question not in skipped} == {"answered"}


async def test_what_no_evidence_bears_out_is_not_asked_and_stands_in_the_trace() -> None:
    def answers(prompt: Prompt) -> dict[str, Any]:
        first = asked_in(prompt) == FIRST
        return local(cited=(), more=[THIRD]) if first else cites_what_it_sees(prompt)

    response = await run_of(local_reply=answers)(TRACED)
    assert states(response)[THIRD] == "skipped: unproven"


# ----------------------------------------------------------------------------------------- deadline


async def test_what_the_primer_chose_of_the_candidates_is_read_first() -> None:
    own = {"What is asked?": "abcdefgh", FIRST: "xyfgh"}

    def found(query: FollowupQuery) -> Evidence:
        return Evidence(tuple(chunk(name) for name in own.get(query.question, "z")))

    followups = proposals(FIRST, SECOND)
    followups[0]["read"] = ["P8", "P3", "P99", "", "P8"]
    run = run_of(StubGraph(FOUND, found), primer_reply={"followups": followups})
    await run()
    [primed] = run.ports.chat.named("primer_reply")
    samples = [sample["id"] for sample in elements(primed.user, "sample")]
    lines = element(primed.user, "candidates").lines()
    assert samples == [f"P{n}" for n in range(1, 6)]
    assert [line.partition("|")[0] for line in lines] == ["P6", "P7", "P8"]
    shown = {
        asked_in(prompt): [row.sentences()[1][-2] for row in chunks_of(prompt)]
        for prompt in run.ports.chat.named("local_reply")
    }
    assert shown == {FIRST: list("hcxyf"), SECOND: ["z"]}


async def test_a_name_that_looks_like_a_handle_stays_where_a_candidate_says_it() -> None:
    said = chunk("a", "P2 is a protein, and P53 too.")
    asked = "What does P2 regulate, as P1 says?"
    run = run_of(
        StubGraph(FOUND, Evidence((said, chunk("b")))),
        primer_reply={"followups": proposals(asked, SECOND)},
    )
    response = await run(TRACED)
    assert list(states(response)) == ["What does P2 regulate, as says?", SECOND]


async def test_a_question_with_passages_of_its_own_is_no_repetition() -> None:
    followups = proposals("Where was Ada born?", "Where was Ada born?", "Where was Ada born?")
    followups[1]["read"], followups[2]["read"] = ["P1"], ["P1"]
    run = run_of(primer_reply={"followups": followups})
    response = await run(TRACED)
    assert [node.state for node in response.trace.followups] == ["answered", "answered", "merged"]
