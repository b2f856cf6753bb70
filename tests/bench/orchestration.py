"""What orchestration costs: the wall time of a search over that of its longest chain of calls.

The model server answers over HTTP after exactly the asked latencies; the graph is in memory and
answers at once, so that nothing but the search itself stands between the calls.
"""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from unittest import mock

from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.core.logs import log
from drift.http import settings, wiring
from drift.model.limits import Limits
from drift.ports import ChatModel, Embedder
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.bench.command import Options, read_options, run, show
from tests.bench.static_graph import NOWHERE, QUESTION, StaticGraph
from tests.fakes import ports
from tests.model_server.process import slow_model

TICK_S = 0.005
TOLERATED_LAG_S = 0.005
"""A tick this late is the operating system's doing; what is above counts as blocked."""


async def bench(asked: Options) -> None:
    """Search against a model server of these latencies, and tell what it cost."""
    with slow_model(chat_ms=asked.chat_ms, embed_ms=asked.embed_ms) as server:
        chat, embedder = wiring.build_models(settings.load({**server.env, **NOWHERE}))
        show(await measure(chat, embedder, asked.chat_ms / 1000, asked.embed_ms / 1000), asked)


async def measure(
    chat: ChatModel, embedder: Embedder, chat_s: float, embed_s: float
) -> dict[str, float]:
    """Run one warm search; the first, which opens connections, is not counted.

    `critical_path_s` is computed from the latencies asked for, `ratio` is wall over it. `telling_s`
    is what log lines and progress messages took, `telling_share` (0..1) their part of the wall.
    """
    search = DriftSearch(ports(StaticGraph(), chat, embedder), Limits())
    await _search(search)
    blocked: list[float] = []
    told: list[float] = []
    async with _watched_loop(blocked):
        start = time.perf_counter()
        with _telling_timed(told):
            response = await _search(search)
        wall = time.perf_counter() - start

    usage, trace = response.usage, response.trace
    answered = [node for node in trace.followups if node.state == "answered"]
    depth = max((node.pass_ for node in answered), default=0)
    critical = 3 * chat_s + embed_s + depth * (embed_s + chat_s)
    return {
        "wall_s": round(wall, 3),
        "critical_path_s": round(critical, 3),
        "ratio": round(wall / critical, 3) if critical else 0.0,
        "chat_calls": usage.chat_calls,
        "embedding_calls": usage.embedding_calls,
        "prompt_tokens": usage.prompt_tokens,
        "loop_blocked_s": round(sum(blocked), 4),
        "telling_s": round(sum(told), 5),
        "telling_share": round(sum(told) / wall, 5),
        "followups": len(answered),
    }


async def _search(search: DriftSearch) -> RetrieveResponse:
    request = ProjectRequest(query=QUESTION, project_id="bench", include=("usage", "trace"))
    async with Progress("bench", "00000000-0000-0000-0000-000000000000") as progress:
        return await search.retrieve(request, progress, Deadline.after(200))


@contextmanager
def _telling_timed(told: list[float]) -> Iterator[None]:
    """Write log lines as a deployment does, and collect the seconds of each and of each message."""

    def timed(tell: Callable[..., None]) -> Callable[..., None]:
        def telling(*given: Any, **named: Any) -> None:
            start = time.perf_counter()
            tell(*given, **named)
            told.append(time.perf_counter() - start)

        return telling

    handler, level = logging.StreamHandler(io.StringIO()), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with (
            mock.patch.object(log, "handle", timed(log.handle)),
            mock.patch.object(Progress, "report", timed(Progress.report)),
        ):
            yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


@asynccontextmanager
async def _watched_loop(blocked: list[float]) -> AsyncIterator[None]:
    """Collect by how much more than tolerated the loop was late, tick by tick."""

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            late = time.perf_counter() - before - TICK_S
            if late > TOLERATED_LAG_S:
                blocked.append(late - TOLERATED_LAG_S)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


if __name__ == "__main__":
    chat_ms = (200.0, "latency of each chat call, milliseconds")
    embed_ms = (50.0, "latency of each embedding call, milliseconds")
    run(bench, read_options(__doc__, chat_ms=chat_ms, embed_ms=embed_ms))
