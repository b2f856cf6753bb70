"""What a load counts, played by an app that refuses and fails on purpose.

Then the command itself, soak included.
"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from drift.local.stack.valkey_server import ValkeyServer
from tests.bench.command import numbers
from tests.bench.load import measure_levels, soak
from tests.bench.load_process import Held, Target
from tests.command_line import PATIENCE_S, bench
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON

HELD = {"resident_mb": 50.0, "sockets": 3, "files": 9, "tasks": 2}


class PlayedFunction:
    """Answers with these statuses in turn, then 200 for ever."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.asked: list[str] = []

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(request.content)["query"])
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 500:
            return httpx2.Response(status, json={"code": "internal"})
        return httpx2.Response(status, headers={"retry-after": "0"}, content=b"event: progress\n\n")

    @asynccontextmanager
    async def target(self) -> AsyncIterator[Target]:
        async def held() -> Held:
            return HELD

        transport = httpx2.MockTransport(self.answer)
        async with httpx2.AsyncClient(transport=transport, base_url="http://function") as client:
            yield Target(client, "p", ("first?", "second?"), held)


async def test_who_is_refused_asks_the_same_again_and_a_failure_is_no_latency() -> None:
    warm_up = (200, 200, 200)
    function = PlayedFunction(*warm_up, 429, 200, 500)
    async with function.target() as target:
        (level,) = await measure_levels(target, (1,), 3)
    assert (level["served"], level["refused"], level["failed"]) == (2, 1, 1)
    assert level["failures"] == {"500 internal": 1}
    assert function.asked[len(warm_up) :] == ["first?", "first?", "second?", "first?"]
    assert level["refused_p99_ms"] is not None
    assert (level["before"], level["after"]) == (HELD, HELD)


async def test_a_slot_that_was_not_freed_is_seen() -> None:
    async with PlayedFunction(*[200] * 100, 429).target() as target:
        assert not (await soak(target, 100, 1, 4))["slots_free"]


# ------------------------------------------------------------------------------------------ command
@pytest.mark.deep
@pytest.mark.timeout(PATIENCE_S)
@pytest.mark.parametrize(
    "host",
    ["local", pytest.param("worker", marks=pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON))],
)
def test_the_function_serves_what_it_admits_refuses_the_rest_and_keeps_nothing(
    host: str, valkey: ValkeyServer, tmp_path: Path
) -> None:
    callers, requests = 48, 200  # more at once than are admitted
    levels = ("--callers", f"1,{callers}", "--requests", "10", "--soak", str(requests))
    places = ("--host", host, "--graph", "memory", "--data-dir", str(tmp_path))
    servers = {"REDIS_URL": valkey.url, "MAX_INFLIGHT": "20"}
    done = bench("load", *levels, *places, "--json", **servers)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    one, many = document["levels"]
    assert (one["served"], one["refused"], one["failed"]) == (10, 0, 0)
    assert (many["served"], many["failures"]) == (2 * callers, {})
    assert many["refused"] > 0
    soaked = document["soak"]
    assert sum(soaked["outcomes"].values()) == requests
    assert {
        outcome for outcome in soaked["outcomes"] if outcome.startswith("leave the stream")
    } == {"leave the stream: left"}
    assert soaked["slots_free"]
    assert soaked["growth"]["tasks"] <= 0
    assert (
        soaked["growth"]["sockets"] <= 32
    )  # idle connections to the model server, which may still be opened


@pytest.mark.parametrize("callers", ["many", "0"])
def test_callers_that_are_no_list_of_numbers_are_refused(callers: str) -> None:
    with pytest.raises(ArgumentTypeError, match="whole numbers with commas between them"):
        numbers(callers)


@pytest.mark.slow
def test_a_model_server_of_unknown_latency_is_refused(tmp_path: Path) -> None:
    done = bench("load", "--data-dir", str(tmp_path), OAI_BASE_URL="http://127.0.0.1:1")
    assert done.returncode == 1
    assert "unset OAI_BASE_URL" in done.stderr
    assert "Traceback" not in done.stderr
