"""What the function does under load: callers in a closed loop, and a soak.

In the soak some of them leave early. The local model server answers what it was asked before at no
cost, so that nothing but the latencies asked for is its own.

A caller asks, waits for its answer and asks again. Who is refused (429) waits as long as
Retry-After says and asks the same again; such waits are in no latency. What the function's process
holds is told by the process itself.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

import httpx2

from drift.core.errors import LocalStackError
from drift.local.cli.console import say as tell
from drift.local.say import Say
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of
from tests.bench.load_process import LOAD, Held, LoadProcess, Target, loaded_function, measured

Way = Literal["answer", "stream", "leave", "leave the stream"]

_ANSWERS: Sequence[Way] = ["answer"] * 6
SOAKED: Sequence[Way] = (*_ANSWERS, "stream", "stream", "leave", "leave the stream")
"""What callers do in turn in a soak: one in ten leaves before the answer, one in ten in the middle
of a stream."""
PATIENCE_S = 0.005
"""How long a caller who leaves has waited."""
SETTLED_S = 10.0
"""How long the process may take to be rid of what callers left behind."""
STEPS = 10


@dataclass(slots=True)
class _Tally:
    served_s: list[float] = field(default_factory=list)
    refused_s: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


async def measure_levels(
    target: Target, callers: Sequence[int], requests: int
) -> list[dict[str, Any]]:
    """Put each number of callers on the function in turn.

    Each level is measured over `requests` answers, and at least two a caller. Each caller has asked
    once before: clients are built then, and as many connections opened as are needed.

    `over_one` is p95 over the median of one caller alone. `refused` counts answers 429 and
    `refused_p99_ms` how long they took; `failed` counts every other answer, and `failures` says
    which.
    """
    levels: list[dict[str, Any]] = []
    alone: float | None = None
    for count in callers:
        await _level(target, count, max(3, count))
        before = await target.held()
        start = time.perf_counter()
        tally = await _level(target, count, max(requests, 2 * count))
        seconds = time.perf_counter() - start

        times = milliseconds(tally.served_s)
        if count == 1:
            alone = times["p50_ms"]
        refused = milliseconds(tally.refused_s)["p99_ms"] if tally.refused_s else None
        levels.append(
            {
                "callers": count,
                "served": len(tally.served_s),
                "refused": len(tally.refused_s),
                "failed": tally.failed.total(),
                "per_second": round(len(tally.served_s) / seconds, 2),
                **times,
                "refused_p99_ms": refused,
                "failures": dict(tally.failed),
                "over_one": round(times["p95_ms"] / alone, 2) if alone else None,
                "before": before,
                "after": await target.held(),
            }
        )
    return levels


async def _level(target: Target, callers: int, requests: int) -> _Tally:
    tally, turns = _Tally(), iter(range(requests))
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(_caller(target, turns, tally))
    return tally


async def _caller(target: Target, turns: Iterator[int], tally: _Tally) -> None:
    for turn in turns:
        while (wait := await _asked(target, turn, tally)) is not None:  # noqa: ASYNC110 - as long as Retry-After says
            await asyncio.sleep(wait)


async def _asked(target: Target, turn: int, tally: _Tally) -> float | None:
    """Ask once and note how it went.

    Return how long to wait before asking again, None when it was answered.
    """
    start = time.perf_counter()
    try:
        reply = await target.client.post("/retrieve", json=target.body(turn))
    except httpx2.HTTPError as error:
        tally.failed[type(error).__name__] += 1
        return None
    seconds = time.perf_counter() - start
    if reply.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        tally.refused_s.append(seconds)
        return float(reply.headers["retry-after"])
    if reply.status_code == HTTPStatus.OK:
        tally.served_s.append(seconds)
    else:
        tally.failed[f"{reply.status_code} {reply.json().get('code', '')}".strip()] += 1
    return None


# --------------------------------------------------------------------------------------------- soak
async def soak(
    target: Target,
    requests: int,
    callers: int,
    admitted: int,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """Ask `requests` times with `callers` callers, some of whom leave; then tell what has grown.

    `admitted` is MAX_INFLIGHT of the function. `samples` is what the process held after each tenth,
    `growth` the last less the second: the first tenth warms up. `slots_free` tells whether
    afterwards as many requests as the function admits are answered at once: whoever left has freed
    its slot.
    """
    outcomes: Counter[str] = Counter()
    samples: list[Held] = []
    start = time.perf_counter()
    ways = itertools.cycle(SOAKED)
    for step in range(STEPS):
        turns = iter(range(requests * step // STEPS, requests * (step + 1) // STEPS))
        async with asyncio.TaskGroup() as group:
            for _ in range(callers):
                group.create_task(_soaking(target, turns, ways, outcomes))
        samples.append(await _settled(target, samples[-1] if samples else None))
        say(f"{requests * (step + 1) // STEPS} requests: {dict(samples[-1])}")

    seconds = time.perf_counter() - start
    free = await _level(target, admitted, admitted)
    return {
        "requests": requests,
        "seconds": round(seconds, 1),
        "outcomes": dict(outcomes),
        "samples": samples,
        "growth": {
            name: round(samples[-1][name] - samples[1][name], 1)
            for name in ("resident_mb", "sockets", "files", "tasks")
        },
        "slots_free": not free.refused_s and not free.failed,
    }


async def _soaking(
    target: Target, turns: Iterator[int], ways: Iterator[Way], outcomes: Counter[str]
) -> None:
    for turn in turns:
        way = next(ways)
        try:
            outcome = await _once(target, way, target.body(turn))
        except httpx2.HTTPError as error:
            outcome = type(error).__name__
        outcomes[f"{way}: {outcome}"] += 1


async def _once(target: Target, way: Way, body: dict[str, Any]) -> str:
    """Ask in one of the ways; return the status, or that the caller has left."""
    if way == "answer":
        return str((await target.client.post("/retrieve", json=body)).status_code)
    if way == "leave":
        try:
            async with asyncio.timeout(PATIENCE_S):
                return str((await target.client.post("/retrieve", json=body)).status_code)
        except TimeoutError:
            return "left"
    headers = {"accept": "text/event-stream"}
    async with target.client.stream("POST", "/retrieve", json=body, headers=headers) as reply:
        async for part in reply.aiter_bytes():
            if way == "leave the stream" and b"event: progress" in part:
                return "left"
    return str(reply.status_code)


async def _settled(target: Target, before: Held | None) -> Held:
    """Return what the process holds once it has no more tasks than before, or had time enough."""
    end = time.perf_counter() + SETTLED_S
    while True:  # what another process does is no event here
        held = await target.held()
        if before is None or held["tasks"] <= before["tasks"] or time.perf_counter() > end:
            return held
        await asyncio.sleep(0.1)


# ------------------------------------------------------------------------------------------ command
async def bench(asked: Options) -> None:
    """Put the load on the function in a process of its own, and tell what it did and held."""
    async with loaded_function(stack_of(asked), asked) as (function, process, values):
        admitted = values.max_inflight
        start = await _first_answer(function, process)
        levels = await measure_levels(function, asked.callers, asked.requests)
        soaked = None
        if asked.soak:
            soaked = await soak(function, asked.soak, asked.soak_callers, admitted, tell)

    document = {**measured(asked), "max_inflight": admitted, "start": start}
    show({**document, "levels": levels, "soak": soaked}, asked)


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


if __name__ == "__main__":
    run(bench, read_options(__doc__, servers=True, **LOAD))
