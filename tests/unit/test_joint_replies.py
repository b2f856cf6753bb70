"""Follow-ups that one call answers together, and what happens when its reply leaves some out."""

from __future__ import annotations

from typing import Any

import pytest

from drift.core.errors import ModelUnavailableError
from drift.model.calls import Prompt
from drift.model.graph import Beside, Evidence, FollowupQuery
from tests.fakes import StubGraph, chunk
from tests.unit.searching import (
    FIRST,
    FOUND,
    SECOND,
    THIRD,
    TRACED,
    asked_before,
    asked_in,
    chunks_of,
    cites_what_it_sees,
    followups_of,
    local,
    primer,
    run_of,
    states,
    told,
)

SHARED = Evidence(tuple(chunk(name) for name in "abc"))
LONG = "A sentence that says something. " * 80
"""Longer than what is shown again."""


def same_chunks(_query: FollowupQuery) -> Evidence:
    return SHARED


async def test_siblings_that_found_the_same_are_one_call_with_an_answer_each() -> None:
    def answers(prompt: Prompt) -> dict[str, Any]:
        return local(
            f"About {asked_in(prompt)}", cited=["K1" if asked_in(prompt) == FIRST else "K2"]
        )

    run = run_of(StubGraph(FOUND, same_chunks), local_reply=answers)
    response = await run(TRACED)

    assert states(response) == {FIRST: "answered", SECOND: "answered"}
    [asked] = run.ports.chat.named("joint_reply")
    assert not run.ports.chat.named("local_reply")
    assert [(row["id"], row.content) for row in followups_of(asked)] == [
        ("Q1", FIRST),
        ("Q2", SECOND),
    ]
    assert [row["id"] for row in chunks_of(asked)] == ["K1", "K2", "K3"]
    [aggregated] = run.ports.chat.named("aggregate_reply")
    assert told(aggregated) == {FIRST: f"About {FIRST}", SECOND: f"About {SECOND}"}
    answered = [m for m in run.sink.messages if m["thought_summary"].startswith("Answered")]
    assert len(answered) == 2


async def test_with_one_follow_up_a_prompt_each_is_asked_alone() -> None:
    run = run_of(StubGraph(FOUND, same_chunks))
    run.limits = type(run.limits)(max_followups_per_prompt=1)
    await run()
    assert len(run.ports.chat.named("local_reply")) == 2


@pytest.mark.parametrize(
    "reply",
    [
        "no JSON at all",
        {"answers": [{"followup": "Q1"}, {"followup": "Q2", "answer": None, "confidence": "?"}]},
    ],
)
async def test_a_joint_reply_that_cannot_be_used_has_each_asked_alone(reply: Any) -> None:
    run = run_of(StubGraph(FOUND, same_chunks), joint_reply=reply)
    response = await run(TRACED)
    assert states(response) == {FIRST: "answered", SECOND: "answered"}
    assert sorted(asked_in(p) for p in run.ports.chat.named("local_reply")) == [SECOND, FIRST]


@pytest.mark.parametrize(
    "answers",
    [
        [{"followup": "Q1", **local()}, {"followup": "Q7", **local()}],
        [{"followup": "Q1", **local()}, {"followup": "Q2", "confidence": "many"}],
        {"followup": "Q1", **local()},
    ],
)
async def test_what_a_joint_reply_leaves_out_is_asked_alone(answers: Any) -> None:
    run = run_of(StubGraph(FOUND, same_chunks), joint_reply={"answers": answers})
    response = await run(TRACED)
    assert states(response) == {FIRST: "answered", SECOND: "answered"}
    assert [asked_in(p) for p in run.ports.chat.named("local_reply")] == [SECOND]


async def test_answers_without_names_are_taken_in_order() -> None:
    answers = [local("The first."), local("The second.")]
    run = run_of(StubGraph(FOUND, same_chunks), joint_reply={"answers": answers})
    await run()
    [asked] = run.ports.chat.named("aggregate_reply")
    assert told(asked) == {FIRST: "The first.", SECOND: "The second."}


