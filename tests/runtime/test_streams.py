"""Streams through the real worker.

Clients that leave, handlers that fail, searches that are silent.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.model_server_fixture import ModelServerControl
from tests.runtime.test_planted_faults import APP, crashing, mutated
from tests.runtime.worker_process import KEY, NEEDS_PYTHON_313, REASON, WorkerHost, worker_host

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)]

RESETS = 300
STREAM = {"accept": "text/event-stream"}
QUESTION = {"query": "Who is asked?", "project_id": "p"}
CANARY = "canary-of-an-exception"
QUICK_BEATS = """
from drift.http.streaming import EventStream
EventStream.__init__.__defaults__ = (0.05,)
"""


@pytest.fixture(scope="module")
def settings(model_server_process: ModelServerControl) -> dict[str, str]:
    """A model that answers and a graph that nobody serves.

    These tests never get as far as the graph.
    """
    return {
        "OAI_BASE_URL": model_server_process.url,
        "OAI_MODEL": "drift-extractive",
        "OAI_KEY": "canary-model-key",
        "OAI_EMBED_MODEL_NAME": "wordllama-256",
        "VECTOR_INDEX_DIMENSIONS": "256",
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_PASSWORD": "canary-password",
        "HYDE": "always",
    }


@pytest.fixture(scope="module")
def host(settings: dict[str, str]) -> Iterator[WorkerHost]:
    """The function as it is."""
    with worker_host(settings) as running:
        yield running


async def settled(host: WorkerHost, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the worker's state once it is so; the test's time limit ends an endless wait."""
    while not holds(state := await host.state()):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)
    return state


def is_idle(state: dict[str, Any]) -> bool:
    """Tell whether no call is left, nor anything that one has started."""
    own = ("Front.serve", "LifespanOn.main", "WebServer.serve", "<coroutine object main")
    return (
        not state["entries"]
        and not state["invocations"]
        and all(any(n in t for n in own) for t in state["tasks"])
    )


def request_bytes(*, accept: str, length: int | None = None) -> bytes:
    """Return a whole request, or one whose body is `length` bytes in its head only."""
    body = json.dumps(QUESTION).encode()
    lines = [
        "POST /retrieve HTTP/1.1",
        "host: localhost",
        f"x-functions-key: {KEY}",
        "content-type: application/json",
        f"accept: {accept}",
        f"content-length: {len(body) if length is None else length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def reset(url: str, request: bytes, *, pause_s: float) -> None:
    """Send a request, then reset the connection after a pause."""
    parts = urlsplit(url)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(request)
    await writer.drain()
    await asyncio.sleep(pause_s)
    own: socket.socket = writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.mark.parametrize(
    "accept", ["text/event-stream", "application/json"], ids=["stream", "buffered"]
)
async def test_three_hundred_resets_at_any_moment_leave_nothing(
    host: WorkerHost, model_server: ModelServerControl, accept: str
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": None})
    whole, cut = request_bytes(accept=accept), request_bytes(accept=accept, length=1000)
    for at in range(0, RESETS, 10):
        # whole requests and ones whose body is still on its way, cut from at once to 6 ms later
        requests = [whole if number % 3 else cut for number in range(at, at + 10)]
        await asyncio.gather(
            *(reset(host.url, text, pause_s=n % 7 / 1000) for n, text in enumerate(requests))
        )
    state = await settled(host, is_idle)
    assert set(state["outcomes"]) == {"success"}
    assert "Traceback" not in host.log_text()
    assert not [line for line in host.log_lines() if "trace" in line]


async def test_a_hundred_searches_run_in_one_worker_and_one_more_is_refused(
    settings: dict[str, str], model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": None})
    with worker_host({**settings, "MAX_INFLIGHT": "100"}) as host:
        async with host.client() as client:
            asking = (client.post("/retrieve", json=QUESTION) for _ in range(100))
            asked = [asyncio.create_task(request) for request in asking]
            await model_server.until(lambda seen: seen["in_flight"] == 100)
            refused = await client.post("/retrieve", json=QUESTION)
            for task in asked:
                task.cancel()
            await asyncio.wait(asked)
        assert (refused.status_code, refused.json()["code"]) == (429, "busy")
        await model_server.until(lambda seen: seen["abandoned"] == 100)
        await settled(host, is_idle)
        # the search is a task of its own: it has the context of the call that started it
        lines = host.log_lines()
        ids = {line["retrieval_id"] for line in lines if '"retrieval_started"' in line["message"]}
        lines = [line for line in lines if line["retrieval_id"] in ids]
        assert len(ids) == 100
        assert len({(line["retrieval_id"], line["invocation"]) for line in lines}) == len(ids)
        assert all(line["invocation"] for line in lines)


async def test_a_silent_search_beats(
    settings: dict[str, str], model_server: ModelServerControl, tmp_path: Path
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis"})
    beats = 0
    with worker_host(settings, mutated(tmp_path, APP, APP + QUICK_BEATS)) as host:
        async with (
            host.client() as client,
            client.stream("POST", "/retrieve", json=QUESTION, headers=STREAM) as events,
        ):
            async for line in events.aiter_lines():
                beats += line == ": beat"
                if beats == 3:
                    break
        assert beats == 3
        await settled(host, is_idle)


async def test_an_error_nobody_foresaw_is_the_contracts_own_and_the_log_knows_its_place_alone(
    tmp_path: Path,
) -> None:
    with worker_host({}, crashing(tmp_path, CANARY)) as host:
        async with host.client() as client:
            response = await client.get("/health/live")
        state = await host.state()
        logged = host.log_text()
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["retrieval_id"] == response.headers["x-retrieval-id"]
    assert CANARY not in response.text
    assert CANARY not in logged
    assert "RuntimeError" in logged
    assert (set(state["outcomes"]), state["entries"]) == ({"success"}, 0)


async def test_a_request_whose_invocation_never_comes_holds_up_nobody(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with worker_host(settings, mutated(tmp_path, APP, APP)) as host:
        parts = urlsplit(host.told["capabilities"]["HttpUri"])
        async with host.client() as client:
            assert (await client.get("/health/live")).status_code == 200
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(
                b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n"
                b"x-ms-invocation-id: nobodys\r\n\r\n"
            )
            await settled(host, lambda state: state["entries"] == 1)
            assert (await client.get("/health/live")).status_code == 200
            writer.close()
            await writer.wait_closed()
        assert (await host.state())["entries"] == 1
