"""The local model server for tests.

One process a session, without faults and without memory for each test.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest


@dataclass(frozen=True)
class ModelServerControl:
    """The server's `url`, and what tests ask of it beyond the API."""

    url: str

    def fail(self, *rules: dict[str, Any]) -> None:
        """Make faults (`tests.model_server.faults.Rule`), in this order."""
        status, body = self.ask("POST", "/faults", list(rules))
        assert status == 200, body

    def counts(self) -> dict[str, int]:
        """Return how many requests came since the test began, by reply name, or "embedding"."""
        return self.ask("GET", "/requests")[1]["counts"]

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests since the test began.

        `kind`, `path`, `headers` (credentials), `body`.
        """
        return self.ask("GET", "/requests")[1]["requests"]

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> None:
        """Return when `holds` is true of what /requests tells.

        The test's own time limit ends an endless wait.
        """
        while not holds((await asyncio.to_thread(self.ask, "GET", "/requests"))[1]):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)

    def reset(self) -> None:
        """Forget faults and requests."""
        self.ask("DELETE", "/faults")
        self.ask("DELETE", "/requests")

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send one request; return the status and the JSON of the answer."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            raw = response.read()
            return response.status, json.loads(raw) if raw else None
        finally:
            connection.close()


@pytest.fixture(scope="session")
def model_server_process() -> Iterator[ModelServerControl]:
    """The running server, ended by closing its standard input."""
    command = [sys.executable, "-m", "tests.model_server", "--with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own module
        assert process.stdout
        yield ModelServerControl(json.loads(process.stdout.readline())["url"])
        assert process.stdin
        process.stdin.close()
        process.wait(timeout=60)


@pytest.fixture
def model_server(model_server_process: ModelServerControl) -> Iterator[ModelServerControl]:
    """The server as if just started."""
    model_server_process.reset()
    yield model_server_process
    model_server_process.reset()
