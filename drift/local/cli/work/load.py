"""What `drift bench load` does: the servers, the callers, and the table."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any

import httpx2
from rich.table import Table

from drift.core.errors import LocalStackError
from drift.http import settings
from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.options import DEMO_PROJECT, DEMO_QUESTION
from drift.local.cli.work.ingestion import ingest_sample
from drift.local.cli.work.servers import warm_up
from drift.local.evals.load.measure import Target, measure_levels, soak
from drift.local.evals.load.process import GraphName, HostName, LoadProcess, load_process
from drift.local.evals.static_graph import QUESTION
from drift.local.stack.stack import Stack, StackOptions
from tests.model_server.process import slow_model

PYTHON_QUESTIONS = (
    DEMO_QUESTION,
    "What is a generator expression?",
    "How does the import system find modules?",
    "When is __del__ called?",
    "What does the with statement do?",
)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What is measured: the callers of each level, and the answers of each level.

    `soak` is how many requests the soak has, 0 leaves it out.
    """

    callers: tuple[int, ...] = (1, 8, 32, 128)
    requests: int = 200
    soak: int = 0
    soak_callers: int = 16
    host: HostName = "local"
    graph: GraphName = "neo4j"
    chat_ms: float = 0.0
    embed_ms: float = 0.0
    token_ms: float = 0.0
    depth: str = "drift"


async def load(options: StackOptions, asked: LoadOptions, *, as_json: bool) -> None:
    """Put the load on the function, and print what it did and held.

    Raises:
        LocalStackError: something that the measurement needs is missing, or the function does not
            answer.
    """
    if find_spec("psutil") is None:
        raise LocalStackError(
            "The load is watched with psutil: install the extra, `pip install -e '.[local,eval]'`."
        )
    async with (
        servers(options, asked) as env,
        load_process(asked.host, asked.graph, {**settings.environment(), **env}) as process,
        target(process, asked) as function,
    ):
        admitted = settings.load(env).max_inflight
        start = await _first_answer(function, process)
        levels = await measure_levels(function, asked.callers, asked.requests)
        soaked = None
        if asked.soak:
            soaked = await soak(function, asked.soak, asked.soak_callers, admitted, say)

    document = {
        "options": asdict(asked),
        "cores": os.cpu_count(),
        "max_inflight": admitted,
        "start": start,
        "levels": [asdict(level) for level in levels],
        "soak": asdict(soaked) if soaked else None,
    }
    if as_json:
        print_json(document)
    else:
        _show(document)


@asynccontextmanager
async def servers(options: StackOptions, asked: LoadOptions) -> AsyncIterator[dict[str, str]]:
    """Yield the settings of a model server with the latencies asked for, of Redis and of a graph.

    The graph holds the sample corpus, unless it is in the memory of the function's process.
    """
    if options.given.get("OAI_BASE_URL"):
        raise LocalStackError(
            "The load is for the local model server, whose latency is known: unset OAI_BASE_URL."
        )
    nowhere = {}
    if asked.graph == "memory":
        nowhere = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "unused"}

    model = slow_model(
        chat_ms=asked.chat_ms,
        embed_ms=asked.embed_ms,
        token_ms=asked.token_ms,
        remembers=True,
    )
    with await asyncio.to_thread(model.start):
        known = replace(options, given={**options.given, **nowhere, **model.env})
        async with Stack(known) as stack:
            env = {**stack.env, **nowhere, **model.env}
            if asked.graph == "neo4j":
                values = settings.load(env)
                await ingest_sample(values)
                await warm_up(values)
            yield {**env, "CACHE": "off"}  # the same few questions are asked again and again


@asynccontextmanager
async def target(process: LoadProcess, asked: LoadOptions) -> AsyncIterator[Target]:
    """Yield the function that runs in a process, with the questions it is asked."""
    async with httpx2.AsyncClient(
        base_url=process.url,
        headers={"x-functions-key": process.key},
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=240,
        trust_env=False,
    ) as client:
        questions = PYTHON_QUESTIONS if asked.graph == "neo4j" else (QUESTION,)
        yield Target(client, DEMO_PROJECT, questions, process.held, asked.depth)


async def _first_answer(target: Target, process: LoadProcess) -> dict[str, Any]:
    """Ask once.

    Return the seconds from the start of the process to the host's and to the first answer, and its
    memory before and after.
    """
    before = await target.held()
    start = time.perf_counter()
    reply = await target.client.post("/retrieve", json=target.body(0))
    seconds = time.perf_counter() - start
    if reply.status_code != HTTPStatus.OK:
        raise LocalStackError(f"The function answered {reply.status_code}: {reply.text}")
    return {
        "host_ready_s": process.started_s,
        "first_answer_s": round(process.started_s + seconds, 2),
        "resident_mb": before["resident_mb"],
        "resident_after_mb": (await target.held())["resident_mb"],
    }


def _show(document: Mapping[str, Any]) -> None:
    for name, value in document["start"].items():
        stdout.print(f"{name:<18} {value}")

    timed = ["callers", "served", "refused", "failed", "per_second"]
    timed += ["p50_ms", "p95_ms", "p99_ms", "over_one"]
    held = {"loop_lag_p99_ms": "loop lag p99 ms", "resident_mb": "MB"}
    held |= {"sockets": "sockets", "tasks": "tasks"}
    table = Table(*timed, *held.values())
    for level in document["levels"]:
        figures = [level[name] for name in timed] + [level["after"][name] for name in held]
        table.add_row(*map(str, figures))
    stdout.print(table)

    if document["soak"]:
        shown = {name: value for name, value in document["soak"].items() if name != "samples"}
        stdout.print(shown, markup=False)
