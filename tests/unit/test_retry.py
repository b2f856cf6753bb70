from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.llm.retry import Failure, RetryPolicy, retry_after

GONE = ModelUnavailableError("gone")


class PassingError(Exception):
    """An error that goes away."""


@dataclass
class Clock:
    """A clock that only the recorded sleeps move."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Flaky:
    """Fails `failures` times, then answers."""

    failures: int
    error: BaseException = field(default_factory=PassingError)
    calls: int = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "answer"


async def run(
    policy: RetryPolicy, call: Flaky, clock: Clock, *, seconds: float = 1000.0, asked: float = 0.0
) -> tuple[str, int]:
    def failure(error: BaseException) -> Failure | None:
        known = isinstance(error, PassingError)
        return Failure(GONE, is_transient=True, wait_s=asked) if known else None

    return await policy.run(call, Deadline.after(seconds, clock), failure)


def policy(clock: Clock, **values: float) -> RetryPolicy:
    return RetryPolicy(**{"max_attempts": 3, "base_s": 0.0, **values}, sleep=clock.sleep)


@pytest.mark.parametrize(("failures", "calls"), [(0, 1), (1, 2), (2, 3)])
async def test_the_number_of_retries_is_returned(failures: int, calls: int) -> None:
    call = Flaky(failures)
    assert await run(policy(Clock()), call, Clock()) == ("answer", calls - 1)
    assert call.calls == calls


async def test_the_last_error_is_raised_as_ours_after_the_last_attempt() -> None:
    call = Flaky(9)
    with pytest.raises(ModelUnavailableError) as caught:
        await run(policy(Clock()), call, Clock())
    assert (caught.value, caught.value.__cause__) == (GONE, call.error)
    assert call.calls == 3


async def test_an_error_that_is_not_named_is_raised_at_once() -> None:
    call = Flaky(1, ValueError("ours"))
    with pytest.raises(ValueError, match="ours"):
        await run(policy(Clock()), call, Clock())
    assert call.calls == 1


async def test_cancellation_is_never_retried() -> None:
    call = Flaky(1, asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await run(policy(Clock()), call, Clock())
    assert call.calls == 1


async def test_waits_grow_by_the_factor_up_to_the_limit_plus_jitter() -> None:
    clock = Clock()
    with pytest.raises(ModelUnavailableError):
        await run(policy(clock, max_attempts=5, base_s=2, factor=3, max_s=10), Flaky(9), clock)
    for slept, backoff in zip(clock.slept, (2, 6, 10, 10), strict=True):
        assert backoff <= slept <= backoff + 0.5
    assert len(set(clock.slept)) > 1


async def test_the_longer_of_backoff_and_the_asked_wait_is_waited() -> None:
    clock = Clock()
    await run(policy(clock, base_s=2), Flaky(1), clock, asked=7)
    await run(policy(clock, base_s=20), Flaky(1), clock, asked=7)
    assert clock.slept[0] == 7
    assert clock.slept[1] >= 20


async def test_a_retry_that_could_only_start_after_the_deadline_is_not_begun() -> None:
    clock, call = Clock(), Flaky(1)
    with pytest.raises(ModelUnavailableError):
        await run(policy(clock), call, clock, seconds=5, asked=5)
    assert call.calls == 1
    assert clock.slept == []


async def test_retries_go_on_while_the_deadline_allows_it() -> None:
    clock, call = Clock(), Flaky(9)
    with pytest.raises(ModelUnavailableError):
        await run(policy(clock, max_attempts=10), call, clock, seconds=5, asked=2)
    assert call.calls == 3
    assert clock.now == 4


async def test_a_running_call_is_cancelled_at_the_deadline() -> None:
    ended = asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        await RetryPolicy().run(endless, Deadline.after(0.02), lambda _: None)
    assert ended.is_set()


async def test_concurrent_calls_of_one_policy_do_not_share_their_attempts() -> None:
    shared = policy(Clock())
    results = await asyncio.gather(
        *(run(shared, Flaky(failures), Clock()) for failures in (2, 0, 1))
    )
    assert [retries for _, retries in results] == [2, 0, 1]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90),
        ({"retry-after": "Wed, 31 Dec 1969 23:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "inf"}, 0),
        ({"retry-after-ms": "nan", "retry-after": "2"}, 2),
    ],
)
def test_what_a_server_asks_to_wait_is_read_in_all_three_forms(
    headers: dict[str, str], seconds: float
) -> None:
    assert retry_after(headers, now=lambda: 10.0) == seconds
