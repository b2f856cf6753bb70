"""One id is one run for all who ask under it, over the function's routes and in two processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.http import shared_runs
from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, assert_is_problem, calling, told
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180), pytest.mark.usefixtures("corpus")]

MANY = 50
STREAM = {"accept": "text/event-stream"}
QUICK = {"query": QUESTION, "project_id": PROJECT, "depth": "quick"}


def sequence(model: ModelServerControl) -> dict[str, int]:
    """Return the calls that the model got, of each kind."""
    return {kind: count for kind, count in model.counts().items() if count}


@pytest.fixture
async def two(
    environment: pytest.MonkeyPatch,
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[tuple[Caller, Caller]]:
    """Clients of two processes of the function."""
    environment.setenv("PROGRESS_CHANNEL", f"test:{uuid4()}")  # which nobody shares a run with
    async with (
        serving() as url,
        serving() as other,
        calling(url) as caller,
        calling(other) as second,
    ):
        yield caller, second


async def blocks(caller: Caller, body: dict[str, Any], **headers: str) -> list[str]:
    """Return the events of a stream as they were sent, comments apart."""
    sent = {**STREAM, **{name.replace("_", "-"): value for name, value in headers.items()}}
    answer = await caller.client.post("/retrieve", json=body, headers=sent)
    assert answer.status_code == 200, answer.text
    return [block for block in answer.text.split("\n\n") if block and not block.startswith(":")]


def event_id(block: str) -> str:
    return block.split("\n")[1].removeprefix("id: ")


async def test_fifty_callers_of_one_id_cost_one_run(
    two: tuple[Caller, Caller], model_server: ModelServerControl
) -> None:
    alone = await two[0].answer(retrieval_id=str(uuid4()))
    once = sequence(model_server)
    model_server.reset()
    body = {"query": QUESTION, "project_id": PROJECT, "retrieval_id": str(uuid4())}
    async with asyncio.TaskGroup() as group:
        buffered = [group.create_task(two[n % 2].ask(**body)) for n in range(MANY // 2)]
        streamed = [group.create_task(blocks(two[n % 2], body)) for n in range(MANY // 2)]
    assert sequence(model_server) == {kind: n for kind, n in once.items() if kind != "embedding"}
    first = streamed[0].result()
    assert all(one.result() == first for one in streamed)
    result = json.loads(first[-1].partition("\ndata: ")[2])
    assert all(one.result().json() == result == alone for one in buffered)


async def test_a_stream_goes_on_where_a_client_broke_off_also_in_another_process(
    two: tuple[Caller, Caller], model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "latency", "kind": "quick_reply", "seconds": 1})
    body = {**QUICK, "retrieval_id": str(uuid4())}
    async with two[0].client.stream("POST", "/retrieve", json=body, headers=STREAM) as broken:
        async for line in broken.aiter_lines():
            if line.startswith("id: "):
                last = line.removeprefix("id: ")
                break
    rest = await blocks(two[1], body, last_event_id=last)
    whole = await blocks(two[0], body)
    assert whole[1:] == rest
    assert event_id(whole[0]) == last
    assert len({event_id(block) for block in whole}) == len(whole)
    assert await blocks(two[0], body, last_event_id=event_id(whole[-2])) == whole[-1:]
    events = [(b.split("\n")[0][7:], json.loads(b.partition("\ndata: ")[2])) for b in whole]
    assert told(events) == events[-1][1]["final_answer"]
    model_server.reset()
    assert (await blocks(two[1], body, last_event_id="unknown"))[1:] == whole
    assert not sequence(model_server)


async def test_who_leaves_an_id_that_nobody_chose_ends_the_run_and_of_a_chosen_one_not(
    two: tuple[Caller, Caller], model_server: ModelServerControl
) -> None:
    one = str(uuid4())
    for chosen in ({"retrieval_id": one}, {}):
        model_server.fail({"fault": "latency", "kind": "quick_reply", "seconds": 1})
        asked = asyncio.create_task(two[0].client.post("/retrieve", json={**QUICK, **chosen}))
        await model_server.until(lambda seen: seen["in_flight"] == 1)
        asked.cancel()
        if chosen:
            joined = await two[0].answer(**QUICK, **chosen)
            assert joined["key_facts"]
            model_server.reset()
    await model_server.until(lambda seen: seen["abandoned"] == 1)


async def test_an_idempotency_key_is_an_alias(two: tuple[Caller, Caller]) -> None:
    async def asked(number: int, key: str, **fields: Any) -> Any:
        headers = {"idempotency-key": key}
        return await two[number].client.post("/retrieve", json={**QUICK, **fields}, headers=headers)

    first, again = await asked(0, "order 17"), await asked(1, "order 17")
    assert first.status_code == 200
    assert again.headers["x-retrieval-id"] == first.headers["x-retrieval-id"]
    assert again.content == first.content
    assert_is_problem(await asked(1, "order 17", top_k=6), 409, "conflict")
    elsewhere = await asked(0, "order 17", project_id="empty")
    assert elsewhere.headers["x-retrieval-id"] != first.headers["x-retrieval-id"]
    own = str(uuid4())
    assert (await asked(0, own, retrieval_id=own)).headers["x-retrieval-id"] == own
    assert_is_problem(await asked(0, "order 17", retrieval_id=own), 400, "invalid_request")
    refused = assert_is_problem(await asked(0, "x" * 256), 400, "invalid_request")
    assert refused["errors"][0]["field"] == "Idempotency-Key"


async def test_a_failure_is_told_to_all_and_the_id_runs_again(
    two: tuple[Caller, Caller], model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "status", "status": 401, "kind": "quick_reply"})
    body = {**QUICK, "retrieval_id": str(uuid4())}
    failed = await asyncio.gather(*(caller.ask(**body) for caller in two))
    for answer in failed:
        assert_is_problem(answer, 500, "model_misconfigured")
    assert [(await caller.ask(**body)).status_code for caller in reversed(two)] == [200, 200]


async def test_what_a_foreign_caller_is_told_of_an_id_does_not_say_what_it_is(
    environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    (ada, adas), (ben, bens) = entry("ada", [PROJECT, "empty"]), entry("ben", [PROJECT, "empty"])
    use_keys(environment, adas, bens)
    body = {**QUICK, "retrieval_id": str(uuid4())}
    async with serving() as url, serving() as other, calling(url) as one, calling(other) as two:

        async def asked(caller: Caller, key: str, **fields: Any) -> Any:
            headers = {"x-api-key": key}
            return await caller.client.post("/retrieve", json={**body, **fields}, headers=headers)

        assert (await asked(one, ada)).status_code == 200
        model_server.reset()
        same = [
            await asked(caller, ben, **fields)
            for caller in (one, two)
            for fields in ({}, {"query": "Else?"}, {"project_id": "empty"})
        ]
        own = [await asked(caller, ada, project_id="empty") for caller in (one, two)]
        assert {(answer.status_code, answer.text) for answer in same} == {(409, own[0].text)}
        assert own[1].text == own[0].text
        keyed = {"x-api-key": ben, "idempotency-key": "order 18"}
        mine = await one.client.post("/retrieve", json=QUICK, headers={**keyed, "x-api-key": ada})
        theirs = await two.client.post("/retrieve", json=QUICK, headers=keyed)
        assert mine.headers["x-retrieval-id"] != theirs.headers["x-retrieval-id"]
        assert (mine.status_code, theirs.status_code) == (200, 200)


async def test_who_joins_is_a_request_of_the_quota_and_costs_no_tokens(
    environment: pytest.MonkeyPatch,
) -> None:
    key, limited = entry("limited", [PROJECT], requests_per_minute=3, tokens_per_day=10**9)
    use_keys(environment, limited)
    body = {**QUICK, "retrieval_id": str(uuid4())}
    async with serving() as url, serving() as other, calling(url) as one, calling(other) as two:
        for caller in (one, two):
            caller.client.headers["x-api-key"] = key

        async def used() -> dict[str, int]:
            limits = (await one.client.get("/usage")).json()
            return {
                name: limits[name]["used"] for name in ("requests_per_minute", "tokens_per_day")
            }

        assert (await one.ask(**body)).status_code == 200
        # Tokens are counted behind the answer.
        while not (first := await used())["tokens_per_day"]:  # noqa: ASYNC110 - by others
            await asyncio.sleep(0.01)
        assert (await two.ask(**body)).status_code == 200
        assert (await one.ask(**body)).status_code == 200
        assert await used() == {**first, "requests_per_minute": 3}
        assert_is_quota(await one.ask(**body))


def assert_is_quota(answer: Any) -> None:
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")


async def test_a_process_that_dies_is_said_within_its_lease_and_the_id_runs_again(
    environment: pytest.MonkeyPatch,
    two: tuple[Caller, Caller],
    model_server: ModelServerControl,
    valkey: ValkeyServer,
) -> None:
    model_server.fail({"fault": "latency", "kind": "quick_reply", "seconds": 2})
    body = {**QUICK, "retrieval_id": str(uuid4())}
    asked = asyncio.create_task(two[0].ask(**body))
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    joined = asyncio.create_task(two[1].ask(**body))

    async def dead(*_: Any) -> None:
        """Write no more, as a process that was killed."""
        await asyncio.Event().wait()

    await asyncio.sleep(0.5)  # until it follows
    environment.setattr(shared_runs.SharedRuns, "publish", dead)
    async with Redis.from_url(valkey.url, protocol=2) as redis:
        heads = [key async for key in redis.scan_iter("drift:retrieval:run:*")]
        await redis.delete(*heads)  # as they end by themselves
    assert_is_problem(await joined, 503, "stopping")
    assert (await two[1].ask(**body)).status_code == 200
    assert (await asked).status_code == 200


async def test_without_redis_a_process_joins_alone(
    environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.delenv("REDIS_URL")
    body = {**QUICK, "retrieval_id": str(uuid4())}
    async with serving() as url, calling(url) as caller:
        answers = await asyncio.gather(*(caller.ask(**body) for _ in range(5)))
        assert {answer.content for answer in answers} == {answers[0].content}
        asked = sequence(model_server)
        assert (await caller.ask(**body)).content == answers[0].content
        assert sequence(model_server) == asked
