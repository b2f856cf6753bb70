"""Progress of many requests at once, on the real worker.

Whoever subscribes hears exactly one last message of each retrieval.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self
from uuid import uuid4

import httpx2
import pytest
from redis.asyncio import Redis

from drift.contracts.progress import CHANNEL
from drift.http.settings import environment
from drift.local.stack.model_process import ModelProcess
from drift.local.stack.valkey_server import ValkeyServer
from tests.bench.load_process import LoadProcess, load_process
from tests.bench.static_graph import QUESTION
from tests.model_server.process import slow_model
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON),
]

PATIENCE_S = 90.0
ADMITTED = 32
"""MAX_INFLIGHT as it is when nobody sets it."""
CROWDS = [ADMITTED // 2, pytest.param(200, marks=pytest.mark.deep)]
"""Callers at once; of more than are admitted, the others ask again."""
LAST = {"completed", "error"}


@dataclass
class Channel:
    """Everything that is published while the block runs, by retrieval.

    `changed` tells of each message.
    """

    url: str
    heard: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __aenter__(self) -> Self:
        self._client = Redis.from_url(self.url, protocol=2)
        self._channel = self._client.pubsub()
        await self._channel.subscribe(CHANNEL)
        await self._channel.get_message(timeout=PATIENCE_S)
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._channel.aclose()
        await self._client.aclose()

    async def _read(self) -> None:
        async for item in self._channel.listen():
            message = httpx2.Response(200, content=item["data"]).json()
            async with self.changed:
                self.heard[message["retrieval_id"]].append(message["phase"])
                self.changed.notify_all()

    def lasts(self, retrieval_id: str) -> list[str]:
        """Return the last messages of a retrieval that have come."""
        return [phase for phase in self.heard.get(retrieval_id, ()) if phase in LAST]

    async def ended(self, retrieval_ids: list[str]) -> None:
        """Return when each of these has had a last message, and all published so far has come."""
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(lambda: all(self.lasts(one) for one in retrieval_ids))
        marker = str(uuid4())
        await self._client.publish(CHANNEL, f'{{"retrieval_id": "{marker}", "phase": "completed"}}')
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(lambda: marker in self.heard)


@dataclass(frozen=True)
class Hosted:
    """The function in a process of its own, and what is published meanwhile."""

    client: httpx2.AsyncClient
    channel: Channel

    async def ask(self, retrieval_id: str) -> int:
        """Ask until the function admits the request; return the status."""
        while (status := await self.ask_once(retrieval_id)) == 429:  # noqa: ASYNC110 - as callers do
            await asyncio.sleep(0.5)
        return status

    async def ask_once(self, retrieval_id: str) -> int:
        """Ask once; return the status."""
        body = {"query": QUESTION, "project_id": "p", "retrieval_id": retrieval_id}
        return (await self.client.post("/retrieve", json=body)).status_code


@pytest.fixture(scope="module")
def model() -> Iterator[ModelProcess]:
    """A model server as slow as a network, so that requests are under way together."""
    with slow_model(chat_ms=50, embed_ms=20, remembers=True) as server:
        yield server


@asynccontextmanager
async def hosted(url: str, model: ModelProcess, **settings: str) -> AsyncIterator[Hosted]:
    """Run the function, over a graph in memory, while the block runs."""
    given = {
        **environment(),
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_PASSWORD": "unused",
        **model.env,
        "REDIS_URL": url,
        **settings,
    }
    async with (
        load_process("worker", "memory", given) as running,
        Channel(url) as channel,
        client_of(running) as client,
    ):
        yield Hosted(client, channel)


@asynccontextmanager
async def client_of(running: LoadProcess) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    headers = {"x-functions-key": running.key}
    async with httpx2.AsyncClient(
        base_url=running.url, headers=headers, limits=limits, timeout=PATIENCE_S, trust_env=False
    ) as client:
        yield client


def ids(count: int) -> list[str]:
    return [str(uuid4()) for _ in range(count)]


@pytest.mark.parametrize("crowd", CROWDS)
async def test_every_request_that_begins_has_exactly_one_last_message(
    crowd: int, valkey: ValkeyServer, model: ModelProcess
) -> None:
    async with hosted(valkey.url, model) as function:
        await all_are_answered(function, ids(crowd))
        await callers_leave(function, leaving=ids(8), staying=ids(8))
        await some_are_refused(function, ids(ADMITTED + 8))


async def all_are_answered(function: Hosted, asked: list[str]) -> None:
    statuses = await asyncio.gather(*(function.ask(one) for one in asked))
    await function.channel.ended(asked)
    assert Counter(statuses) == {200: len(asked)}
    assert {tuple(function.channel.lasts(one)) for one in asked} == {("completed",)}
    assert {function.channel.heard[one][0] for one in asked} == {"initializing"}
    assert {function.channel.heard[one][-1] for one in asked} == {"completed"}


async def callers_leave(function: Hosted, leaving: list[str], staying: list[str]) -> None:
    """What began ends with one last message.

    What the host had not begun to answer says nothing at all.
    """
    heard, changed = function.channel.heard, function.channel.changed
    asking = [asyncio.create_task(function.ask(one)) for one in leaving]
    stay = [asyncio.create_task(function.ask(one)) for one in staying]
    async with asyncio.timeout(PATIENCE_S), changed:
        await changed.wait_for(lambda: any(one in heard for one in leaving))
    for task in asking:
        task.cancel()
    assert await asyncio.gather(*stay) == [200] * len(staying)
    began = [one for one in leaving if one in heard]
    await function.channel.ended([*staying, *began])
    assert {tuple(function.channel.lasts(one)) for one in staying} == {("completed",)}
    assert {len(function.channel.lasts(one)) for one in began} == {1}
    assert {heard[one][-1] in LAST for one in began} == {True}


async def some_are_refused(function: Hosted, asked: list[str]) -> None:
    """A refused request began nothing and says nothing."""
    statuses = dict(
        zip(asked, await asyncio.gather(*(function.ask_once(one) for one in asked)), strict=True)
    )
    answered = {one for one, status in statuses.items() if status == httpx2.codes.OK}
    await function.channel.ended(list(answered))
    assert set(statuses.values()) == {200, 429}
    assert set(asked) & set(function.channel.heard) == answered
