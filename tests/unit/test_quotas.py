"""What a caller may still use, while the counter of all processes works and while it does not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable

import pytest

from drift.auth.caller import EVERYBODY, Caller, Quota
from drift.auth.quotas import WAIT_S, CountingError, Counts, LocalCounter, Quotas, admit, limits
from drift.contracts.reading import QuotaRead
from drift.core.circuit_breaker import PAUSE_S
from drift.core.errors import QuotaError
from drift.local.cli import keys
from tests.clock import Clock

LIMITED = Caller("team a", quota=Quota(requests_per_minute=2, tokens_per_day=100))
NOON = 43_200.0


class Shared(LocalCounter):
    """A counter of all processes that fails or stands still on demand, and counts its questions."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.failure: Exception | None = None
        self.stands_still = False
        self.asked = 0

    async def count(self, name: str, *, most: int = 0, tokens: int = 0) -> Counts:
        self.asked += 1
        if self.stands_still:
            await asyncio.Event().wait()
        if self.failure:
            raise self.failure
        return await super().count(name, most=most, tokens=tokens)


@pytest.fixture
def time() -> Clock:
    return Clock(NOON)


@pytest.fixture
def shared(time: Clock) -> Shared:
    return Shared(time)


@pytest.fixture
def quotas(shared: Shared, time: Clock) -> Quotas:
    return Quotas(shared, LocalCounter(time), time)


# ------------------------------------------------------------------------------ kinds of limits
@pytest.mark.parametrize("name", Quota.model_fields)
async def test_each_limit_of_a_quota_refuses_and_is_told_and_keys_may_have_it(name: str) -> None:
    counter, quota = LocalCounter(), Quota.model_validate({name: 1})
    await counter.count("x", most=1, tokens=1)
    with pytest.raises(QuotaError) as refused:
        await admit(counter, "x", quota, [])
    assert refused.value.limit == name
    told = {limit.name: limit.most for limit in limits(quota, Counts())}
    assert told == {**dict.fromkeys(Quota.model_fields), name: 1}
    assert name in QuotaRead.model_fields
    assert name in inspect.signature(keys.new).parameters


# ------------------------------------------------------------------------------- who counts
async def spend(quotas: Quotas, tokens: int, caller: Caller = LIMITED) -> None:
    quotas.spent(caller, tokens)
    for _ in range(5):
        await asyncio.sleep(0)


async def admitted(quotas: Quotas, times: int = 1, caller: Caller = LIMITED) -> int:
    """Return how many of so many requests are let through."""
    through = 0
    for _ in range(times):
        try:
            await quotas.admit(caller)
        except QuotaError:
            continue
        through += 1
    return through


async def used(quotas: Quotas) -> tuple[int, int, bool]:
    """Return requests and tokens, and whether they are those of all processes."""
    (requests, tokens), is_of_all = await quotas.used(LIMITED)
    return requests.used, tokens.used, is_of_all


async def test_a_refusal_names_the_limit_and_when_there_is_room(
    quotas: Quotas, time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    await quotas.admit(LIMITED)
    time.now += 10.5
    await quotas.admit(LIMITED)
    time.now += 10.2
    with pytest.raises(QuotaError) as refused:
        await quotas.admit(LIMITED)
    assert (refused.value.limit, refused.value.retry_after_s) == ("requests_per_minute", 40)
    assert refused.value.detail == "This key may use 2 requests per minute; try again later."
    [line] = [r.__dict__ for r in caplog.records if r.name == "drift"]
    assert (line["event"], line["caller"]) == ("quota_exceeded", "team a")
    assert line["limit"] == "requests_per_minute"

    time.now += refused.value.retry_after_s
    await quotas.admit(LIMITED)


async def test_tokens_are_looked_at_before_a_request_counts_and_free_again_at_midnight(
    quotas: Quotas, time: Clock
) -> None:
    await quotas.admit(LIMITED)
    await spend(quotas, 100)
    with pytest.raises(QuotaError) as refused:
        await quotas.admit(LIMITED)
    assert (refused.value.limit, refused.value.retry_after_s) == ("tokens_per_day", 43_200)
    assert await used(quotas) == (1, 100, True)

    time.now += 43_200
    assert await admitted(quotas, 5) == 2


async def test_callers_without_a_limit_are_not_counted(quotas: Quotas, shared: Shared) -> None:
    assert await admitted(quotas, 100, EVERYBODY) == 100
    await spend(quotas, 10**9, EVERYBODY)
    await spend(quotas, 10**9, Caller("x", quota=Quota(requests_per_minute=1)))
    assert shared.asked == 0


async def test_a_process_alone_counts_and_says_so(time: Clock) -> None:
    alone = Quotas(None, LocalCounter(time), time)
    assert await admitted(alone, 5) == 2
    assert await used(alone) == (2, 0, False)
    assert str(await alone.readiness()) == (
        "degraded: REDIS_URL is not set, each process counts for itself"
    )


async def test_what_the_process_has_let_through_is_known_when_the_shared_counter_fails(
    quotas: Quotas, shared: Shared, time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    assert await admitted(quotas) == 1
    await spend(quotas, 30)
    assert await used(quotas) == (1, 30, True)

    shared.failure = CountingError("nobody listens at its address")
    shared.asked = 0
    assert await admitted(quotas, 5) == 1
    assert await used(quotas) == (2, 30, False)
    assert str(await quotas.readiness()) == (
        "degraded: nobody listens at its address, each process counts for itself"
    )
    failed = [r for r in caplog.records if "quota_counting_failed" in r.getMessage()]
    assert (len(failed), shared.asked) == (1, 1)

    # It is asked again after a pause, and by one request.
    time.now += PAUSE_S
    await asyncio.gather(*(admitted(quotas) for _ in range(10)))
    assert shared.asked == 2
    shared.failure = None
    time.now += PAUSE_S
    assert (await quotas.readiness()).is_ok


async def test_a_refusal_shows_that_the_shared_counter_is_back(
    quotas: Quotas, shared: Shared, time: Clock
) -> None:
    shared.failure = CountingError("nobody listens at its address")
    await quotas.readiness()
    shared.failure = None
    assert await admitted(Quotas(shared, LocalCounter(time), time), 2) == 2
    time.now += PAUSE_S
    assert await admitted(quotas, 3) == 0


@pytest.mark.timeout(WAIT_S * 20)
async def test_a_counter_that_stands_still_holds_up_one_request_for_a_moment(
    quotas: Quotas, shared: Shared
) -> None:
    shared.stands_still = True
    assert await admitted(quotas, 5) == 2
    assert shared.asked == 1
    assert "does not answer in time" in str(await quotas.readiness())


async def test_a_process_forgets_names_that_count_nothing_any_more(time: Clock) -> None:
    counter = LocalCounter(time)
    for number in range(3000):
        await counter.count(f"name {number}", most=1)
        time.now += 1
    assert len(counter._counts) <= 1001
