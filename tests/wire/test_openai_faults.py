"""What a chat completion makes of a model server that fails, over real sockets."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from drift.core.errors import ModelUnavailableError
from drift.model.calls import Tokens
from tests.model_server_fixture import ModelServerControl
from tests.wire.openai_clients import (
    ATTEMPTS,
    KEY,
    LOCAL,
    PROMPT,
    caller,
    chat_of,
    client_of,
    soon,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("fault", "says", "timeout_s"),
    [
        ({"fault": "status", "status": 503}, "HTTP 503", 5),
        ({"fault": "hang"}, "did not answer in time", 0.2),
        ({"fault": "trickle", "seconds": 0.1}, "did not answer in time", 0.3),
        ({"fault": "drop"}, "broke off", 5),
    ],
    ids=str,
)
async def test_a_fault_of_the_server_that_stays_is_told_after_the_last_attempt(
    model_server: ModelServerControl, fault: dict[str, Any], says: str, timeout_s: float
) -> None:
    model_server.fail(fault | {"times": None})
    async with chat_of(model_server, caller(timeout_s)) as chat:
        with pytest.raises(ModelUnavailableError) as caught:
            await chat.complete(LOCAL, soon())
    assert says in caught.value.detail
    assert model_server.counts() == {"local_reply": ATTEMPTS}
    for secret in (KEY, model_server.url, "127.0.0.1", "A fault was asked for"):
        assert secret not in caught.value.detail


@pytest.mark.parametrize(
    "fault", [{"status": 429, "fault": "status"}, {"fault": "drop"}, {"fault": "status"}]
)
async def test_a_passing_fault_is_retried_and_counted(
    model_server: ModelServerControl, fault: dict[str, Any]
) -> None:
    model_server.fail(fault | {"times": 2})
    async with chat_of(model_server) as chat:
        reply = await chat.complete(PROMPT, soon())
    assert reply.retries == 2
    assert model_server.counts() == {"hypothesis": 3}
    retried_by_the_sdk = [
        request["headers"]["x-stainless-retry-count"] for request in model_server.requests()
    ]
    assert retried_by_the_sdk == ["0", "0", "0"]


@pytest.mark.parametrize(
    ("headers", "waited"),
    [({"Retry-After": "7"}, 7), ({"retry-after-ms": "1500", "Retry-After": "7"}, 1.5)],
)
async def test_the_wait_that_the_server_asks_for_is_kept(
    model_server: ModelServerControl, headers: dict[str, str], waited: float
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model_server.fail({"fault": "status", "status": 429, "headers": headers})
    async with chat_of(model_server, caller(sleep=sleep)) as chat:
        await chat.complete(PROMPT, soon())
    assert slept == [waited]


async def test_a_cancelled_call_is_cancelled_and_not_translated(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "hang", "times": None})
    async with chat_of(model_server) as chat:
        task = asyncio.create_task(chat.complete(PROMPT, soon()))
        await model_server.until(lambda seen: seen["in_flight"] == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model_server.until(lambda seen: seen["abandoned"] == 1)


async def test_calls_at_the_same_time_do_not_wait_for_each_other(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "latency", "seconds": 0.5, "times": None})
    async with chat_of(model_server) as chat:
        await asyncio.gather(*(chat.complete(PROMPT, soon()) for _ in range(32)))
    assert model_server.ask("GET", "/requests")[1]["most_in_flight"] == 32


async def test_calls_that_are_ready_together_begin_one_in_each_round_of_the_event_loop() -> None:
    loop, rounds, began = asyncio.get_running_loop(), itertools.count(), list[int]()
    now = 0

    def tick() -> None:
        nonlocal now
        now = next(rounds)
        if len(began) < 20:
            loop.call_soon(tick)

    async def request() -> None:
        began.append(now)

    def counted(_: None) -> tuple[Tokens, str]:
        return Tokens(), ""

    calls = caller()
    async with client_of("http://127.0.0.1:9"):  # loads the SDK
        tick()
        await asyncio.gather(
            *(calls.send(request, "chat", "a-model", lambda _: (Tokens(), "")) for _ in range(20))
        )
    assert len(set(began)) == len(began) == 20
