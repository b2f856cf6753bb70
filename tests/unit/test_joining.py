"""Requests under one chosen id hear one run, in a process and in all that share their values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from starlette.requests import Request

from drift.auth.caller import EVERY, Caller, Grant, Quota
from drift.auth.quotas import Quotas
from drift.contracts.answer import RetrieveResponse
from drift.core.errors import (
    BusyError,
    ConflictError,
    DriftError,
    GraphUnavailableError,
    InvalidRequestError,
    QuotaError,
    StoppingError,
)
from drift.http import joining
from drift.http.admission import Admission
from drift.http.joining import Joining, key_of
from drift.http.shared_runs import SharedRuns
from drift.http.streaming import MOST_BYTES, EventStream
from tests.fakes import request

ID = UUID("5e9a8d1c-0b7f-4f4e-9a54-3d7f0d9b6c21")
ADA = Caller("ada", (Grant(EVERY, frozenset({"read"})),))
ASKED = request(retrieval_id=ID)
LEASE_S = 0.5


class Values:
    """What processes share, in the order of its keys; `is_there` says whether it answers."""

    secret = b"secret"

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.is_there = True
        self.takes_parts = True

    async def hold(self, key: str, value: bytes, seconds: float) -> bytes | None:  # noqa: ARG002 - kept
        return self.held.setdefault(key, value) if self.is_there else None

    async def put(self, key: str, value: bytes, seconds: float) -> bool:
        if key.startswith("events:") and not self.takes_parts:
            return False
        if self.is_there:
            self.held[key] = value
            if not seconds:
                del self.held[key]
        return self.is_there

    async def get(self, keys: Sequence[str]) -> list[bytes | None] | None:
        return [self.held.get(key) for key in keys] if self.is_there else None


class Process:
    """A process that joins; each of its runs tells a word and waits until it may go on."""

    def __init__(self, values: Values | None = None, most: int = 9) -> None:
        self.admission = Admission(most, Quotas())
        shared = SharedRuns(values, LEASE_S) if values else None
        self.joining = Joining(self.admission, shared)
        self.runs = 0
        self.may_go_on = asyncio.Event()
        self.error: DriftError | None = None

    async def join(self, caller: Caller = ADA, **changed: Any) -> EventStream:
        """Ask what is asked, but for what is changed of it."""

        async def start(stream: EventStream) -> asyncio.Task[Any]:
            async def answer() -> RetrieveResponse:
                self.runs += 1
                run = self.runs
                with self.admission.counted(caller):
                    stream.answer_delta(f"One {run}. ")
                    await self.may_go_on.wait()
                    if self.error:
                        raise self.error
                    stream.answer_delta("Two.")
                return RetrieveResponse(
                    final_answer=f"One {run}. Two.", key_facts=[], residual_uncertainty=""
                )

            return await self.admission.begin(caller, answer)

        asked = ASKED.model_copy(update=changed)
        return await self.joining.join(caller.project(asked.project_id), asked, start)

    async def answered(self, **changed: Any) -> tuple[int, bytes]:
        """Return the status and the body of a request that wants all at once."""
        self.may_go_on.set()
        response = await (await self.join(**changed)).whole()
        return response.status_code, bytes(response.body)


def kill(process: Process) -> None:
    """End what a process does for others."""
    for run in process.joining._running.values():
        assert run.life
        run.life.cancel()


async def all_of(events: AsyncIterator[bytes]) -> list[bytes]:
    return [event async for event in events if event != b": beat\n\n"]


async def test_fifty_requests_of_one_id_are_one_run_that_all_hear_alike() -> None:
    process = Process()
    streams = await asyncio.gather(*(process.join() for _ in range(50)))
    reading = [asyncio.create_task(all_of(stream.read())) for stream in streams]
    await asyncio.sleep(0)
    process.may_go_on.set()
    told = await asyncio.gather(*reading)
    assert process.runs == 1
    assert all(one == told[0] for one in told)
    assert [event.split(b"\n")[0] for event in told[0]] == [
        b": open",
        b"event: answer_delta",
        b"event: answer_delta",
        b"event: result",
    ]
    assert (await process.answered())[1] in told[0][-1]
    assert process.runs == 1


async def test_who_broke_off_goes_on_behind_the_event_it_has() -> None:
    process = Process()
    events = (await process.join()).read()
    _, first = await anext(events), await anext(events)
    await events.aclose()  # type: ignore[attr-defined] - a generator
    last_id = first.split(b"\n")[1].decode().removeprefix("id: ")
    process.may_go_on.set()
    whole = await all_of((await process.join()).read())
    rest = await all_of((await process.join()).read(last_id))
    assert whole[:2] == [b": open\n\n", first]
    assert rest == [b": open\n\n", *whole[2:]]
    assert len(rest) == 3


@pytest.mark.parametrize("last_id", ["0123456789abcdef-1", "-1", "1", "9" * 400, "ü\x00", "\\d"])
async def test_who_has_an_event_of_another_run_is_told_to_begin_anew(last_id: str) -> None:
    process = Process()
    process.may_go_on.set()
    stream = await process.join()
    told = await all_of(stream.read(last_id))
    assert told[0].endswith(b'-0\ndata: {"text": ""}\n\n')
    assert told[1:] == (await all_of(stream.read()))[1:]


async def test_another_body_is_refused_as_an_id_of_another_caller_is() -> None:
    process = Process()
    await process.join()
    for changed in ({"query": "Else?"}, {"project_id": "other"}, {"include": ("usage",)}):
        with pytest.raises(ConflictError) as refused:
            await process.join(**changed)
        assert "another caller's" in refused.value.detail
    assert process.runs == 1


@pytest.mark.parametrize(
    "other", [replace(ADA, name="ben"), replace(ADA, grants=(Grant("p", frozenset({"read"})),))]
)
async def test_who_may_see_other_things_shares_no_run(other: Caller) -> None:
    values = Values()
    process, second = Process(values), Process(values)
    mine = await process.join()
    theirs, elsewhere = await process.join(other), await second.join(other)
    assert theirs is not mine
    assert elsewhere.token == theirs.token
    assert process.runs == 2


async def test_whoever_leaves_ends_no_run_and_no_other_s_wait() -> None:
    process = Process()
    first = asyncio.create_task(process.join())
    await asyncio.sleep(0)
    second = asyncio.create_task(process.join())
    await asyncio.sleep(0)
    first.cancel()
    stream = await second
    stream.cancel()
    assert (await process.answered())[0] == 200
    assert process.runs == 1


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_a_failure_is_told_to_all_and_runs_again(is_elsewhere: bool) -> None:
    values = Values()
    process = Process(values)
    asked = Process(values) if is_elsewhere else process
    process.error = GraphUnavailableError("The graph is gone.")
    await process.join()
    streams = [await process.join(), await asked.join()]
    process.may_go_on.set()
    answers = [await stream.whole() for stream in streams]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert b"graph_unavailable" in answers[1].body
    process.error = None
    assert (await asked.answered())[0] == 200
    assert process.runs + (asked.runs if is_elsewhere else 0) == 2


async def test_an_answer_is_there_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "KEPT_S", 0.05)
    process = Process()
    first = await process.answered()
    await process.joining.close()
    assert await process.answered() == first
    await asyncio.sleep(0.06)
    assert await process.answered() != first
    assert process.runs == 2


async def test_what_is_too_large_to_be_kept_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "KEPT_BYTES", 10)
    process = Process()
    for _ in range(2):
        assert (await process.answered())[0] == 200
        await process.joining.close()
    assert process.runs == 2


async def test_progress_is_told_within_bounds_and_the_answer_always() -> None:
    stream = EventStream("id")
    for _ in range(3):
        stream.progress("x" * (MOST_BYTES // 2))
    stream.answer_delta("y")
    assert [event.split(b"\n")[0] for event in stream.events] == [
        b"event: progress",
        b"event: answer_delta",
    ]


async def test_who_is_refused_leaves_the_id_free_for_all_processes() -> None:
    values = Values()
    process = Process(values, most=0)
    with pytest.raises(BusyError):
        await process.join()
    assert not values.held
    assert (await Process(values).answered())[0] == 200


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_who_joins_counts_as_a_request_and_takes_no_place(is_elsewhere: bool) -> None:
    values = Values()
    first = Process(values, most=1)
    second = Process(values, most=1) if is_elsewhere else first
    caller = replace(ADA, quota=Quota(requests_per_minute=3))
    await first.join(caller)
    for _ in range(3 if is_elsewhere else 2):
        await second.join(caller)
    with pytest.raises(QuotaError):
        await second.join(caller)
    assert first.runs + second.runs == (1 if is_elsewhere else 2)


# ------------------------------------------------------------------------------- across processes
async def test_another_process_hears_the_same_while_it_runs_and_after() -> None:
    values = Values()
    first, second = Process(values), Process(values)
    own = await first.join()
    events = (await second.join()).read()
    told = [await anext(events), await anext(events)]
    first.may_go_on.set()
    told += await all_of(events)
    assert told == await all_of(own.read())
    last_id = told[1].split(b"\n")[1].decode().removeprefix("id: ")
    assert (await all_of((await Process(values).join()).read(last_id)))[1:] == told[2:]
    await first.joining.close()
    third = Process(values)
    assert await third.answered() == await first.answered()
    with pytest.raises(ConflictError):
        await Process(values).join(query="Else?")
    assert (first.runs, second.runs, third.runs) == (1, 0, 0)


async def test_a_process_that_dies_is_said_and_another_may_run() -> None:
    values = Values()
    first, second = Process(values), Process(values)
    await first.join()
    stream = await second.join()
    kill(first)
    values.held.clear()  # as the head ends by itself
    answer = await stream.whole()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert b'"stopping"' in answer.body
    assert b"ask again" in answer.body
    assert (await second.answered())[0] == 200
    assert second.runs == 1


async def test_without_the_shared_values_each_process_runs_and_who_follows_ends() -> None:
    values = Values()
    first, second, third = (Process(values) for _ in range(3))
    await first.join()
    following = await second.join()
    values.is_there = False
    assert (await third.answered())[0] == 200
    async with asyncio.timeout(10 * LEASE_S):
        assert (await following.whole()).status_code == 503
    assert third.runs == 1
    assert (await first.answered())[0] == 200


async def test_an_answer_that_could_not_be_copied_is_not_waited_for() -> None:
    values = Values()
    values.takes_parts = False
    first, second = Process(values), Process(values)
    await first.join()
    stream = await second.join()
    first.may_go_on.set()
    async with asyncio.timeout(10 * LEASE_S):
        assert (await stream.whole()).status_code == 503
    assert (await second.answered())[0] == 200
    assert (first.runs, second.runs) == (1, 1)


async def test_who_follows_is_told_that_its_own_process_stops() -> None:
    values = Values()
    first, second = Process(values), Process(values)
    await first.join()
    stream = await second.join()
    await second.admission.stop()
    assert b"being stopped" in (await stream.whole()).body
    with pytest.raises(StoppingError):
        await second.join()


async def test_a_process_that_stood_still_takes_no_run_back() -> None:
    values = Values()
    first, second = Process(values), Process(values)
    await first.join()
    values.held.clear()
    stream = await second.join()
    await asyncio.sleep(LEASE_S)  # the first one looks after its own
    third = await Process(values).join()
    assert third.token == stream.token
    assert second.runs == 1
    first.may_go_on.set()
    await first.joining.close()
    assert (await Process(values).join()).token == stream.token


# ------------------------------------------------------------------------------------------- keys
def with_keys(*keys: bytes) -> Request:
    return Request({"type": "http", "headers": [(b"idempotency-key", key) for key in keys]})


@pytest.mark.parametrize(
    "keys", [[b""], [b"x" * 256], [b"a\tb"], [b"\xff"], [b"a", b"a"], ["a\u2028b".encode()]]
)
async def test_what_is_no_key_is_refused_by_its_name(keys: list[bytes]) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        key_of(with_keys(*keys), None)
    assert refused.value.problems[0].field == "Idempotency-Key"


async def test_a_key_and_an_id_may_be_given_where_they_are_the_same() -> None:
    assert key_of(with_keys(str(ID).upper().encode()), ID) is None
    with pytest.raises(InvalidRequestError):
        key_of(with_keys(b"order 17"), ID)
    assert key_of(with_keys(), ID) is None


async def test_a_key_is_its_caller_s_and_project_s_and_of_all_processes() -> None:
    values = Values()
    one, other = (Process(values).joining for _ in range(2))
    key = key_of(with_keys("Bestellung 17 für Öl".encode()), None)
    assert key == "Bestellung 17 für Öl"
    mine = one.id_of(ADA.project("p"), key)
    assert other.id_of(ADA.project("p"), key) == mine
    others = [
        one.id_of(replace(ADA, name="ben").project("p"), key),
        one.id_of(ADA.project("q"), key),
        one.id_of(ADA.project("p"), "else"),
        Process().joining.id_of(ADA.project("p"), key),
    ]
    assert len({mine, *others}) == 5
