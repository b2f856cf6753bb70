"""Health checks and the description of the API."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest

from drift.core.errors import GraphTimeoutError
from drift.graph.connection import Connection
from drift.http.dispatcher import Dispatcher
from drift.local.hosts.local_host import serving
from tests.function.calling import Caller, assert_is_problem, calling
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

READY = {
    "status": "ready",
    "access": "ok: function keys, every project",
    "graph": "ok",
    "indexes": "ok",
    "model": "ok",
    "redis": "ok",
}
"""Besides `chat`, which tells since when it is known."""


def without_chat(response: httpx2.Response) -> dict[str, str]:
    """Return what ready says of the others, when the chat model is well."""
    said = dict(response.json())
    chat = said.pop("chat")
    assert re.match(r"ok: drift-extractive answered \d+ s ago; schema by json_schema; takes ", chat)
    return said


@pytest.mark.usefixtures("no_settings")
async def test_live_needs_no_setting_and_says_nothing() -> None:
    async with serving() as url, calling(url) as caller:
        response = await caller.client.get("/health/live")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["x-retrieval-id"]


async def test_ready_names_every_dependency(function: Caller) -> None:
    response = await function.client.get("/health/ready")
    assert (response.status_code, without_chat(response)) == (200, READY)


async def test_the_chat_model_is_asked_once_for_many_checks_and_not_when_it_answers_requests(
    dispatcher: Dispatcher, function: Caller, model_server: ModelServerControl
) -> None:
    for _ in range(3):
        assert (await function.client.get("/health/ready")).status_code == 200
    [asked] = [request for request in model_server.requests() if request["kind"] == "ready"]
    assert asked["body"]["max_completion_tokens"] == 64

    await dispatcher.provider.close()
    model_server.reset()
    await function.answer()
    without_chat(await function.client.get("/health/ready"))
    assert "ready" not in model_server.counts()


@pytest.mark.usefixtures("no_settings")
async def test_health_without_settings_names_them() -> None:
    async with serving() as url, calling(url) as caller:
        for route in ("/health/ready", "/health/neo4j"):
            problem = assert_is_problem(await caller.client.get(route), 503, "not_configured")
            assert "NEO4J_URI is not set" in problem["detail"]


async def test_ready_tells_of_searches_that_fail_while_the_graph_answers_when_it_is_asked(
    function: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Connection.read

    async def slow(self: Connection, text: str, values: Any, *within_s: float) -> Any:
        if "careful" in values and "vector" in values:  # a search
            raise GraphTimeoutError("The graph did not answer one search in time.")
        return await read(self, text, values, *within_s)

    async def ready() -> str:
        response = await function.client.get("/health/ready")
        assert response.status_code == 200
        return str(response.json()["graph"])

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "read", slow)
        for _ in range(12):
            assert_is_problem(await function.ask(), 500, "graph_unavailable")
        assert re.match(
            r"degraded: the last 12 requests of a kind failed, the last \d s ago: .*in time",
            await ready(),
        )
        answer = await function.client.get("/health/neo4j")
        assert (answer.status_code, answer.json()["status"]) == (200, "healthy")
        assert "requests of a kind failed" in answer.json()["message"]
    await function.answer()
    assert await ready() == "ok"


async def test_ready_tells_of_answers_that_the_chat_model_failed_to_give(
    function: Caller, model_server: ModelServerControl
) -> None:
    await function.answer()
    model_server.fail({"fault": "status", "status": 500, "kind": "chat", "times": None})
    await function.ask()
    response = await function.client.get("/health/ready")
    assert re.match(
        r"degraded: drift-extractive answered \d+ s ago, but the last "
        r"(\d+ requests of a kind|request) failed",
        response.json()["chat"],
    )
    model_server.reset()
    await function.answer()
    without_chat(await function.client.get("/health/ready"))
