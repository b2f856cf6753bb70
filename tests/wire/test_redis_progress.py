"""The queue to Redis over real sockets.

Slow, paused, restarted, cut and dead servers, and nobody hears anything twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from drift.contracts.progress import CHANNEL, Phase
from drift.local.stack.loopback import free_port
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.progress import KEPT_SECONDS, RedisProgress
from drift.redis.server import RedisServer
from drift.search.progress import Progress
from tests.proxy import proxied

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

PATIENCE_S = 30
REQUESTS = 20


@dataclass
class Ears:
    """Everything that is published, in order."""

    url: str
    heard: list[str] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Ears]:
        there = asyncio.Event()
        task = asyncio.create_task(self._listen(there))
        await there.wait()
        yield self
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _listen(self, there: asyncio.Event) -> None:
        while True:
            try:
                async with (
                    Redis.from_url(self.url, protocol=2) as client,
                    client.pubsub() as channel,
                ):
                    await channel.subscribe(CHANNEL)
                    async for item in channel.listen():
                        there.set()
                        if item["type"] == "message":
                            async with self.changed:
                                self.heard.append(item["data"].decode())
                                self.changed.notify_all()
            except (RedisError, OSError):
                await asyncio.sleep(0.01)  # the server is being started again

    async def until(self, count: int) -> list[str]:
        """Return what was heard once there are so many messages."""
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(lambda: len(self.heard) >= count)
        return self.heard


@pytest.fixture
async def ears(valkey: ValkeyServer) -> AsyncIterator[Ears]:
    async with Ears(valkey.url).listening() as ears:
        yield ears


@asynccontextmanager
async def sink_to(
    url: str, clock: Callable[[], float] | None = None
) -> AsyncIterator[RedisProgress]:
    sink = RedisProgress(RedisServer(url), clock) if clock else RedisProgress(RedisServer(url))
    yield sink
    await sink.close()


def numbers(first: int, count: int) -> list[str]:
    return [str(number) for number in range(first, first + count)]


def send(sink: RedisProgress, messages: list[str]) -> None:
    for message in messages:
        sink.send(message, last=False)


async def test_many_at_once_share_one_connection_and_keep_their_order(
    valkey: ValkeyServer, ears: Ears
) -> None:
    port = urlsplit(valkey.url).port
    assert port
    async with proxied(port) as proxy, sink_to(f"redis://127.0.0.1:{proxy.port}") as sink:
        for number in range(1000):
            sink.send(str(number), last=False)
            if number % 7 == 0:
                await asyncio.sleep(0)
        await sink.delivered()
        assert await ears.until(1000) == numbers(0, 1000)
        assert proxy.accepted == 1


async def test_requests_that_are_cancelled_leave_one_last_message_each(
    valkey: ValkeyServer, ears: Ears
) -> None:
    begun = asyncio.Barrier(REQUESTS + 1)

    async def request(number: int) -> None:
        async with Progress("p", str(number), sink) as progress:
            progress.report(Phase.INITIALIZING, "s")
            await begun.wait()
            await asyncio.Event().wait()

    async with sink_to(valkey.url) as sink:
        tasks = [asyncio.create_task(request(number)) for number in range(REQUESTS)]
        await begun.wait()
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()  # once more, while it waits for its last message
        await asyncio.gather(*tasks, return_exceptions=True)
        heard = [json.loads(message) for message in await ears.until(2 * REQUESTS)]
    ended = [message["retrieval_id"] for message in heard if message["phase"] == "error"]
    assert sorted(ended) == sorted(numbers(0, REQUESTS))


# -------------------------------------------------------------------------- slow and paused servers
@pytest.fixture
def mortal() -> Iterator[ValkeyServer]:
    with ValkeyServer(port=free_port()) as server:
        yield server


async def test_a_paused_server_is_not_sent_anything_twice(mortal: ValkeyServer) -> None:
    """It takes what waits in its sockets when it goes on.

    To ask again elsewhere would be to say it twice.
    """
    async with Ears(mortal.url).listening() as ears, sink_to(mortal.url) as sink:
        send(sink, ["0"])
        await sink.delivered()
        assert mortal.pid
        os.kill(mortal.pid, signal.SIGSTOP)
        try:
            send(sink, numbers(1, 50))
            await sink.delivered()  # it is late: nobody waits for it
            send(sink, numbers(51, 50))
            async with asyncio.timeout(0.5):
                await sink.delivered()
        finally:
            os.kill(mortal.pid, signal.SIGCONT)
        await ears.until(101)
        send(sink, ["101"])
        assert await ears.until(102) == numbers(0, 102)


async def test_every_message_of_a_slow_server_comes_once(mortal: ValkeyServer) -> None:
    """One that stands still for half a second, again and again.

    Longer than a connection may be silent.
    """
    async with Ears(mortal.url).listening() as ears, sink_to(mortal.url) as sink:
        assert mortal.pid
        for round_ in range(3):
            os.kill(mortal.pid, signal.SIGSTOP)
            send(sink, numbers(20 * round_, 20))
            await asyncio.sleep(0.5)  # the slowness itself
            os.kill(mortal.pid, signal.SIGCONT)
            await sink.delivered()
        assert await ears.until(60) == numbers(0, 60)


# ------------------------------------------------------------------------- servers that go and come
async def test_a_restart_in_the_middle_costs_no_last_message(mortal: ValkeyServer) -> None:
    port = mortal.port
    async with sink_to(mortal.url) as sink:
        send(sink, ["before"])
        await sink.delivered()
        await asyncio.to_thread(mortal.stop)
        for number in range(REQUESTS):
            sink.send(f"step {number}", last=False)
            sink.send(f"last {number}", last=True)
        await sink.delivered()
        again = ValkeyServer(port=port)
        await asyncio.to_thread(again.start)
        try:
            assert str(await sink.health()) == "ok"
            async with Ears(again.url).listening() as ears:
                sink.send("after", last=True)
                async with asyncio.timeout(PATIENCE_S), ears.changed:
                    await ears.changed.wait_for(lambda: "after" in ears.heard)
            lasts = [message for message in ears.heard if message.startswith("last")]
            assert lasts == sorted(set(lasts), key=lambda message: int(message.split()[1]))
        finally:
            await asyncio.to_thread(again.stop)


async def test_what_waits_for_a_server_is_said_when_it_comes(
    valkey: ValkeyServer, ears: Ears
) -> None:
    port = urlsplit(valkey.url).port
    assert port
    async with proxied(port) as proxy, sink_to(f"redis://127.0.0.1:{proxy.port}") as sink:
        proxy.server_port = 1  # whoever connects is cut off
        for number in range(REQUESTS):
            sink.send(str(number), last=True)
        async with asyncio.timeout(PATIENCE_S):
            await sink.delivered()
        assert ears.heard == []
        proxy.server_port = port
        assert await ears.until(REQUESTS) == numbers(0, REQUESTS)


@pytest.mark.parametrize("cut", ["finish", "reset"])
async def test_connections_that_break_again_and_again_lose_nothing(
    valkey: ValkeyServer, ears: Ears, cut: str
) -> None:
    port = urlsplit(valkey.url).port
    assert port
    async with proxied(port) as proxy, sink_to(f"redis://127.0.0.1:{proxy.port}") as sink:
        for number in range(200):
            send(sink, [str(number)])
            if number % 10 == 0:
                await sink.delivered()
                getattr(proxy, cut)()
            await asyncio.sleep(0.001)
        async with asyncio.timeout(PATIENCE_S), ears.changed:
            await ears.changed.wait_for(lambda: "199" in ears.heard)
    assert list(dict.fromkeys(ears.heard)) == numbers(0, 200)


async def test_a_dead_server_holds_nobody_up_and_old_messages_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    async with sink_to("redis://127.0.0.1:1", lambda: now[0]) as sink:
        for number in range(REQUESTS):
            sink.send(str(number), last=True)
            async with asyncio.timeout(PATIENCE_S):
                await sink.delivered()
        assert sink._carrier
        now[0] = KEPT_SECONDS + 1
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([sink._carrier])
        assert sink._carrier is None
    assert [record.event for record in caplog.records] == ["progress_publish_failed"]
