"""The id of a retrieval is one caller's, in a process and in all that share a Redis."""

from __future__ import annotations

import asyncio

import pytest

from drift.auth.caller import Caller
from drift.auth.claims import Claims
from drift.core.errors import ConflictError

ADA, BEN = Caller("ada"), Caller("ben")
SECONDS = 200.0


class Shared:
    """What other processes hold, and who has asked."""

    def __init__(self, **held: str) -> None:
        self.held = held
        self.asked: list[str] = []
        self.slow: asyncio.Event | None = None

    async def holds(self, retrieval_id: str, name: str, seconds: float) -> bool:
        assert seconds == SECONDS
        self.asked.append(name)
        if self.slow:
            await self.slow.wait()
        return self.held.setdefault(retrieval_id, name) == name


async def takes(claims: Claims, caller: Caller, one: str = "id", *, is_chosen: bool = True) -> bool:
    try:
        await claims.take(one, caller, SECONDS, is_chosen=is_chosen)
    except ConflictError:
        return False
    return True


async def test_an_id_is_the_caller_s_who_has_it_until_its_time_is_over() -> None:
    now = [0.0]
    claims = Claims(clock=lambda: now[0])
    assert await takes(claims, ADA)
    assert await takes(claims, ADA)
    assert not await takes(claims, BEN)
    assert await takes(claims, BEN, "other")
    now[0] += SECONDS - 1
    assert await takes(claims, ADA)  # and so for as long once more
    now[0] += SECONDS - 1
    assert not await takes(claims, BEN)
    now[0] += 2
    assert await takes(claims, BEN)
    assert not await takes(claims, ADA)


async def test_who_is_refused_is_not_told_whose_it_is() -> None:
    claims = Claims()
    await claims.take("id", ADA, SECONDS, is_chosen=True)
    with pytest.raises(ConflictError) as refused:
        await claims.take("id", BEN, SECONDS, is_chosen=True)
    assert not any(name in refused.value.detail for name in ("ada", "ben"))


async def test_an_id_that_was_made_for_a_caller_is_its_own_too() -> None:
    claims = Claims()
    assert await takes(claims, ADA, is_chosen=False)
    assert not await takes(claims, BEN)


async def test_an_id_that_another_process_knows_is_refused_and_not_kept() -> None:
    shared = Shared(id="ada")
    claims = Claims(shared)
    assert not await takes(claims, BEN)
    assert await takes(claims, ADA)
    assert not await takes(claims, BEN)
    assert shared.asked == ["ben", "ada"]  # the last one is known here


async def test_nobody_waits_for_the_claim_of_an_id_that_nobody_chose() -> None:
    shared = Shared()
    shared.slow = asyncio.Event()
    claims = Claims(shared)
    assert await takes(claims, ADA, is_chosen=False)
    await asyncio.sleep(0)
    assert shared.asked == ["ada"]
    shared.slow.set()


@pytest.mark.parametrize("is_chosen", [True, False])
async def test_a_process_forgets_claims_whose_time_is_over(is_chosen: bool) -> None:
    now = [0.0]
    claims = Claims(clock=lambda: now[0])
    for number in range(1000):
        await takes(claims, ADA, str(number), is_chosen=is_chosen)
        now[0] += 1
    assert len(claims._claims) <= SECONDS
