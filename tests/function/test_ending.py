"""A host that is told to stop lets nobody wait.

Requests in flight end with the contract's error, and so does the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any, Self

import pytest

from drift.local.hosts.local_host import serving
from tests.command_line import NO_SERVERS_GIVEN, ROOT
from tests.function.calling import Caller, assert_is_problem, calling
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.slow

IN_FLIGHT = 4
NOWHERE = {
    "NEO4J_URI": "bolt://127.0.0.1:1",
    "NEO4J_PASSWORD": "unused",
    "REDIS_URL": "redis://127.0.0.1:1",
    "OAI_MODEL": "drift-extractive",
    "OAI_KEY": "local",
    "OAI_EMBED_MODEL_NAME": "wordllama-256",
    "VECTOR_INDEX_DIMENSIONS": "256",
    "HYDE": "always",
}
"""A graph and a Redis that nobody needs who waits for the model."""
HALF_A_BODY = (
    b"POST /retrieve HTTP/1.1\r\nhost: %s\r\n"
    b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{"
)


@pytest.fixture
def environment(model_server: ModelServerControl) -> dict[str, str]:
    """Settings with which every request waits for its first reply of the model."""
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": None})
    return {**NOWHERE, "OAI_BASE_URL": model_server.url}


@pytest.fixture
def function_settings(
    no_settings: None,  # noqa: ARG001 - what it removes must not come back
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


async def events_of(caller: Caller) -> list[tuple[str, dict[str, Any]]]:
    async with caller.streaming() as events:
        return await events.all()


async def half_a_body(url: str) -> bytes:
    """Send half a body, and return what is answered up to the end of the connection."""
    address = url.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*address.split(":"))
    writer.write(HALF_A_BODY % address.encode())
    answer = await reader.read()
    writer.close()
    return answer


async def until_waiting(model_server: ModelServerControl) -> None:
    await model_server.until(lambda seen: seen["in_flight"] == 2 * IN_FLIGHT)


@pytest.mark.usefixtures("function_settings")
async def test_requests_in_flight_end_with_the_contract_s_error(
    model_server: ModelServerControl,
) -> None:
    async with AsyncCallers() as callers:
        async with serving() as url:
            await callers.begin(url)
            await until_waiting(model_server)
        await callers.assert_all_were_told()


async def test_serve_ends_so_when_it_is_told_to(
    environment: dict[str, str], model_server: ModelServerControl
) -> None:
    command = [sys.executable, "-m", "drift", "serve", "--port", "0", "--json"]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env={**NO_SERVERS_GIVEN, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with AsyncCallers() as callers:
        await callers.begin(json.loads(await process.stdout.readline())["url"])
        await until_waiting(model_server)
        process.send_signal(signal.SIGTERM)
        _, said = await process.communicate()
        await callers.assert_all_were_told()
    assert process.returncode == 0
    assert b"Traceback" not in said
    assert b"request_failed" not in said
    assert said.rstrip().endswith(b"Stopped.")


STUBBORN = """
import asyncio, time
from drift.local.cli.run import until_stopped
async def stubborn():
    try:
        print("begun", flush=True)
        await asyncio.sleep(600)
    finally:
        print("ending", flush=True)
        await asyncio.sleep(600)
asyncio.run(until_stopped(stubborn()))
"""


async def test_the_second_signal_ends_the_command_at_once() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STUBBORN, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    for line in (b"begun\n", b"ending\n"):
        assert await process.stdout.readline() == line
        os.kill(process.pid, signal.SIGINT)
    assert await process.wait() == 128 + signal.SIGINT


class AsyncCallers:
    """Callers of all kinds, who wait for their answers."""

    def __init__(self) -> None:
        self._calling: Any = None
        self._answers: list[asyncio.Task[Any]] = []
        self._streams: list[asyncio.Task[Any]] = []
        self._half: list[asyncio.Task[bytes]] = []

    async def __aenter__(self) -> Self:
        return self

    async def begin(self, url: str) -> None:
        """Send the requests."""
        self._calling = calling(url)
        caller = await self._calling.__aenter__()
        self._answers = [asyncio.create_task(caller.ask()) for _ in range(IN_FLIGHT)]
        self._streams = [asyncio.create_task(events_of(caller)) for _ in range(IN_FLIGHT)]
        self._half = [asyncio.create_task(half_a_body(url))]

    async def assert_all_were_told(self) -> None:
        """Check how each of them ended."""
        for answer in await asyncio.gather(*self._answers):
            assert_is_problem(answer, 503, "stopping")
        for received in await asyncio.gather(*self._streams):
            name, problem = received[-1]
            assert (name, problem["code"], problem["status"]) == ("error", "stopping", 503)
            assert [name for name, _ in received].count("error") == 1
        for answer in await asyncio.gather(*self._half):
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b'"code":"stopping"' in answer

    async def __aexit__(self, *_: object) -> None:
        for task in (*self._answers, *self._streams, *self._half):
            task.cancel()
        if self._calling:
            await self._calling.__aexit__(None, None, None)
