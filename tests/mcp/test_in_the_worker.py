"""The tools through the real worker library, as Azure runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.mcp.calling import ERAS, TOOLS, connected, tool
from tests.model_server_fixture import ModelServerControl
from tests.runtime.test_streams import is_idle, reset, settings, settled
from tests.runtime.worker_process import KEY, NEEDS_PYTHON_313, REASON, WorkerHost, worker_host
from tests.security.raw_http import request

__all__ = ["settings"]

pytestmark = [pytest.mark.deep, pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)]

RESETS = 60
WATCHER = "_shutdown_watcher"
"""A task of sse-starlette, one a loop, which looks whether the server is to end."""


@pytest.fixture(scope="module")
def host(settings: dict[str, str]) -> Iterator[WorkerHost]:
    """The function as it is."""
    with worker_host(settings) as running:
        yield running


@pytest.mark.parametrize("era", ERAS)
async def test_tools_are_listed_and_called(
    host: WorkerHost, model_server: ModelServerControl, era: str
) -> None:
    del model_server  # without faults
    async with connected(host.url, era, **{"x-functions-key": KEY}) as client:
        assert {one.name for one in (await client.list_tools()).tools} == TOOLS
        failed = await client.call_tool("search", {"question": "Who?", "project": "p"})
        assert failed.is_error
        assert "The graph database cannot be reached" in failed.content[0].text

    async with host.client() as client:
        refused = await client.get("/mcp")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert (await client.put("/mcp")).status_code == 404
    assert "Traceback" not in host.log_text()


@pytest.mark.parametrize("era", ERAS)
async def test_clients_that_leave_at_any_moment_leave_nothing(
    host: WorkerHost, model_server: ModelServerControl, era: str
) -> None:
    model_server.fail({"fault": "hang", "kind": "embedding", "times": None})
    headers, body = tool("search", era, question="Who?", project="p")
    sent = request("POST", "/mcp", {**headers, "x-functions-key": KEY}, body)
    for at in range(0, RESETS, 10):
        pauses = (n % 9 / 500 for n in range(at, at + 10))
        await asyncio.gather(*(reset(host.url, sent, pause_s=one) for one in pauses))

    state = await settled(host, lambda held: is_idle(without_watcher(held)))
    assert set(state["outcomes"]) == {"success"}
    assert "Traceback" not in host.log_text()


def without_watcher(state: dict[str, object]) -> dict[str, object]:
    tasks = state["tasks"]
    assert isinstance(tasks, list)
    return {**state, "tasks": [one for one in tasks if WATCHER not in one]}
