"""What a caller lets one request use: bounds that end a search, and an answer that says which."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import RetrieveRequest
from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, InvalidRequestError, OutOfTokensError
from drift.http.http import parse
from drift.model.calls import ChatReply, Prompt, Tokens
from drift.ports import Ports
from drift.prompting.budget import cost_of
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fake_service import fake_service
from tests.fakes import ListSink, ScriptedChat, StubGraph, allowed, ports, request
from tests.unit.searching import (
    FOUND,
    Run,
    aggregated,
    cites_what_it_sees,
    own_chunk,
    primer,
    run_of,
    script,
    states,
)
from tests.unit.test_quick import quick
from tests.unit.test_rag import Slot

FOUR = primer("Who made alpha?", "Where is beta?", "When was gamma found?", "Why is delta so?")
TOO_LITTLE = {"verdict": "partly", "residual_uncertainty": "The rest."}


class Measured(ScriptedChat):
    """A model that reports the tokens of its prompts, and replies of so many."""

    def __init__(self, script: Any, completion: int) -> None:
        super().__init__(script)
        self.completion = completion

    async def _reply(self, prompt: Prompt, hear: Any) -> ChatReply:
        reply = await super()._reply(prompt, hear)
        return replace(reply, tokens=Tokens(cost_of(prompt), self.completion))


def limited(
    depth: str = "drift", include: tuple[str, ...] = ("trace", "usage"), **limits: Any
) -> Any:
    return request(depth=depth, include=include, limits=limits)


def run(completion: int = 12, **replies: Any) -> Run:
    chat = Measured(script(**{"quick_reply": quick(), **replies}), completion)
    return Run(ports(StubGraph(FOUND, own_chunk), chat))


def ends(answered: RetrieveResponse) -> str | None:
    """Return which limit an answer says ended it, in both of its ways."""
    said = answered.ended_by and f"The limit {answered.ended_by} of this request ended the search."
    assert answered.residual_uncertainty.endswith(said or "")
    assert (said is None) == ("of this request ended" not in answered.residual_uncertainty)
    assert ("ended_by" in json.loads(answered.to_json())) == bool(said)
    return answered.ended_by


# --------------------------------------------------------------------------------------- followups
@pytest.mark.parametrize(("most", "asked", "ended"), [(1, 1, True), (3, 3, True), (50, 4, False)])
async def test_no_more_followups_are_asked_than_the_caller_lets(
    most: int, asked: int, ended: bool
) -> None:
    answered = await run(primer_reply=FOUR)(limited(max_followups=most))
    answers = [state for state in states(answered).values() if state == "answered"]
    assert len(answers) == asked
    assert ends(answered) == ("max_followups" if ended else None)


async def test_the_settings_bound_of_followups_is_no_limit_of_the_caller() -> None:
    searching = run(primer_reply=FOUR)
    searching.limits = replace(searching.limits, max_followups=2)
    for limits in ({}, {"max_followups": 9}):
        answered = await searching(limited(**limits))
        assert list(states(answered).values()).count("answered") == 2
        assert ends(answered) is None


@pytest.mark.parametrize("depth", ["drift", "auto", "quick"])
@pytest.mark.parametrize("is_settled", [True, False])
async def test_without_followups_one_look_is_all(depth: str, is_settled: bool) -> None:
    reply = quick() if is_settled else {**quick(), **TOO_LITTLE}
    searching = run(quick_reply=reply)
    answered = await searching(limited(depth, max_followups=0))
    assert [prompt.name for prompt in searching.ports.chat.prompts] == ["quick_reply"]
    assert answered.trace.depth.asked == depth
    assert answered.trace.depth.used == "quick"
    assert answered.key_facts
    is_ended = depth != "quick" and not is_settled
    assert ends(answered) == ("max_followups" if is_ended else None)


# ------------------------------------------------------------------------------------------ tokens
@pytest.mark.parametrize(("most", "completion"), [(6_000, 100), (8_000, 900), (60_000, 900)])
async def test_no_call_begins_that_would_exceed_the_tokens(most: int, completion: int) -> None:
    searching = run(completion, primer_reply=FOUR, hypothesis="A paragraph.")
    searching.limits = replace(searching.limits, max_followups_per_prompt=1, hyde="always")
    answered = await searching(limited(max_tokens=most))
    prompts = searching.ports.chat.prompts
    assert sum(map(cost_of, prompts)) + completion * len(prompts) <= most
    assert len(prompts) == answered.usage.chat_calls
    assert prompts[-1].name == "aggregate_reply"
    skipped = list(states(answered).values()).count("skipped: tokens")
    assert bool(skipped) == (most < 60_000)
    assert ends(answered) == ("max_tokens" if skipped else None)
    assert answered.key_facts


async def test_findings_stand_where_no_tokens_are_left_for_the_last_call() -> None:
    def last_but_one(prompt: Prompt) -> dict[str, Any]:
        searching.ports.chat.completion = 4_000
        return cites_what_it_sees(prompt)

    searching = run(local_reply=last_but_one)
    answered = await searching(limited(max_tokens=8_000))
    assert answered.final_answer.startswith("It is so.")
    assert answered.key_facts
    assert ends(answered) == "max_tokens"
    assert not searching.ports.chat.named("aggregate_reply")


@pytest.mark.parametrize("depth", ["drift", "auto", "quick"])
async def test_tokens_that_no_call_fits_into_are_refused_with_what_would_do(depth: str) -> None:
    searching = run()
    with pytest.raises(OutOfTokensError) as caught:
        await searching(limited(depth, max_tokens=600))
    (problem,) = caught.value.problems
    assert problem.field == "limits.max_tokens"
    assert "must be at least" in problem.message
    assert "is 600" in problem.message
    assert caught.value.status == 400
    assert not searching.ports.chat.prompts
    assert searching.sink.phases[-1] == "error"


async def test_tokens_that_nobody_reports_count_as_expected() -> None:
    class Silent(ScriptedChat):
        async def _reply(self, prompt: Prompt, hear: Any) -> ChatReply:
            return replace(await super()._reply(prompt, hear), tokens=Tokens())

    replies = script(primer_reply=FOUR)
    searching = Run(ports(StubGraph(FOUND, own_chunk), Silent(replies)), max_followups_per_prompt=1)
    assert ends(await searching(limited(max_tokens=6_000))) == "max_tokens"
    assert ends(await searching(limited(max_tokens=200_000))) is None


# ----------------------------------------------------------------------------------------- seconds
async def test_time_that_is_used_up_leaves_what_followups_found() -> None:
    async def slow(*_: Any) -> dict[str, Any]:
        await asyncio.sleep(30)
        return aggregated()

    searching = run(aggregate_reply=lambda _prompt: slow())
    searching.deadline_s = 0.8
    answered = await searching(limited(max_seconds=0.8))
    assert answered.final_answer == "It is so."
    assert ends(answered) == "max_seconds"
    with pytest.raises(DeadlineError):  # that of the settings is an error as before
        await searching(limited(max_seconds=9.0))


async def test_seconds_of_the_caller_shorten_the_deadline_and_never_lengthen_it() -> None:
    async def forever(_query: Any, deadline: Deadline) -> None:
        seen.append(deadline.total_s)
        await asyncio.sleep(30)

    seen: list[float] = []
    graph = StubGraph(FOUND)
    graph.followup = forever
    service = fake_service(ports(graph, ScriptedChat({})), DEADLINE_SEC="0.2")
    for most in (0.1, 900.0):
        for answer in (True, False):
            asked = request(depth="quick", answer=answer, limits={"max_seconds": most})
            with pytest.raises(DeadlineError):
                await (await service.start(allowed(), asked, "r"))
    assert seen == [0.1, 0.1, 0.2, 0.2]


# ----------------------------------------------------------------------------------------- request
@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"max_seconds": "9"}, "max_seconds"),
        ({"max_seconds": 1e999}, "max_seconds"),
        ({"max_followups": -1}, "max_followups"),
        ({"max_followups": 1.5}, "max_followups"),
        ({"max_followups": True}, "max_followups"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -9}, "max_tokens"),
        ({"max_calls": 3}, "max_calls"),
    ],
)
def test_limits_that_are_none_are_refused_by_name(limits: dict[str, Any], field: str) -> None:
    body = json.dumps({"query": "q", "limits": limits}).replace("Infinity", "1e999")
    with pytest.raises(InvalidRequestError) as caught:
        parse(body.encode(), RetrieveRequest)
    assert [problem.field for problem in caught.value.problems] == [f"limits.{field}"]


def test_limits_may_be_of_any_greatness() -> None:
    body = {"max_seconds": 1e300, "max_followups": 10**30, "max_tokens": 5.0}
    read = parse(json.dumps({"query": "q", "limits": body}).encode(), RetrieveRequest).limits
    assert (read.max_seconds, read.max_followups, read.max_tokens) == (1e300, 10**30, 5)


# ------------------------------------------------------------------------------------------- cache
@pytest.mark.parametrize(("most", "kept"), [(1, 0), (50, 1)])
async def test_an_answer_that_a_limit_cut_short_is_not_kept(most: int, kept: int) -> None:
    slot = Slot()
    servers: Ports = run_of(primer_reply=FOUR).ports
    async with Progress("p", "r", ListSink()) as progress:
        asked = limited(max_followups=most)
        search = DriftSearch(servers, run_of().limits)
        await search.retrieve(asked, progress, Deadline.after(30), slot=slot)
    assert len(slot.kept) == kept
    assert limited(max_followups=1).remembered_by != limited(max_followups=2).remembered_by
