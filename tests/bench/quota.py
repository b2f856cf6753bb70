"""How long a quota takes: to let a request through, and to refuse the many that come at once.

It is asked without a server, and in a Valkey of its own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any
from uuid import uuid4

from drift.auth.caller import Caller, Quota
from drift.auth.quotas import Quotas
from drift.core.errors import QuotaError
from drift.core.logs import log
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.counter import RedisCounter
from drift.redis.server import RedisServer
from tests.bench.command import Options, milliseconds, read_options, run, seconds_of, show

CALLS, WARM_UP = 2000, 200
CALLERS = 200
A_MINUTE = 60


async def bench(asked: Options) -> None:
    """Time both ways to count."""
    log.setLevel(logging.ERROR)  # a line for each refusal
    with ValkeyServer() as valkey:
        server = RedisServer(valkey.url)
        places = {"in this process": Quotas(), "in Redis": Quotas(RedisCounter(server))}
        try:
            for place, quotas in places.items():
                show(await in_turn(f"one after another, {place}", quotas), asked)
            for place, quotas in places.items():
                show(await at_once(f"{CALLERS} at once, {place}", quotas), asked)
        finally:
            await server.close()


async def in_turn(case: str, quotas: Quotas) -> dict[str, Any]:
    """Let one request through after another."""
    caller = new_caller(10_000)
    seconds = [await seconds_of(quotas.admit(caller)) for _ in range(CALLS)]
    return summary(case, CALLS - WARM_UP, seconds[WARM_UP:], 0)


async def at_once(case: str, quotas: Quotas) -> dict[str, Any]:
    """Have many ask with one key that has 60 a minute, and time the refusals."""
    caller, refused = new_caller(A_MINUTE), list[float]()

    async def ask() -> None:
        begun = time.perf_counter()
        try:
            await quotas.admit(caller)
        except QuotaError:
            refused.append(time.perf_counter() - begun)

    await asyncio.gather(*(ask() for _ in range(CALLERS)))
    return summary(case, CALLERS - len(refused), refused, len(refused))


def new_caller(requests_per_minute: int) -> Caller:
    return Caller(f"bench {uuid4()}", quota=Quota(requests_per_minute=requests_per_minute))


def summary(case: str, through: int, seconds: list[float], refused: int) -> dict[str, Any]:
    times = milliseconds(seconds, (50, 99, 100), digits=3)
    return {"case": case, "through": through, "refused": refused, **times}


if __name__ == "__main__":
    run(bench, read_options(__doc__))
