"""The worker's host as a process of its own.

One app a process, because the library keeps what it has indexed.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from drift.http.settings import Settings

ROOT = Path(__file__).parents[2]
KEY = "canary-function-key-93bd"
NEEDS_PYTHON_313 = sys.version_info < (3, 13)
REASON = "azure-functions-runtime needs Python 3.13"


class WorkerFailedError(Exception):
    """The worker could not index the app; its own words."""


@dataclass(frozen=True)
class WorkerHost:
    """A running host: its `url`, what the worker `told`, and the file that its log goes to."""

    url: str
    told: dict[str, Any]
    log_file: Path

    @contextlib.asynccontextmanager
    async def client(self, key: str = KEY) -> AsyncIterator[httpx2.AsyncClient]:
        """Give a client with a function key and without a limit of connections."""
        headers = {"x-functions-key": key} if key else {}
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(
            base_url=self.url, headers=headers, limits=limits, trust_env=False, timeout=120
        ) as client:
            yield client

    async def state(self) -> dict[str, Any]:
        """Return what the worker holds: see `Front._state`."""
        async with self.client() as client:
            state: dict[str, Any] = (await client.get("/-/state")).json()
        return state

    async def fire(self, timer: str) -> None:
        """Let a timer fire, and wait for the end of its function."""
        async with self.client() as client:
            assert (await client.post(f"/-/timers/{timer}")).status_code == 200

    def log_text(self) -> str:
        """Return everything that the process has written to its log."""
        return self.log_file.read_text(encoding="utf-8")

    def log_lines(self) -> list[dict[str, Any]]:
        """Return the log's records."""
        return [json.loads(line) for line in self.log_text().splitlines() if line.startswith("{")]


@contextmanager
def worker_host(settings: Mapping[str, str], folder: Path = ROOT) -> Iterator[WorkerHost]:
    """Run the app of a folder with these settings and none else while the block runs.

    Raises:
        WorkerFailedError: when the worker shows no functions.
    """
    unset = {name.upper() for name in Settings.model_fields}
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    command = [sys.executable, "-m", "tests.runtime.worker_host", str(folder), KEY]
    with tempfile.TemporaryDirectory() as logs, (Path(logs) / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own script
            command,
            cwd=folder,
            env={**clean, "PYTHONPATH": str(ROOT), **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        with process:
            assert process.stdout
            assert process.stdin
            line = process.stdout.readline()
            if not line:
                process.wait(timeout=60)
                raise WorkerFailedError(Path(log.name).read_text(encoding="utf-8"))
            told = json.loads(line)
            try:
                yield WorkerHost(told["url"], told, Path(log.name))
            finally:
                process.stdin.close()
                try:
                    process.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    process.kill()
