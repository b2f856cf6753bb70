"""What a caller may still use, while the counter of all processes works and while it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from drift.auth.caller import EVERYBODY, Caller, Quota
from drift.auth.quotas import WAIT_S, CountingError, LocalCounter, Quotas, Refusal, Used
from drift.core.circuit_breaker import PAUSE_S
from drift.core.errors import QuotaError

LIMITED = Caller("team a", quota=Quota(requests_per_minute=2, tokens_per_day=100))
NOON = 43_200.0


class Time:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class Shared(LocalCounter):
    """A counter of all processes that fails or stands still on demand, and counts its questions."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.failure: Exception | None = None
        self.stands_still = False
        self.asked = 0

    async def admit(self, name: str, quota: Quota) -> Refusal | None:
        await self._be_asked()
        return await super().admit(name, quota)

    async def spend(self, name: str, tokens: int) -> None:
        await self._be_asked()
        await super().spend(name, tokens)

    async def used(self, name: str) -> Used:
        await self._be_asked()
        return await super().used(name)

    async def _be_asked(self) -> None:
        self.asked += 1
        if self.stands_still:
            await asyncio.Event().wait()
        if self.failure:
            raise self.failure


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def shared(time: Time) -> Shared:
    return Shared(time)


@pytest.fixture
def quotas(shared: Shared, time: Time) -> Quotas:
    return Quotas(shared, LocalCounter(time), time)


async def settled() -> None:
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


async def test_a_refusal_names_the_limit_and_when_there_is_room(quotas: Quotas, time: Time) -> None:
    await quotas.admit(LIMITED)
    time.now += 10.5
    await quotas.admit(LIMITED)
    time.now += 10.2
    with pytest.raises(QuotaError) as refused:
        await quotas.admit(LIMITED)
    assert (refused.value.limit, refused.value.retry_after_s) == ("requests_per_minute", 40)
    assert refused.value.detail == "This key may use 2 requests per minute; try again later."

    time.now += refused.value.retry_after_s
    await quotas.admit(LIMITED)


async def test_tokens_are_known_after_a_request_and_free_again_at_midnight(
    quotas: Quotas, time: Time
) -> None:
    await quotas.admit(LIMITED)
    quotas.spent(LIMITED, 250)
    await settled()
    with pytest.raises(QuotaError) as refused:
        await quotas.admit(LIMITED)
    assert (refused.value.limit, refused.value.retry_after_s) == ("tokens_per_day", 43_200)

    time.now += 43_200
    await quotas.admit(LIMITED)


async def test_callers_without_a_limit_are_not_counted(quotas: Quotas, shared: Shared) -> None:
    assert await admitted(quotas, 100, EVERYBODY) == 100
    quotas.spent(EVERYBODY, 10**9)
    quotas.spent(Caller("x", quota=Quota(requests_per_minute=1)), 10**9)
    await settled()
    assert shared.asked == 0


async def test_keys_of_one_name_share_its_quota_and_others_have_their_own(quotas: Quotas) -> None:
    assert await admitted(quotas, 3) == 2
    assert await admitted(quotas, 3, Caller("team b", quota=LIMITED.quota)) == 2


async def test_a_process_alone_counts_and_says_so(time: Time) -> None:
    alone = Quotas(None, LocalCounter(time), time)
    assert await admitted(alone, 5) == 2
    assert await alone.used(LIMITED) == (Used(2, 0), False)
    assert str(await alone.readiness()) == (
        "degraded: REDIS_URL is not set, each process counts for itself"
    )


async def test_what_the_process_has_let_through_is_known_when_the_shared_counter_fails(
    quotas: Quotas, shared: Shared, caplog: pytest.LogCaptureFixture
) -> None:
    assert await admitted(quotas) == 1
    quotas.spent(LIMITED, 30)
    await settled()
    assert await quotas.used(LIMITED) == (Used(1, 30), True)

    shared.failure = CountingError("nobody listens at its address")
    assert await admitted(quotas, 5) == 1
    assert await quotas.used(LIMITED) == (Used(2, 30), False)
    assert str(await quotas.readiness()) == (
        "degraded: nobody listens at its address, each process counts for itself"
    )
    failed = [r for r in caplog.records if "quota_counting_failed" in r.getMessage()]
    assert len(failed) == 1


async def test_a_failed_counter_is_asked_again_after_a_pause_and_by_one_request(
    quotas: Quotas, shared: Shared, time: Time
) -> None:
    shared.failure = CountingError("gone")
    await admitted(quotas, 10)
    assert shared.asked == 1

    time.now += PAUSE_S
    await asyncio.gather(*(admitted(quotas) for _ in range(10)))
    assert shared.asked == 2

    shared.failure = None
    time.now += PAUSE_S
    assert (await quotas.readiness()).is_ok
    assert (await quotas.used(LIMITED))[1]


@pytest.mark.timeout(WAIT_S * 20)
async def test_a_counter_that_stands_still_holds_up_one_request_for_a_moment(
    quotas: Quotas, shared: Shared
) -> None:
    shared.stands_still = True
    assert await admitted(quotas, 5) == 2
    assert shared.asked == 1
    assert "does not answer in time" in str(await quotas.readiness())


async def test_a_process_forgets_names_that_count_nothing_any_more(time: Time) -> None:
    counter = LocalCounter(time)
    for number in range(3000):
        await counter.admit(f"name {number}", Quota(requests_per_minute=1))
        time.now += 1
    assert len(counter._counts) <= 1001
