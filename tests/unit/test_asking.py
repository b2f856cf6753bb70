"""When proposals are asked, and what becomes of those that wait; seconds are virtual."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.answer import RetrieveResponse
from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, ModelUnavailableError
from drift.local.recording.player import JumpingLoop
from drift.model.calls import Prompt
from drift.model.graph import Evidence, FollowupQuery
from drift.model.limits import Limits
from drift.model.tree import Proposal, Question
from drift.prompting.batching import Found, Wave
from drift.search.followups import Followups
from drift.search.progress import Progress
from drift.search.scope import Scope
from tests.fakes import ScriptedChat, StubGraph, chunk, ports, request
from tests.unit.searching import (
    FIRST,
    FOUND,
    SECOND,
    THIRD,
    TRACED,
    Run,
    asked_in,
    chunks_of,
    local,
    own_chunk,
    primer,
    script,
    states,
)

QUESTION = "What is asked?"
FOURTH, FIFTH = "Which colour has delta?", "How long is epsilon?"


def seen(reply: Any, prompt: Prompt) -> Any:
    """Return a reply that cites the first chunk of its prompt wherever it cites one."""
    if not isinstance(reply, dict):
        return reply
    first = chunks_of(prompt)[0]["id"]
    return reply | {"citations": [c | {"chunk_id": first} for c in reply["citations"]]}


def in_virtual_time(story: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end; seconds pass as soon as nothing else is left to do."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(story)


class Timed:
    """A search whose answers take as long as they are told, and when each question was searched."""

    def __init__(
        self,
        answers: Mapping[str, tuple[float, Any]],
        primed: Sequence[str] = (FIRST, SECOND),
        **limits: int,
    ) -> None:
        self.answers = answers
        self.searched: dict[str, float] = {}
        self.graph = StubGraph(FOUND, self.found)
        self.chat = ScriptedChat(script(primer_reply=primer(*primed), local_reply=self.answer))
        self.run = Run(ports(self.graph, self.chat), deadline_s=40, **limits)

    def found(self, query: FollowupQuery) -> Evidence:
        self.searched[query.question] = asyncio.get_running_loop().time()
        return own_chunk(query)

    def answer(self, prompt: Prompt) -> Awaitable[Any]:
        async def after() -> Any:
            seconds, reply = self.answers.get(asked_in(prompt), (0.0, local()))
            await asyncio.sleep(seconds)
            return seen(reply, prompt)

        return after()

    def __call__(self) -> RetrieveResponse:
        return in_virtual_time(self.run(TRACED))

    @property
    def waves(self) -> list[tuple[str, ...]]:
        """The questions that were embedded together, in order."""
        return self.run.ports.embedder.calls[1:]


PRIMED = (FIRST, SECOND)


@pytest.mark.parametrize(
    ("answers", "primed", "searched"),
    [
        ({FIRST: (2, [THIRD, FOURTH])}, PRIMED, {THIRD: 2, FOURTH: 2}),
        ({FIRST: (2, [THIRD]), SECOND: (2.5, [FOURTH])}, PRIMED, {THIRD: 2.5, FOURTH: 2.5}),
        ({FIRST: (2, [THIRD]), SECOND: (9, [FOURTH])}, PRIMED, {THIRD: 3, FOURTH: 9}),
        (
            {
                "alpha": (2, ["one"]),
                "beta": (2.75, ["two"]),
                "gamma": (3.25, ["three"]),
                "delta": (3.5, ["four"]),
                "epsilon": (9, ["five"]),
            },
            ("alpha", "beta", "gamma", "delta", "epsilon"),
            {"one": 3, "two": 3, "three": 4.25, "four": 4.25, "five": 9},
        ),
        ({FIRST: (2, [THIRD]), SECOND: (2.5, [])}, PRIMED, {THIRD: 2.5}),
        ({FIRST: (2, [THIRD]), SECOND: (2.5, None)}, PRIMED, {THIRD: 2.5}),
        (
            {FIRST: (2, [THIRD]), SECOND: (4, [FOURTH]), THIRD: (9, [])},
            PRIMED,
            {THIRD: 3, FOURTH: 4},
        ),
    ],
    ids=[
        "at once when nobody else can propose",
        "a parent that ends meanwhile joins",
        "no longer than a second",
        "the next get a second of their own",
        "one without proposals lets the others go",
        "and so does a failure",
        "the last pass is not waited for",
    ],
)
def test_proposals_wait_for_those_of_siblings(
    answers: dict[str, tuple[float, list[str] | None]],
    primed: tuple[str, ...],
    searched: dict[str, float],
) -> None:
    gone = ModelUnavailableError("gone")
    replies = {
        name: (seconds, gone if more is None else local(more=more))
        for name, (seconds, more) in answers.items()
    }
    timed = Timed(replies, primed)
    timed()
    before = {QUESTION, *primed}
    assert {name: at for name, at in timed.searched.items() if name not in before} == searched
    waves = [tuple(n for n in searched if searched[n] == at) for at in sorted({*searched.values()})]
    assert timed.waves == [primed, *waves]


def test_a_later_pass_waits_for_its_siblings_too() -> None:
    answers = {
        FIRST: (2, local(more=[SECOND, THIRD])),
        SECOND: (1, local(more=[FOURTH])),
        THIRD: (1.5, local(more=[FIFTH])),
    }
    timed = Timed(answers, primed=(FIRST, "Why is zeta?"), max_passes=3)
    timed()
    assert timed.waves[1:] == [(SECOND, THIRD), (FOURTH, FIFTH)]
    assert timed.searched[FOURTH] == 3.5


def test_the_deadline_ends_those_that_wait() -> None:
    timed = Timed({FIRST: (2.5, local(more=[THIRD])), SECOND: (9, local())})
    timed.run.deadline_s = 4
    response = timed()
    assert states(response) == {
        FIRST: "answered",
        SECOND: "skipped: deadline",
        THIRD: "skipped: deadline",
    }
    assert THIRD not in timed.searched
    assert "before 2 follow-up question(s) were answered" in response.residual_uncertainty
    assert response.key_facts
    assert timed.run.sink.phases[-1] == "completed"


def test_cancelling_a_request_ends_those_that_wait() -> None:
    timed = Timed({FIRST: (2, local(more=[THIRD])), SECOND: (9, local())})

    async def cancelled() -> None:
        task = asyncio.create_task(timed.run(TRACED))
        await asyncio.sleep(2.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(20)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(cancelled())
    assert THIRD not in timed.searched
    assert timed.run.sink.phases[-1] == "error"


NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
SECONDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.25, 3.0])


@given(
    replies=st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(SECONDS, st.lists(st.sampled_from(NAMES), max_size=3), st.booleans()),
    ),
    passes=st.integers(1, 3),
    budget=st.integers(1, 8),
    deadline_s=st.sampled_from([2.0, 5.0, 60.0]),
)
def test_no_question_is_lost_or_doubled_whatever_takes_how_long(
    replies: dict[str, tuple[float, list[str], bool]], passes: int, budget: int, deadline_s: float
) -> None:
    answers = {
        name: (seconds, local(more=more, cited=["K1"] if is_cited else []))
        for name, (seconds, more, is_cited) in replies.items()
    }
    timed = Timed(answers, ("alpha", "beta"), max_passes=passes, max_followups=budget)
    timed.run.deadline_s = deadline_s
    try:
        response = timed()
    except DeadlineError:
        assert deadline_s < 60
        return

    followups = response.trace.followups
    assert [followup.id for followup in followups] == list(range(len(followups)))
    first, *others = timed.graph.followups
    assert first.question == QUESTION
    assert len(others) <= budget
    asked = Counter(query.question for query in others)
    assert set(asked.values()) <= {1}
    answered = Counter(f.question for f in followups if f.state == "answered")
    for question, times in Counter(map(asked_in, timed.chat.named("local_reply"))).items():
        assert times <= 2
        assert answered[question] <= times
        assert deadline_s < 60 or answered[question] == times


def test_what_was_asked_in_vain_is_searched_with_a_name_found_meanwhile() -> None:
    def found(query: FollowupQuery) -> Evidence:
        if query.question == SECOND:
            return Evidence((chunk("named", "It was Upper Ems."),))
        return Evidence((chunk("read", "Nothing here."), chunk("new", "It is here.")))

    answers = {FIRST: (2, local(cited=())), SECOND: (1, local("It was Upper Ems."))}
    timed = Timed(answers)
    timed.graph = StubGraph(
        FOUND, lambda q: Evidence(found(q).chunks[:1]) if q.question == FIRST else found(q)
    )
    timed.run.ports = ports(timed.graph, timed.chat)
    response = timed()

    assert timed.waves == [(FIRST, SECOND), (f"{FIRST} Upper Ems",)]
    again = timed.graph.followups[-1]
    assert (again.question, again.communities) == (f"{FIRST} Upper Ems", ())
    first, _, second = response.trace.followups
    assert (second.question, second.parent, second.pass_) == (FIRST, first.id, 2)
    assert (first.chunk_ids, second.chunk_ids) == (["read"], ["new"])


def test_what_finds_only_what_its_first_try_read_is_not_read_again() -> None:
    answers = {FIRST: (0, local(cited=()))}
    timed = Timed(answers, primed=(FIRST, SECOND))
    timed.graph = StubGraph(FOUND, lambda q: Evidence((chunk(q.question.split()[0]),)))
    timed.run.ports = ports(timed.graph, timed.chat)
    response = timed()
    assert [f.state for f in response.trace.followups] == [
        "answered",
        "answered",
        "skipped: enough",
    ]
    assert len(timed.chat.named("local_reply")) == 2


@pytest.mark.parametrize(
    ("depths", "budget", "is_last"), [([1, 2], 2, False), ([2, 2], 2, True), ([1], 1, True)]
)
async def test_a_group_is_the_last_when_none_of_its_answers_leads_on(
    depths: list[int], budget: int, is_last: bool
) -> None:
    servers = ports(StubGraph(FOUND, own_chunk), ScriptedChat(script()))
    limits = Limits(max_passes=2, max_followups=budget)
    scope = Scope(servers, limits, request(), Deadline.after(30))
    async with Progress("p", "r") as progress:
        followups = Followups(scope, progress)
        await followups.run([Proposal(FIRST)])
        group = tuple(
            Found(Question(n, FIRST, depth=depth), Evidence(), ()) for n, depth in enumerate(depths)
        )
        assert followups._remember(group, Wave((), (), frozenset())).is_last is is_last
        progress.completed("Done")
