"""How late the words of an answer are: a streamed answer against the clock of the model's server.

The stand-in notes when it has sent how much of a reply. The clock is the machine's own, so that two
processes can be compared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pydantic_core import from_json

from drift.answer.streaming import GrowingAnswer
from drift.contracts.final_replies import SentenceReply
from drift.evidence.answer_statements import proven
from drift.local.event_stream import ACCEPT, read_events
from drift.model.tree import Citation, Fact
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of
from tests.bench.load_process import LOAD, Target, loaded_function, measured

DEPTHS = ("quick", "drift")
MAX_FACTS = 100
_FACTS = [Fact(n, Citation(str(n), "", ""), 1.0) for n in range(1, MAX_FACTS + 1)]
"""The stand-in names no evidence that does not hold."""


@dataclass(slots=True)
class _Stream:
    """One answer as it came: how much of it was there at which second of the clock."""

    question: str
    began: float
    told: list[tuple[str, float]] = field(default_factory=list)
    ended: float = 0.0
    replaced: bool = False

    def take(self, name: str, data: Mapping[str, Any]) -> None:
        now = time.monotonic()
        before = self.told[-1][0] if self.told else ""
        if name == "answer_delta":
            self.told.append((before + data["text"], now))
        elif name == "answer_replaced":
            self.replaced = True
        elif name == "result":
            self.ended = now


async def measure_streams(
    target: Target, model: httpx2.AsyncClient, callers: Sequence[int], requests: int
) -> list[dict[str, Any]]:
    """Measure each number of callers over so many answers, and at least two a caller.

    `model` is a client of the model's server, which tells when it has sent what.

    Every question is asked once before, so that the stand-in remembers its reply.
    """
    counts = {count: max(requests, 2 * count) for count in callers}
    await _asked(target, max(callers), max(counts.values()))

    levels = []
    for count, answers in counts.items():
        await model.delete("/requests")
        streams = await _asked(target, count, answers)
        written = (await model.get("/requests")).json()["written"]
        levels.append(_level(count, streams, written))
    return levels


async def _asked(target: Target, callers: int, requests: int) -> list[_Stream]:
    turns, streams = iter(range(requests)), []

    async def ask() -> None:
        streams.extend([await _one(target, turn) for turn in turns])

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(ask())
    return streams


async def _one(target: Target, turn: int) -> _Stream:
    """Ask a question of its own, so that its reply can be told from others."""
    body = target.body(turn)
    body["query"] += f" ({turn})"
    stream = _Stream(body["query"], time.monotonic())
    async with target.client.stream("POST", "/retrieve", json=body, headers=ACCEPT) as reply:
        async for name, data in read_events(reply):
            stream.take(name, data)
    return stream


def _level(
    callers: int, streams: Sequence[_Stream], written: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return milliseconds.

    `first_words` is from the request to the first words, `whole` to the result. `relayed` is from
    the token with which a sentence could be told to its arrival, `ended` from the token that ends
    the sentence. `replaced` counts answers that were taken back, `failed` those without a result.
    """
    replies = {one["question"]: one for one in written if '"sentences"' in one["text"]}
    answered = [one for one in streams if one.ended and one.told]
    late = [
        pair
        for one in answered
        if one.question in replies and not one.replaced
        for pair in _lateness(one, replies[one.question])
    ]
    first = [one.told[0][1] - one.began for one in answered]
    whole = [one.ended - one.began for one in answered]
    relayed, ended = [pair[0] for pair in late], [pair[1] for pair in late]
    return {
        "callers": callers,
        "answers": len(answered),
        "failed": len(streams) - len(answered),
        "replaced": sum(one.replaced for one in streams),
        "sentences": len(late),
        **_named("first_words", milliseconds(first, (50, 95))),
        **_named("whole", milliseconds(whole, (50, 95))),
        **_named("relayed", milliseconds(relayed, (50, 99, 100))),
        **_named("ended", milliseconds(ended, (50, 99))),
    }


def _named(name: str, times: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}_{percent}".replace("_most_", "_max_"): ms for percent, ms in times.items()}


def _lateness(stream: _Stream, written: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Yield for each arrival the seconds since it could be told, and since the model ended it."""
    growing = GrowingAnswer(lambda _: _FACTS)
    could: list[tuple[str, float]] = []
    done: list[tuple[str, float]] = []
    for characters, at in written["times"]:
        reply = written["text"][:characters]
        could.append((growing.deliverable(reply), at))
        words = [row[0] for row in from_json(reply, allow_partial="on").get("sentences", ()) if row]
        said = [SentenceReply(text=text, facts=(1,)) for text in words]
        done.append((proven(said, _FACTS).text, at))

    for text, arrived in stream.told:
        sent = next((at for had, at in could if had.startswith(text)), None)
        ended = next((at for had, at in done if had.startswith(text)), None)
        if sent is not None and ended is not None:
            yield arrived - sent, arrived - ended


async def bench(asked: Options) -> None:
    """Stream answers, and tell how soon and how late their words are."""
    async with (
        loaded_function(stack_of(asked), asked) as (function, _, values),
        httpx2.AsyncClient(base_url=values.oai_base_url, trust_env=False, timeout=60) as model,
    ):
        levels = await measure_streams(function, model, asked.callers, asked.requests)
    show({**measured(asked), "levels": levels}, asked)


if __name__ == "__main__":
    options = {name: told for name, told in LOAD.items() if not name.startswith("soak")}
    own = {
        "callers": ((1, 32), "callers at once, with commas between the levels"),
        "requests": (64, "answers at each level, 500 at most; at least two a caller"),
        "depth": ("quick", "how far to go", *DEPTHS),
        "chat_ms": (1000.0, "latency of each chat call, milliseconds"),
        "token_ms": (16.7, "latency of each token of a reply, milliseconds"),
    }
    run(bench, read_options(__doc__, servers=True, **{**options, **own}))
