"""How long a quota takes: to let a request through, and to refuse the many that come at once."""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import httpx2

import function_app
from drift.auth.caller import Caller, Quota
from drift.auth.project_keys import hash_of
from drift.auth.quotas import Quotas
from drift.core.errors import QuotaError
from drift.core.logs import log
from drift.http.auth import Authentication
from drift.http.provider import ServiceProvider
from drift.http.settings import load, load_access
from drift.local.evals.timing import percentile
from drift.local.hosts.local_host import serving
from drift.redis.counter import RedisCounter
from drift.redis.server import RedisServer

CALLS = 2000
CALLERS = 200
A_MINUTE = 60
KEY = "drift_bench"
UNASKED = {
    "OAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OAI_MODEL": "m",
    "OAI_KEY": "k",
    "OAI_EMBED_MODEL_NAME": "e",
    "NEO4J_URI": "bolt://127.0.0.1:9",
    "NEO4J_PASSWORD": "p",
}
"""Servers that a refused request never asks."""


@dataclass(frozen=True, slots=True)
class QuotaTimes:
    """Milliseconds until requests are let through or refused, and how many of them were."""

    case: str
    through: int
    refused: int
    p50_ms: float
    p99_ms: float
    most_ms: float


async def measure_quota(redis_url: str) -> list[QuotaTimes]:
    """Time the gate, with Redis and without, and refusals over HTTP."""
    log.setLevel(logging.ERROR)  # a line for each refusal
    counter = RedisCounter(RedisServer(redis_url))
    try:
        shared, alone = Quotas(counter), Quotas()
        much = _caller(10_000)
        return [
            await _in_turn("one after another, in this process", alone, much),
            await _in_turn("one after another, in Redis", shared, much),
            await _at_once("200 at once, in this process", alone, _caller(A_MINUTE)),
            await _at_once("200 at once, in Redis", shared, _caller(A_MINUTE)),
            *await _over_http(redis_url, shared),
        ]
    finally:
        await counter.close()


def _caller(requests_per_minute: int) -> Caller:
    return Caller(f"bench {uuid4()}", quota=Quota(requests_per_minute))


async def _in_turn(case: str, quotas: Quotas, caller: Caller) -> QuotaTimes:
    seconds = [await _timed(lambda: quotas.admit(caller)) for _ in range(CALLS)]
    return _summary(case, seconds[CALLS // 10 :], CALLS - CALLS // 10, 0)


async def _at_once(case: str, quotas: Quotas, caller: Caller) -> QuotaTimes:
    refused: list[float] = []

    async def ask() -> None:
        begun = time.perf_counter()
        try:
            await quotas.admit(caller)
        except QuotaError:
            refused.append(time.perf_counter() - begun)

    await asyncio.gather(*(ask() for _ in range(CALLERS)))
    return _summary(case, refused, CALLERS - len(refused), len(refused))


async def _over_http(redis_url: str, quotas: Quotas) -> list[QuotaTimes]:
    """Time refusals as callers see them who share this process and its one event loop.

    The same requests to a route that does nothing are the baseline.
    """
    name = f"bench {uuid4()}"
    for _ in range(A_MINUTE):
        await quotas.admit(Caller(name, quota=Quota(A_MINUTE)))

    limits = httpx2.Limits(max_connections=CALLERS)
    with _function_with_key(name, redis_url):
        async with (
            serving() as url,
            httpx2.AsyncClient(base_url=url, trust_env=False, limits=limits, timeout=60) as client,
        ):

            async def live() -> None:
                await client.get("/health/live")

            async def refused() -> None:
                reply = await client.get("/projects", headers={"x-api-key": KEY})
                assert reply.is_client_error, reply.text  # noqa: S101 - else it is no refusal

            await asyncio.gather(*(refused() for _ in range(CALLERS)))  # opens the connections
            timed = []
            for case, ask, count in (("health/live", live, 0), ("refused", refused, CALLERS)):
                in_turn = [await _timed(ask) for _ in range(CALLERS)]
                timed.append(_summary(f"{case} over HTTP, in turn", in_turn, 0, count))
                at_once = await asyncio.gather(*(_timed(ask) for _ in range(CALLERS)))
                timed.append(_summary(f"{case} over HTTP, 200 at once", at_once, 0, count))
            await function_app.provider.close()
            return timed


@contextmanager
def _function_with_key(name: str, redis_url: str) -> Iterator[None]:
    """Have the function know one key, of this name, while the block runs."""
    entry = {
        "name": name,
        "sha256": hash_of(KEY.encode()),
        "projects": ["*"],
        "requests_per_minute": A_MINUTE,
    }
    keys = {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([entry])}
    before = function_app.authentication, function_app.provider
    function_app.authentication = Authentication(
        platform_asks_for_keys=False, read_settings=lambda: load_access(keys)
    )
    function_app.provider = ServiceProvider(lambda: load({**UNASKED, "REDIS_URL": redis_url}))
    try:
        yield
    finally:
        function_app.authentication, function_app.provider = before


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


def _summary(case: str, seconds: Sequence[float], through: int, refused: int) -> QuotaTimes:
    return QuotaTimes(
        case,
        through,
        refused,
        round(statistics.median(seconds) * 1e3, 3),
        round(percentile(seconds, 99) * 1e3, 3),
        round(max(seconds) * 1e3, 3),
    )
