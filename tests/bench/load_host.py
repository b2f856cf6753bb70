"""The process that a load is put on: the function behind a host, watched from inside.

Run `python -m tests.bench.load_host worker|local neo4j|memory`. It prints one line of JSON with its
`url`, answers every line it reads with one of JSON (`Watch.held`), and ends when its standard input
ends. `worker` is the real worker library (Python 3.13), `local` the host of `make serve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psutil

import function_app
from drift.http.provider import ServiceProvider
from drift.http.settings import Settings
from drift.local import PROJECT
from tests.bench.static_graph import StaticGraph

if TYPE_CHECKING:
    from drift.http.service import Service

KEY = "load"
"""The function key of the host with the worker."""
TICK_S = 0.005


class Watch:
    """What the process holds, and how late its event loop is."""

    def __init__(self) -> None:
        """Watch this process."""
        self._process = psutil.Process()
        self._late_ms: list[float] = []
        self._collected = False

    async def run(self) -> None:
        """Note for every tick by how much it came late, until cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            if not self._collected:  # a tick that was late for `held`'s own work does not count
                self._late_ms.append(1000 * max(0.0, time.perf_counter() - before - TICK_S))
            self._collected = False

    def held(self) -> dict[str, Any]:
        """Return memory (MB), sockets, files, tasks and threads of now.

        The lag of the loop (ms) is that since the last call.
        """
        late = sorted(self._late_ms) or [0.0]
        gc.collect()  # what waits for the collector is no leak
        memory = self._process.memory_info()
        held = {
            "resident_mb": round(memory.rss / 2**20, 1),
            "sockets": len(self._process.net_connections("tcp")),
            "files": self._process.num_fds(),
            "tasks": len(asyncio.all_tasks()),
            "threads": self._process.num_threads(),
            "cpu_s": round(sum(self._process.cpu_times()[:2]), 2),
            "loop_lag_p50_ms": round(late[len(late) // 2], 2),
            "loop_lag_p99_ms": round(late[99 * len(late) // 100], 2),
            "loop_lag_max_ms": round(late[-1], 2),
        }
        self._late_ms, self._collected = [], True
        return held


@contextlib.asynccontextmanager
async def _hosted(host: str) -> AsyncIterator[str]:
    if host == "worker":
        from tests.runtime import worker_host  # noqa: PLC0415 - its library needs Python 3.13

        async with worker_host.serving(PROJECT, KEY) as worker:
            yield worker["url"]
    else:
        from drift.local.hosts import local_host  # noqa: PLC0415 - one of the two

        async with local_host.serving(dispatcher=function_app.dispatcher) as url:
            yield url


async def _serve(host: str) -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what else is printed belongs into the log
    async with _hosted(host) as url:
        watch = Watch()
        ticking = asyncio.create_task(watch.run())
        started_s = time.time() - psutil.Process().create_time()
        answer: dict[str, Any] = {"url": url, "key": KEY, "started_s": round(started_s, 2)}
        while True:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
            if not await asyncio.to_thread(sys.stdin.readline):
                break
            answer = watch.held()
        ticking.cancel()


def _over_memory(settings: Settings) -> Service:
    from drift.http.wiring import build_service  # noqa: PLC0415 - as the function loads it

    service = build_service(settings)
    return replace(service, ports=replace(service.ports, graph=StaticGraph()))


def main(host: str, graph: str) -> None:
    """Serve until standard input ends."""
    # as on the platform: every line is written, into the log file
    logging.basicConfig(level=logging.INFO)
    if graph == "memory":
        function_app.dispatcher.provider = ServiceProvider(build=_over_memory)
    asyncio.run(_serve(host))


if __name__ == "__main__":
    main(*sys.argv[1:])
