"""The function in a process of its own, as the measurement of load sees it from outside."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

from drift.core.errors import LocalStackError
from drift.local import PROJECT

HostName = Literal["worker", "local"]
GraphName = Literal["neo4j", "memory"]

START_S = 60.0
"""How long the process may take to start, or to say what it holds."""
END_S = 10.0


class LoadProcess:
    """The running process: its `url`, the function `key`, and what it holds."""

    def __init__(self, process: asyncio.subprocess.Process, started: Mapping[str, Any]) -> None:
        """Speak with this process, whose first line was `started`."""
        self._process = process
        self._asking = asyncio.Lock()
        self.url: str = started["url"]
        self.key: str = started["key"]
        self.started_s: float = started["started_s"]

    async def held(self) -> dict[str, Any]:
        """Return what the process holds: see `Watch.held`."""
        async with self._asking:
            if self._process.stdin is None:
                raise LocalStackError("The function's process cannot be asked.")
            self._process.stdin.write(b"held\n")
            return await _line(self._process)


@asynccontextmanager
async def load_process(
    host: HostName, graph: GraphName, environment: Mapping[str, str]
) -> AsyncIterator[LoadProcess]:
    """Run the function behind its host, with this environment and no other, while the block runs.

    Raises:
        LocalStackError: it does not start.
    """
    in_memory = ["--graph-in-memory"] if graph == "memory" else []
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "drift.local.evals.load.host", host, *in_memory),
        cwd=PROJECT,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield LoadProcess(process, await _line(process))
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_S)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _line(process: asyncio.subprocess.Process) -> dict[str, Any]:
    line = b""
    if process.stdout is not None:
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
    if not line:
        raise LocalStackError(
            f"The function's process has ended with exit status {await process.wait()}."
        )
    answer: dict[str, Any] = json.loads(line)
    return answer
