"""What requests share goes on after them, and says nothing of whoever began it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.errors import ModelUnavailableError
from drift.core.logs import bound, log
from drift.core.shared_build import SharedBuild
from drift.llm.local_embedder import LocalEmbedder
from drift.redis.entries import RedisEntries
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer
from drift.search.fallback import FallbackEmbedder
from drift.telemetry import parts
from tests.clock import Clock
from tests.unit.test_fallback import Provider, soon

NOWHERE = "redis://127.0.0.1:1"


async def of_build() -> None:
    async def build() -> None:
        await asyncio.sleep(0)
        log.warning("built")

    await SharedBuild(build).get()


async def of_progress() -> None:
    sink = RedisProgress(RedisServer(NOWHERE))
    sink.send("{}", last=True)
    await sink.delivered()  # or known to be in trouble
    await sink.close()


async def of_entries() -> None:
    entries = RedisEntries(RedisServer(NOWHERE), b"secret", wait_s=5.0)
    await entries.get(["embed:x"])
    await entries.close()


async def of_probe() -> None:
    provider = Provider()
    provider.error = ModelUnavailableError("down")
    embedder = FallbackEmbedder(provider, provider, LocalEmbedder(), CircuitBreaker("p", Clock()))
    await embedder.embed(["a"], soon())
    await embedder.probe.get()


@pytest.mark.parametrize("begun", [of_build, of_progress, of_entries, of_probe])
async def test_lines_of_shared_work_name_no_caller(
    begun: Callable[[], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    with bound(caller="alice", retrieval_id="r", project_id="p"):
        await begun()
    lines = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert lines
    assert [line for line in lines if hasattr(line, "caller")] == []


async def test_what_shared_work_costs_is_no_part_of_a_request() -> None:
    async def build() -> None:
        with parts.round_trip():
            await asyncio.sleep(0)

    with parts.retrieval("r", "p") as whole:
        await SharedBuild(build).get()
    assert whole.usage().graph_round_trips == 0