async def test_a_call_that_fails_loses_the_follow_ups_that_it_was_for_and_no_others() -> None:
    def found(query: FollowupQuery) -> Evidence:
        return Evidence((chunk("own"),)) if query.question == THIRD else SHARED

    run = run_of(
        StubGraph(FOUND, found),
        primer_reply=primer(FIRST, SECOND, THIRD),
        joint_reply=ModelUnavailableError("gone"),
    )
    response = await run(TRACED)
    assert states(response) == {
        FIRST: "failed: model_unavailable",
        SECOND: "failed: model_unavailable",
        THIRD: "answered",
    }


async def test_a_later_follow_up_reads_new_chunks_and_what_is_settled() -> None:
    def found(query: FollowupQuery) -> Evidence:
        names = ("known", "new") if query.question == SECOND else ("known",)
        return Evidence(tuple(chunk(name, f"{name}: {LONG}") for name in names))

    def answers(prompt: Prompt) -> dict[str, Any]:
        if asked_in(prompt) == FIRST:
            return local("The first answer.", more=[SECOND])
        cited = ["K2", "K1"] if asked_in(prompt) == SECOND else ["K1"]
        return local("The second answer.", cited=cited)

    run = run_of(StubGraph(FOUND, found), primer_reply=primer(FIRST), local_reply=answers)
    run.ports.embedder.calls.clear()
    response = await run(TRACED)
    later = next(p for p in run.ports.chat.named("local_reply") if asked_in(p) == SECOND)

    [row] = chunks_of(later)
    assert row["id"] == "K2"
    assert row.sentences()[1].startswith("new:")
    settled = asked_before(later)[FIRST]
    _, said, evidence = settled.lines()
    assert said == "The first answer."
    # What is settled is called as it was called when it was shown.
    [first] = run.ports.chat.named("joint_reply")
    [before] = chunks_of(first)
    handle, _, span = evidence.partition(" ")
    assert handle.split(".")[0] == before["id"] == "K1"
    assert span in before.content

    # It can be cited again, though its chunk is not shown.
    assert response.trace.citations.kept == response.trace.citations.total
    [aggregated] = run.ports.chat.named("aggregate_reply")
    assert told(aggregated)[SECOND] == "The second answer."


async def test_what_cites_nothing_gets_one_second_look_at_further_chunks() -> None:
    evidence = Evidence(tuple(chunk(f"c{n}") for n in range(8)))

    def answers(prompt: Prompt) -> dict[str, Any]:
        first = len(chunks_of(prompt)) == 5
        return local("Unknown.", cited=()) if first else cites_what_it_sees(prompt)

    run = run_of(
        StubGraph(FOUND, lambda _q: evidence), primer_reply=primer(FIRST), local_reply=answers
    )
    run.limits = type(run.limits)(max_passes=1, max_followups=1)
    response = await run(TRACED)
    asked = run.ports.chat.named("local_reply")
    assert [len(chunks_of(p)) for p in asked] == [5, 3]
    assert response.trace.followups[0].chunk_ids == [f"c{n}" for n in range(8)]


@pytest.mark.parametrize(
    ("wish", "beside"),
    [
        ("after K2", (Beside("b", "after"),)),
        ("Before [K1].", (Beside("a", "before"),)),
        ("after K9", ()),
        (None, ()),
    ],
)
async def test_an_executor_asks_for_what_follows_or_precedes_a_chunk(
    wish: object, beside: tuple[Beside, ...]
) -> None:
    def answers(prompt: Prompt) -> dict[str, Any]:
        reply = local(more=[SECOND] if asked_in(prompt) == FIRST else ())
        for proposed in reply["new_followups"]:
            proposed["beside"] = wish
        return reply

    run = run_of(
        StubGraph(FOUND, same_chunks), primer_reply=primer(FIRST, THIRD), local_reply=answers
    )
    await run()
    [asked] = [q for q in run.ports.graph.followups if q.question == SECOND]
    assert asked.beside == beside
