"""`drift bench load`: the servers, the function in a process of its own, the callers, and the table."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

import httpx2
from rich.table import Table

from drift.errors import LocalStackError
from drift.hosting import settings
from drift.offline import PROJECT
from drift.offline.commands.console import paper, print_json, remark
from drift.offline.commands.shared import DEMO_PROJECT, DEMO_QUESTION, ingest_sample, warm_up
from drift.offline.evals.load import Held, Level, Soak, Target, measure_levels, soak
from drift.offline.evals.orchestration import QUESTION
from drift.offline.servers.model_process import ModelProcess
from drift.offline.stack.stack import Stack, StackOptions

HostName = Literal["worker", "local"]
GraphName = Literal["neo4j", "memory"]

MAX_CALLERS = 1000
START_S = 60.0
PYTHON_QUESTIONS = (
    DEMO_QUESTION,
    "What is a generator expression?",
    "How does the import system find modules?",
    "When is __del__ called?",
    "What does the with statement do?",
)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What is measured: callers of each level, answers of each level, and requests of the soak (0.

    None) with its callers.
    """

    callers: tuple[int, ...] = (1, 8, 32, 128)
    requests: int = 200
    soak: int = 0
    soak_callers: int = 16
    host: HostName = "local"
    graph: GraphName = "neo4j"
    chat_ms: float = 0.0
    embed_ms: float = 0.0


async def bench_load(options: StackOptions, load: LoadOptions, *, as_json: bool) -> None:
    """Put the load on the function, and print what it did and held.

    Raises:
        LocalStackError: something that the measurement needs is missing, or the function does not
            answer.
    """
    if find_spec("psutil") is None:
        raise LocalStackError(
            "The load is watched with psutil: install the extra, `pip install -e '.[local,eval]'`."
        )
    async with _servers(options, load) as env, load_host(load, env) as host:
        values = settings.load(env)
        questions = PYTHON_QUESTIONS if load.graph == "neo4j" else (QUESTION,)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        headers = {"x-functions-key": host.key}
        async with httpx2.AsyncClient(
            base_url=host.url, headers=headers, limits=limits, timeout=240, trust_env=False
        ) as client:
            target = Target(client, DEMO_PROJECT, questions, host.held)
            start = await _first_answer(target, host)
            levels = await measure_levels(target, load.callers, load.requests)
            soaked = None
            if load.soak:
                soaked = await soak(
                    target, load.soak, load.soak_callers, values.max_inflight, remark
                )
    document = _document(load, values.max_inflight, start, levels, soaked)
    if as_json:
        print_json(document)
    else:
        _show(document)


# ------------------------------------------------------------------------------------------ servers
@asynccontextmanager
async def _servers(options: StackOptions, load: LoadOptions) -> AsyncIterator[dict[str, str]]:
    """Yield the settings of a model server with these latencies, and of Redis and a graph that holds the sample corpus."""
    if options.given.get("OAI_BASE_URL"):
        raise LocalStackError(
            "The load is for the local model server, whose latency is known: unset OAI_BASE_URL."
        )
    nowhere = (
        {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "unused"}
        if load.graph == "memory"
        else {}
    )
    model = ModelProcess(chat_ms=load.chat_ms, embed_ms=load.embed_ms, remembers=True)
    with await asyncio.to_thread(model.start):
        own = replace(options, given={**options.given, **nowhere, **model.env})
        async with Stack(own) as stack:
            env = {**stack.env, **nowhere, **model.env}
            if load.graph == "neo4j":
                values = settings.load(env)
                await ingest_sample(values)
                await warm_up(values)
            yield env


# --------------------------------------------------------------------------------------------- host
class LoadHost:
    """The running process: its `url`, the function `key`, and what it holds."""

    def __init__(self, process: asyncio.subprocess.Process, told: Mapping[str, Any]) -> None:
        """Speak with this process, which has told these things."""
        self._process = process
        self._asking = asyncio.Lock()
        self.url: str = told["url"]
        self.key: str = told["key"]
        self.started_s: float = told["started_s"]

    async def held(self) -> Held:
        """Return what the process holds: see `Watch.held`."""
        async with self._asking:
            if self._process.stdin is None:
                raise LocalStackError("The function's process cannot be asked.")
            self._process.stdin.write(b"held\n")
            return await _line(self._process)


@asynccontextmanager
async def load_host(load: LoadOptions, env: Mapping[str, str]) -> AsyncIterator[LoadHost]:
    """Run the function behind its host in a process of its own while the block runs.

    Raises:
        LocalStackError: it does not start.
    """
    command = [
        "-m",
        "drift.offline.evals.load_host",
        load.host,
        *(["--graph-in-memory"] if load.graph == "memory" else []),
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        cwd=PROJECT,
        env={**settings.environment(), **env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield LoadHost(process, await _line(process))
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 10)
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


async def _first_answer(target: Target, host: LoadHost) -> dict[str, Any]:
    """Ask once, and return seconds from the start of the process to the host's and to the first answer; memory before and after."""
    before = await target.held()
    start = time.perf_counter()
    reply = await target.client.post(
        "/retrieve", json={"query": target.questions[0], "project_id": target.project_id}
    )
    seconds = time.perf_counter() - start
    if reply.status_code != httpx2.codes.OK:
        raise LocalStackError(f"The function answered {reply.status_code}: {reply.text}")
    return {
        "host_ready_s": host.started_s,
        "first_answer_s": round(host.started_s + seconds, 2),
        "resident_mb": before["resident_mb"],
        "resident_after_mb": (await target.held())["resident_mb"],
    }


# ------------------------------------------------------------------------------------------- report
def _document(
    load: LoadOptions,
    max_inflight: int,
    start: Mapping[str, Any],
    levels: list[Level],
    soaked: Soak | None,
) -> dict[str, Any]:
    return {
        "options": asdict(load),
        "cores": os.cpu_count(),
        "max_inflight": max_inflight,
        "start": dict(start),
        "levels": [asdict(level) for level in levels],
        "soak": asdict(soaked) if soaked else None,
    }


def _show(document: Mapping[str, Any]) -> None:
    for name, value in document["start"].items():
        paper.print(f"{name:<18} {value}")
    columns = (
        "callers",
        "served",
        "refused",
        "failed",
        "per_second",
        "p50_ms",
        "p95_ms",
        "p99_ms",
        "over_one",
    )
    table = Table(*columns, "loop lag p99 ms", "MB", "sockets", "tasks")
    for level in document["levels"]:
        after = level["after"]
        held = [after[name] for name in ("loop_lag_p99_ms", "resident_mb", "sockets", "tasks")]
        table.add_row(*(str(value) for value in [*(level[name] for name in columns), *held]))
    paper.print(table)
    if document["soak"]:
        paper.print(
            {name: value for name, value in document["soak"].items() if name != "samples"},
            markup=False,
        )
