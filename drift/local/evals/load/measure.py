"""What the function does under load: callers in a closed loop, and a soak.

In the soak some of them leave early.

A caller asks, waits for its answer and asks again. Who is refused (429) waits as long as
Retry-After says and asks the same again; such waits are in no latency. What the function's process
holds is told by the process itself.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from drift.local.evals.timing import percentile
from drift.local.say import Say

Held = Mapping[str, Any]
"""What a process holds: `resident_mb`, `sockets`, `tasks`, `loop_lag_p99_ms` and more."""
Way = Literal["answer", "stream", "leave", "leave the stream"]

BUSY = 429
OK = 200
_ANSWERS: Sequence[Way] = ["answer"] * 6
SOAKED: Sequence[Way] = (*_ANSWERS, "stream", "stream", "leave", "leave the stream")
"""What callers do in turn in a soak: one in ten leaves before the answer, one in ten in the middle
of a stream."""
PATIENCE_S = 0.005
"""How long a caller who leaves has waited."""
SETTLED_S = 10.0
"""How long the process may take to be rid of what callers left behind."""
STEPS = 10


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


@dataclass(frozen=True, slots=True)
class Level:
    """One number of callers; milliseconds.

    `over_one` is p95 over the median of one caller alone. `refused` counts answers 429 and
    `refused_p99_ms` how long they took; `failed` counts every other answer, and `failures` says
    which.
    """

    callers: int
    served: int
    refused: int
    failed: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    refused_p99_ms: float | None
    failures: Mapping[str, int]
    over_one: float | None
    before: Held
    after: Held


@dataclass(frozen=True, slots=True)
class Soak:
    """Many requests in all ways.

    `samples` is what the process held after each tenth, `growth` the last less the second.
    The first tenth warms up. `slots_free` tells whether afterwards as many requests as the function
    admits are answered at once: whoever left has freed its slot.
    """

    requests: int
    seconds: float
    outcomes: Mapping[str, int]
    samples: Sequence[Held]
    growth: Mapping[str, float]
    slots_free: bool


@dataclass(slots=True)
class _Tally:
    served_ms: list[float] = field(default_factory=list)
    refused_ms: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


async def measure_levels(target: Target, callers: Sequence[int], requests: int) -> list[Level]:
    """Put each number of callers on the function in turn.

    Each level is measured over `requests` answers, and at least two a caller.
    Each caller has asked once before it is measured: clients are built then, and as many
    connections opened as are needed.
    """
    levels: list[Level] = []
    alone: float | None = None
    for count in callers:
        await _level(target, count, max(3, count))
        before = await target.held()
        start = time.perf_counter()
        tally = await _level(target, count, max(requests, 2 * count))
        seconds = time.perf_counter() - start
        after = await target.held()
        if count == 1:
            alone = _ms(tally.served_ms, 50)
        levels.append(_told(count, tally, seconds, (before, after), alone))
    return levels


def _told(
    callers: int, tally: _Tally, seconds: float, held: tuple[Held, Held], alone: float | None
) -> Level:
    p95 = _ms(tally.served_ms, 95)
    return Level(
        callers=callers,
        served=len(tally.served_ms),
        refused=len(tally.refused_ms),
        failed=tally.failed.total(),
        per_second=round(len(tally.served_ms) / seconds, 2),
        p50_ms=_ms(tally.served_ms, 50),
        p95_ms=p95,
        p99_ms=_ms(tally.served_ms, 99),
        refused_p99_ms=_ms(tally.refused_ms, 99) if tally.refused_ms else None,
        failures=dict(tally.failed),
        over_one=round(p95 / alone, 2) if alone else None,
        before=held[0],
        after=held[1],
    )


def _ms(values: Sequence[float], percent: int) -> float:
    return round(percentile(values or [0.0], percent), 1)


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
    milliseconds = 1000 * (time.perf_counter() - start)
    if reply.status_code == BUSY:
        tally.refused_ms.append(milliseconds)
        return float(reply.headers["retry-after"])
    if reply.status_code == OK:
        tally.served_ms.append(milliseconds)
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
) -> Soak:
    """Ask `requests` times with `callers` callers, some of whom leave; then tell what has grown.

    `admitted` is MAX_INFLIGHT of the function.
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
    growth = {
        name: round(samples[-1][name] - samples[1][name], 1)
        for name in ("resident_mb", "sockets", "files", "tasks")
    }
    return Soak(
        requests,
        round(seconds, 1),
        dict(outcomes),
        samples,
        growth,
        not free.refused_ms and not free.failed,
    )


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
