"""The function in a process of its own, with its servers, as a load sees it from outside."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2

from drift.core.errors import LocalStackError
from drift.http import settings
from drift.http.settings import Settings
from drift.local import PROJECT
from drift.local.cli.ingestion import ingest_sample
from drift.local.cli.options import DEMO_PROJECT, DEMO_QUESTION
from drift.local.cli.servers import warm_up
from drift.local.stack.stack import Stack, StackOptions
from tests.bench.command import Options
from tests.bench.static_graph import NOWHERE, QUESTION
from tests.model_server.process import slow_model

HostName = Literal["worker", "local"]
GraphName = Literal["neo4j", "memory"]
Held = Mapping[str, Any]
"""What a process holds: `resident_mb`, `sockets`, `tasks`, `loop_lag_p99_ms` and more."""

PYTHON_QUESTIONS = (
    DEMO_QUESTION,
    "What is a generator expression?",
    "How does the import system find modules?",
    "When is __del__ called?",
    "What does the with statement do?",
)

START_S = 60.0
"""How long the process may take to start, or to say what it holds."""
END_S = 10.0


LOAD = {
    "callers": ((1, 8, 32, 128), "callers at once, with commas between the levels"),
    "requests": (200, "answers at each level; at least two a caller"),
    "soak": (0, "requests of the soak that follows; 0 leaves it out"),
    "soak_callers": (16, "callers of the soak"),
    "host": ("local", "of `make serve`, or the real worker (Python 3.13)", "local", "worker"),
    "graph": ("neo4j", "the sample corpus, or five communities", "neo4j", "memory"),
    "chat_ms": (0.0, "latency of each chat call, milliseconds"),
    "embed_ms": (0.0, "latency of each embedding call, milliseconds"),
    "token_ms": (0.0, "latency of each token of a reply, milliseconds"),
    "depth": ("drift", "how far to go", "drift", "quick", "auto"),
}
"""What is measured, as options."""


def measured(load: Options) -> dict[str, Any]:
    """Return how a report of a load begins."""
    options = {name: getattr(load, name, default) for name, (default, *_) in LOAD.items()}
    return {"options": options, "cores": os.cpu_count()}


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
        """Return what the process holds: see `load_host.Watch`."""
        async with self._asking:
            if self._process.stdin is None:
                raise LocalStackError("The function's process cannot be asked.")
            self._process.stdin.write(b"held\n")
            return await _line(self._process)


@dataclass(frozen=True, slots=True)
class Target:
    """A function to put load on: a client for its URL, questions, and their project.

    `held` asks its process what it holds.
    """

    client: httpx2.AsyncClient
    project_id: str
    questions: Sequence[str]
    held: Callable[[], Awaitable[Held]]
    depth: str = "drift"

    def body(self, turn: int) -> dict[str, Any]:
        """Return the request of a turn; the questions take turns."""
        return {
            "query": self.questions[turn % len(self.questions)],
            "project_id": self.project_id,
            "depth": self.depth,
        }


@asynccontextmanager
async def load_process(
    host: HostName, graph: GraphName, environment: Mapping[str, str]
) -> AsyncIterator[LoadProcess]:
    """Run the function behind its host, with this environment and no other, while the block runs.

    Raises:
        LocalStackError: it does not start.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.bench.load_host", host, graph),
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


@asynccontextmanager
async def loaded_function(
    options: StackOptions, load: Options
) -> AsyncIterator[tuple[Target, LoadProcess, Settings]]:
    """Yield the function in its process, with a model server, Redis and a graph behind it.

    The graph holds the sample corpus, unless it is in the memory of the function's process. The
    settings that are yielded are those of the function.
    """
    if options.given.get("OAI_BASE_URL"):
        raise LocalStackError(
            "The load is for the local model server, whose latency is known: unset OAI_BASE_URL."
        )
    model = slow_model(
        chat_ms=load.chat_ms, embed_ms=load.embed_ms, token_ms=load.token_ms, remembers=True
    )
    nowhere = NOWHERE if load.graph == "memory" else {}
    with await asyncio.to_thread(model.start):
        known = replace(options, given={**options.given, **nowhere, **model.env})
        async with Stack(known) as stack:
            env = {**stack.env, **nowhere, **model.env}
            values = settings.load(env)
            if load.graph == "neo4j":
                await ingest_sample(values)
                await warm_up(values)

            # the same few questions are asked again and again
            environment = {**settings.environment(), **env, "CACHE": "off"}
            questions = PYTHON_QUESTIONS if load.graph == "neo4j" else (QUESTION,)
            async with (
                load_process(load.host, load.graph, environment) as process,
                httpx2.AsyncClient(
                    base_url=process.url,
                    headers={"x-functions-key": process.key},
                    limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
                    timeout=240,
                    trust_env=False,
                ) as client,
            ):
                target = Target(client, DEMO_PROJECT, questions, process.held, load.depth)
                yield target, process, values
