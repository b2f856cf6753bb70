"""The function inside the library that Azure's Python worker runs on.

What it indexes, and what it answers unconfigured.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import pytest

import function_app
from drift.routes import ROUTES as TABLE
from tests.runtime.worker_process import (
    KEY,
    NEEDS_PYTHON_313,
    REASON,
    ROOT,
    WorkerHost,
    worker_host,
)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)]

ROUTES = {
    one.name: (one.path, sorted(one.methods.split()), "anonymous" if one.is_open else "function")
    for one in TABLE
}
"""What the app has registered, which tests/function/test_routes.py lists."""
CONCURRENT = 100


@pytest.fixture(scope="module")
def host() -> Iterator[WorkerHost]:
    """The worker with the function as it is, without any setting."""
    with worker_host({}) as running:
        yield running


# ---------------------------------------------------------------------------------- what it indexes
def test_indexing_finds_every_function_with_its_route_methods_and_key(host: WorkerHost) -> None:
    triggers = host.told["triggers"]
    found = {
        name: (t["route"], sorted(m.upper() for m in t["methods"]), t["authLevel"].lower())
        for name, t in triggers.items()
    }
    assert found == ROUTES


def test_without_a_schedule_there_is_no_timer(host: WorkerHost) -> None:
    assert host.told["timers"] == {}


async def test_a_schedule_without_other_settings_registers_a_timer_that_says_what_is_missing() -> (
    None
):
    with worker_host({"RECONCILE_SCHEDULE": "0 0 3 * * *"}) as host:
        assert set(host.told["timers"]) == {"reconcile"}
        assert set(host.told["triggers"]) == set(ROUTES)
        await host.fire("reconcile")
        assert (await host.state())["outcomes"] == {"success": 1}
        [line] = [line["message"] for line in host.log_lines() if "reconcile_" in line["message"]]
    assert "NEO4J_URI is not set" in line


@pytest.mark.deep
async def test_a_wrong_schedule_registers_no_timer_and_breaks_no_route() -> None:
    with worker_host({"RECONCILE_SCHEDULE": "every night"}) as host:
        assert (host.told["timers"], set(host.told["triggers"])) == ({}, set(ROUTES))
        async with host.client() as client:
            assert (await client.get("/health/live")).status_code == 200


def test_every_trigger_binds_the_parameter_of_its_handler(host: WorkerHost) -> None:
    assert {(t["name"], t["direction"].lower()) for t in host.told["triggers"].values()} == {
        ("req", "in")
    }


def test_the_worker_offers_its_own_port_for_requests(host: WorkerHost) -> None:
    capabilities = host.told["capabilities"]
    assert capabilities["HttpUri"].startswith("http://127.0.0.1:")
    assert capabilities["RequiresRouteParameters"] == "true"


def test_the_tested_versions_are_the_deployed_ones() -> None:
    lines = Path(ROOT, "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(
        line.partition(";")[0].split("==") for line in lines if "==" in line.partition(";")[0]
    )
    exact = {
        "azure-functions-runtime",
        "azurefunctions-extensions-http-fastapi",
        "fastapi",
        "starlette",
        "uvicorn",
    }
    assert set(pins) == exact
    assert {name: version(name) for name in pins} == {
        name: pin.strip() for name, pin in pins.items()
    }


# ---------------------------------------------------------------------------------- what it answers


async def test_without_a_key_nothing_else_is_reached(host: WorkerHost) -> None:
    asked = [(one, path) for path, (one, *_), level in ROUTES.values() if level == "function"]
    async with host.client(key="wrong") as client:
        for method, path in asked:
            assert (await client.request(method, path)).status_code == 401, path


async def test_missing_settings_are_named(host: WorkerHost) -> None:
    async with host.client() as client:
        response = await client.post("/retrieve", json={"query": "q", "project_id": "p"})
    assert (response.status_code, response.json()["code"]) == (503, "not_configured")
    assert "NEO4J_URI is not set" in response.json()["detail"]
    assert int(response.headers["retry-after"]) > 0


async def test_text_beyond_ascii_comes_back_as_it_was_sent(host: WorkerHost) -> None:
    async with host.client() as client:
        response = await client.post(
            "/retrieve", json={"query": "q", "project_id": "p", "größe 🛰": 1}
        )
    assert [error["field"] for error in response.json()["errors"]] == ["größe 🛰"]
    assert "größe 🛰".encode() in response.content


async def test_a_hundred_calls_at_once_are_each_answered_and_logged_with_their_own(
    host: WorkerHost,
) -> None:
    ids = [str(uuid4()) for _ in range(CONCURRENT)]
    async with host.client() as client:
        bodies = ({"query": "q", "project_id": "p", "retrieval_id": own} for own in ids)
        responses = await asyncio.gather(*(client.post("/retrieve", json=body) for body in bodies))
    assert Counter(r.status_code for r in responses) == {503: CONCURRENT}
    assert [r.headers["x-retrieval-id"] for r in responses] == ids
    assert [r.json()["retrieval_id"] for r in responses] == ids

    lines = [line for line in host.log_lines() if line["retrieval_id"] in ids]
    belongs = {line["retrieval_id"]: line["invocation"] for line in lines}
    assert set(belongs) == set(ids)
    assert len(set(belongs.values())) == CONCURRENT
    assert all(line["invocation"] == belongs[line["retrieval_id"]] for line in lines)


async def test_every_invocation_so_far_is_a_success_for_the_host(host: WorkerHost) -> None:
    async with host.client() as client:
        await client.get("/health/live")
    assert set((await host.state())["outcomes"]) == {"success"}


# ----------------------------------------------------------------------- what stays after an answer
@pytest.mark.parametrize("calls", [2, pytest.param(20, marks=pytest.mark.deep)])
async def test_no_trace_of_answered_calls_stays(host: WorkerHost, calls: int) -> None:
    async def caller() -> None:
        for _ in range(calls):
            assert (await client.get("/health/live")).status_code == 200

    before = await host.state()
    async with host.client() as client:
        await asyncio.gather(*(caller() for _ in range(CONCURRENT)))
    after = await host.state()
    answered = after["outcomes"]["success"] - before["outcomes"].get("success", 0)
    assert answered == calls * CONCURRENT
    assert (after["entries"], after["invocations"]) == (0, 0)
    assert len(after["tasks"]) == len(before["tasks"])


async def test_a_key_is_in_no_log_wherever_it_came(host: WorkerHost) -> None:
    async with host.client(key="") as client:
        body = {"query": "q", "project_id": "p"}
        in_url = await client.post(f"/retrieve?code={KEY}", json=body)
        in_header = await client.post("/retrieve", json=body, headers={"x-functions-key": KEY})
    assert (in_url.status_code, in_header.status_code) == (503, 503)
    assert KEY not in host.log_text()


def test_the_pinned_runtime_still_has_the_name_that_forgets_invocations() -> None:
    from azure_functions_runtime.http_v2 import http_coordinator  # noqa: PLC0415 - not there before Python 3.13

    assert function_app._INVOCATIONS is http_coordinator._context_references
