"""ProgressSink over Redis pub/sub: one queue a process, bounded in memory.

Whoever sends leaves its message in the queue; one task carries the queue to Redis, many messages in
one packet, and takes a message out when Redis has acknowledged it. So order is kept, and a request
that ends leaves nothing behind. What fails is sent again after a pause. When a packet breaks, it is
not known what Redis has of it, so the packets after it are small at first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import Context

from drift.contracts.progress import CHANNEL
from drift.core.logs import chain, log
from drift.model.health import Readiness
from drift.redis.server import RedisServer
from drift.redis.waiting import WaitingRoom

LATE_SECONDS = 0.8
"""How long an answer waits for its messages; then Redis is in trouble, and no other answer does."""
KEPT_SECONDS = 60.0  # how long a message waits for a Redis in trouble
MAX_AT_ONCE, MAX_BYTES_AT_ONCE = 200, 256 * 2**10  # messages in one packet


class RedisProgress:
    """Publishes messages on their channels, in the order they were sent.

    One comes again, with the same `message_id`, when its packet breaks before Redis has answered.
    """

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare; nothing is opened yet. It belongs to the event loop of the first message."""
        self._server = server
        self._clock = clock
        self._room = WaitingRoom(8 * 2**20)  # what all messages that wait may take
        self._carrier: asyncio.Task[None] | None = None
        self._failures = 0
        self._at_once = MAX_AT_ONCE
        self._cause = ""
        self._changed = asyncio.Event()

    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        """Take a message for publishing on a channel; `last` is kept when others must go."""
        text = message.encode(errors="replace")
        self._room.add(text, channel, last=last, now=self._clock())
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._carry(), context=Context())

    async def delivered(self) -> None:
        """Wait until everything sent so far has arrived; not at all while Redis is in trouble."""
        newest = self._room.newest
        try:
            async with asyncio.timeout(LATE_SECONDS):
                while self._room.oldest <= newest and not self._cause:
                    await self._changed.wait()
        except TimeoutError as error:  # which concerns all requests, not the one that has waited
            Context().run(self._fail, chain(error))

    async def health(self) -> Readiness:
        """Return ok, or in words why Redis does not answer."""
        return await self._server.health()

    async def close(self) -> None:
        """Give what waits a moment to leave, and close the connections of the server."""
        await self.delivered()
        if self._carrier:
            self._carrier.cancel()
            await asyncio.gather(self._carrier, return_exceptions=True)
        await self._server.close()

    async def _carry(self) -> None:
        """Carry messages until none waits."""
        pauses = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between attempts; the last one is repeated
        try:
            while self._room:
                try:
                    await self._publish()
                except Exception as error:  # noqa: BLE001 - whatever it is must not reach a request
                    self._fail(chain(error))
                    await asyncio.sleep(pauses[min(self._failures, len(pauses) - 1)])
                    self._failures += 1
                    self._room.drop_older(self._clock() - KEPT_SECONDS)
        finally:
            self._carrier = None

    async def _publish(self) -> None:
        """Send the oldest messages and take out those that arrive; an error leaves its own one."""
        begun, most = time.monotonic(), self._at_once
        batch = self._room.first(most, MAX_BYTES_AT_ONCE)
        self._at_once = 1  # unless all of it is answered
        replies = await self._server.ask_each(("PUBLISH", one.channel, one.text) for one in batch)
        self._at_once = min(2 * most, MAX_AT_ONCE)
        for message, reply in zip(batch, replies, strict=True):
            if not isinstance(reply, Exception):
                self._room.arrived(message.number)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply

        self._failures = 0
        if self._cause and time.monotonic() - begun < LATE_SECONDS:
            self._cause = ""
            log.info("progress_publish_restored", extra={"dropped": self._room.dropped})
            self._room.dropped = 0
        self._tell()

    def _fail(self, cause: str) -> None:
        """Let no answer wait; log the cause when it is another one than before."""
        if cause != self._cause:
            self._cause = cause
            waiting = len(self._room)
            log.warning("progress_publish_failed", extra={"cause": cause, "waiting": waiting})
        self._tell()

    def _tell(self) -> None:
        """Have those look again who wait."""
        self._changed.set()
        self._changed.clear()
