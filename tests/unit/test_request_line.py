"""One line a request that came, the moment its time begins, and how the latest searches ended."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from drift.core.errors import (
    DeadlineError,
    DriftError,
    GraphUnavailableError,
    InvalidRequestError,
)
from drift.core.outcomes import RecentSearches
from drift.http.service import Service
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.model.graph import PrimerEvidence
from drift.telemetry import arrivals
from tests.clock import Clock
from tests.fake_service import fake_service, put_behind
from tests.fakes import ScriptedChat, StubGraph, allowed, ports, request
from tests.function.access_keys import entry
from tests.unit.test_telemetry import PHASES, QUESTION, failing_second, lines, searching

__all__ = ["lines"]

ASKED = {"query": QUESTION, "project_id": "p"}
KEYS = {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([entry("ada", ["p"])[1]])}


async def hang() -> str:
    await asyncio.Event().wait()
    return ""


async def calling(service: Service, **access: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client of a function that answers by a service."""
    dispatcher = build_dispatcher()
    put_behind(dispatcher, service, **access)
    async with serving(dispatcher=dispatcher) as url:
        client = httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60)
        async with client:
            yield client


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a function over fakes, one of whose two follow-ups fails."""
    async for one in calling(searching()):
        yield one


async def ended(lines: Any, number: int = 1) -> list[dict[str, Any]]:
    """Wait for the lines of requests, which follow their answers."""
    async with asyncio.timeout(30):
        while len(found := lines("request_ended")) < number:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)
    return list(found)


# -------------------------------------------------------------------------------------- the line
async def test_an_answer_is_told_with_its_costs_and_without_its_words(
    client: httpx2.AsyncClient, lines: Any
) -> None:
    got = await client.post("/retrieve", json=ASKED)
    [line] = await ended(lines)
    assert line["retrieval_id"] == got.headers["x-retrieval-id"]
    told = ("method", "route", "status", "project_id", "depth", "depth_used", "verdict")
    assert [line[name] for name in told] == [
        *("POST", "/retrieve", 200, "p", "drift", "drift", "answered")
    ]
    [whole] = lines("retrieval_ended")
    for kind in ("prompt_tokens", "completion_tokens"):
        assert line[kind] == whole[kind] > 0
    assert list(line["phases"]) == PHASES
    assert sum(line["phases"].values()) <= line["duration_s"] + 0.001
    assert line["caller"]
    assert "canary" not in json.dumps(line)
    assert not {"code", "cost", "ended_by", "from_cache"} & set(line)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/retrieve", b"{", (400, "invalid_request")),
        ("/retrieve", b"x" * 3_000_000, (413, "too_large")),
        ("/v1/embeddings?canary", b"{}", (404, "not_found")),
        ("/documents/canary.md", b"", (405, None)),
        ("/canary", b"", (404, None)),
    ],
)
async def test_a_request_that_is_refused_is_one_line_without_what_its_path_holds(
    path: str, body: bytes, said: tuple[int, str | None], client: httpx2.AsyncClient, lines: Any
) -> None:
    await client.post(path, content=body, headers={"content-type": "application/json"})
    [line] = await ended(lines)
    assert (line["status"], line.get("code")) == said
    assert "canary" not in json.dumps(line)


async def test_whoever_has_no_key_is_told_of_without_one(lines: Any) -> None:
    async for client in calling(searching(), **KEYS):
        key = {"authorization": "Bearer canary-wrong"}
        assert (await client.post("/retrieve", json=ASKED, headers=key)).status_code == 401
    [line] = await ended(lines)
    assert (line["status"], line["code"]) == (401, "unauthenticated")
    assert "caller" not in line
    assert "canary" not in json.dumps(line)


async def test_one_too_many_is_told_with_who_asked(lines: Any) -> None:
    service = searching()
    service.admission.most = 0
    async for client in calling(service):
        await client.post("/retrieve", json=ASKED)
    [line] = await ended(lines)
    assert (line["status"], line["code"], line["project_id"]) == (429, "busy", "p")


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
async def test_a_client_that_goes_away_leaves_what_its_request_has_cost(
    accept: str, lines: Any
) -> None:
    async for client in calling(searching(lambda _prompt: hang())):

        async def ask(of: httpx2.AsyncClient = client) -> None:
            async with of.stream(
                "POST", "/retrieve", json=ASKED, headers={"accept": accept}
            ) as got:
                await got.aread()

        asking = asyncio.create_task(ask())
        while len(lines("phase_ended")) < 2:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)
        asking.cancel()
        [line] = await ended(lines)
    assert line["status"] == 499
    assert line["prompt_tokens"] >= 20
    assert {*PHASES[:2]} <= set(line["phases"])


async def test_a_stream_that_ends_in_an_error_is_told_with_its_code(lines: Any) -> None:
    gone = GraphUnavailableError("The graph is gone.")
    async for client in calling(searching(graph=StubGraph(gone))):
        await client.post("/retrieve", json=ASKED, headers={"accept": "text/event-stream"})
    [line] = await ended(lines)
    assert (line["status"], line["code"]) == (200, "graph_unavailable")


async def test_who_joins_a_run_is_told_so_and_its_cost_is_told_once(
    client: httpx2.AsyncClient, lines: Any
) -> None:
    body = {**ASKED, "retrieval_id": "5e9a8d1c-0b7f-4f4e-9a54-3d7f0d9b6c21"}
    for _ in range(2):
        assert (await client.post("/retrieve", json=body)).status_code == 200
    first, second = await ended(lines, 2)
    assert (first.get("joined"), second["joined"]) == (None, True)
    assert first["prompt_tokens"]
    assert "prompt_tokens" not in second


async def test_what_is_fetched_all_the_time_is_seen_by_who_debugs_alone(
    lines: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async for client in calling(searching(), **{**KEYS, "PROJECT_KEYS": "no keys"}):
        assert (await client.get("/health/live")).status_code == 200
        assert (await client.get("/health/ready")).status_code == 503
        caplog.set_level(logging.DEBUG, "drift")
        await client.get("/health/live")
    told = [(one["route"], one["status"]) for one in await ended(lines, 2)]
    assert told == [("/health/ready", 503), ("/health/live", 200)]


# ------------------------------------------------------------------------- when its time begins
async def test_time_counts_from_the_arrival_and_a_cold_start_is_nobody_s_fault() -> None:
    service = fake_service(
        ports(StubGraph(PrimerEvidence()), ScriptedChat({"hypothesis": "h"})), DEADLINE_SEC="100"
    )
    asked = request(QUESTION, include=["usage"])
    with arrivals.arriving() as arrival:
        arrival.at -= 300
        with pytest.raises(DeadlineError):
            await (await service.start(allowed(), asked, "r"))
        arrival.building_s = 290
        answer = await (await service.start(allowed(), asked, "r"))
    assert 300 <= answer.usage.wall_seconds < 400
    assert 0 < answer.usage.phases["expanding_query"].seconds < 100


async def test_the_building_of_the_service_is_no_part_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = searching(DEADLINE_SEC="1")
    dispatcher = build_dispatcher()
    put_behind(dispatcher, service)
    get = dispatcher.provider.get

    async def slow() -> Service:
        await asyncio.sleep(1.2)
        return await get()

    monkeypatch.setattr(dispatcher.provider, "get", slow)
    async with (
        serving(dispatcher=dispatcher) as url,
        httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        got = await client.post("/retrieve", json={**ASKED, "include": ["usage"]})
    assert got.status_code == 200, got.text
    assert got.json()["usage"]["wall_seconds"] >= 1.2


# --------------------------------------------------------------------------- the latest searches
@pytest.fixture
def clock() -> Clock:
    """A clock that is set by hand."""
    return Clock()


@pytest.fixture
def recent(clock: Clock) -> RecentSearches:
    """What is known of searches, by that clock."""
    return RecentSearches(clock)


def search(recent: RecentSearches, error: BaseException | None = None, **limit: bool) -> None:
    """Have a search end."""
    try:
        with recent.counted(**limit):
            if error:
                raise error
    except (DriftError, KeyError, asyncio.CancelledError):
        pass


def test_searches_that_fail_are_told_of_for_a_minute(recent: RecentSearches, clock: Clock) -> None:
    search(recent, DeadlineError("late"))
    search(recent, KeyError("nobody foresaw it"))
    search(recent)
    assert recent.problem == "2 of 3 searches of the last minute failed: deadline, internal"
    clock.now += 60.5
    assert not recent.problem


def test_one_in_twenty_of_the_latest_thousand_is_told_of(recent: RecentSearches) -> None:
    for _ in range(5_000):
        search(recent)
    for _ in range(49):
        search(recent, GraphUnavailableError("gone"))
    assert not recent.problem
    search(recent, GraphUnavailableError("gone"))
    assert recent.problem.startswith("50 of 1,000 searches")


def test_what_a_caller_asks_wrongly_or_leaves_fails_no_search(recent: RecentSearches) -> None:
    search(recent, InvalidRequestError(()))
    search(recent, asyncio.CancelledError())
    search(recent, DeadlineError("its own limit"), is_own_limit=True)
    assert not recent.problem
    search(recent, GraphUnavailableError("gone"), is_own_limit=True)
    assert recent.problem


async def test_ready_is_degraded_by_searches_that_fail_and_goes_on_to_serve() -> None:
    service = searching(failing_second, StubGraph(GraphUnavailableError("gone")))
    with pytest.raises(GraphUnavailableError):
        await (await service.start(allowed(), request(QUESTION), "r"))
    found = (await service.health.readiness())["searches"]
    assert str(found).startswith("degraded: 1 of 1 searches of the last minute failed")
    assert found.serves
