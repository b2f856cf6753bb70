"""What the timer does with settings that are missing, wrong, or leave it nothing to do."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from drift.core.errors import NotConfiguredError
from drift.http.health import Health
from drift.http.provider import ServiceProvider
from drift.http.service import Service
from drift.http.settings import Settings, load
from drift.http.timer import RUN_S, NodeTimer
from drift.http.wiring import build_service
from drift.local import PROJECT
from drift.model.health import Readiness
from tests.fake_service import LOCAL

BASE = {
    **{name: value for name, value in LOCAL.items() if name != "REDIS_URL"},
    "OAI_KEY": "canary-model-key",
    "NEO4J_PASSWORD": "canary-password",
    "RAG_LABELS": "Chunk,Person",
    "RECONCILE_SCHEDULE": "0 0 3 * * *",
    "RETRY_MAX_ATTEMPTS": "1",
}


def settings(**more: str) -> Settings:
    return load({**BASE, **more})


async def fire(**more: str) -> None:
    provider = ServiceProvider(lambda: settings(**more))
    await NodeTimer(provider).fire()
    await provider.close()


def said(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Return the log's lines."""
    texts = [record.getMessage() for record in caplog.records if record.name == "drift"]
    return [json.loads(text) for text in texts]


@pytest.fixture(autouse=True)
def listening(caplog: pytest.LogCaptureFixture) -> None:
    """Hear every line."""
    caplog.set_level(logging.INFO, "drift")


def test_a_run_ends_before_the_platform_ends_the_process() -> None:
    host = json.loads((PROJECT / "host.json").read_text(encoding="utf-8"))
    hours, minutes, seconds = map(int, host["functionTimeout"].split(":"))
    assert hours * 3600 + minutes * 60 + seconds >= RUN_S + 30


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"ENABLE_RAG_SEARCH": "false"}, "ENABLE_RAG_SEARCH=false"),
        ({"GRAPH_SCHEMA": "v1"}, "GRAPH_SCHEMA"),
        ({"RAG_LABELS": "Chunk,Entity"}, "RAG_LABELS"),
    ],
)
async def test_with_nothing_to_do_it_says_so_and_asks_no_server(
    caplog: pytest.LogCaptureFixture, more: dict[str, str], reason: str
) -> None:
    await fire(**more)
    [line] = said(caplog)
    assert line["event"] == "reconcile_skipped"
    assert line["reason"].startswith(reason)


async def test_a_graph_that_is_away_is_said_and_nothing_is_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await fire()
    [line] = said(caplog)
    assert (line["event"], line["code"]) == ("reconcile_failed", "graph_unavailable")
    assert "canary" not in caplog.text


async def test_missing_settings_are_named_and_nothing_is_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def unset() -> Settings:
        raise NotConfiguredError(("NEO4J_URI is not set.",))

    await NodeTimer(ServiceProvider(unset)).fire()
    [line] = said(caplog)
    assert (line["event"], line["code"]) == ("reconcile_failed", "not_configured")
    assert "NEO4J_URI is not set" in line["detail"]


async def test_what_nobody_foresaw_is_logged_by_its_place_and_the_next_run_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Odd(ServiceProvider):
        async def get(self) -> Service:
            raise RuntimeError("canary of an exception")

    odd = NodeTimer(Odd())
    await odd.fire()
    await odd.fire()
    lines = said(caplog)
    assert [line["event"] for line in lines] == ["reconcile_crashed"] * 2
    assert "canary" not in caplog.text


async def test_while_a_run_goes_on_another_one_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    goes_on = asyncio.Event()

    class Slow(ServiceProvider):
        async def get(self) -> Service:
            await goes_on.wait()
            return await asyncio.to_thread(build_service, settings(RAG_LABELS="Chunk"))

    slow = NodeTimer(Slow())
    first = asyncio.create_task(slow.fire())
    await asyncio.sleep(0)
    await slow.fire()
    assert [line["reason"] for line in said(caplog)] == ["the run before has not ended"]
    goes_on.set()
    await first
    await slow.fire()
    assert [line["event"] for line in said(caplog)] == ["reconcile_skipped"] * 3
    assert said(caplog)[2]["reason"].startswith("RAG_LABELS")


async def test_a_wrong_schedule_builds_the_service_and_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong = settings(RECONCILE_SCHEDULE="*/5 * * * *")
    assert await ServiceProvider(lambda: wrong).get()
    [line] = said(caplog)
    assert line["event"] == "reconcile_schedule_refused"
    assert line["reason"].startswith("RECONCILE_SCHEDULE must be six fields")


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({}, "ok"),
        ({"RECONCILE_SCHEDULE": "00:05:00"}, "degraded: RECONCILE_SCHEDULE must be"),
        ({"RECONCILE_SCHEDULE": ""}, None),
    ],
)
async def test_ready_tells_how_the_timer_stands(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, str], word: str | None
) -> None:
    async def well(_self: Health) -> dict[str, Readiness]:
        return {"graph": Readiness.ok()}

    monkeypatch.setattr(Health, "graph_readiness", well)  # a graph that is away takes seconds
    built = await asyncio.to_thread(build_service, settings(**more))
    told = (await built.health.readiness()).get("reconcile")
    assert (told is None) == (word is None)
    if told is not None and word is not None:
        assert told.serves
        assert str(told).startswith(word)
    await built.close()
