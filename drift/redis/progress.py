"""ProgressSink over Redis pub/sub: one queue and one connection a process, bounded in memory.

Whoever sends leaves its message in the queue; one task carries the queue to Redis, many messages in
one packet, and takes a message out when Redis has acknowledged it. So order is kept, and a request
that ends leaves nothing behind. Three rules follow from what networks and servers do:

- A connection that has carried messages and breaks says nothing about the server: the rest is sent
  on a new one at once.
- A connection that is silent is left only when a new one has been answered. A slow or paused server
  would otherwise be sent the same message twice.
- What fails is a new connection: then the messages wait, and the next attempt comes after a pause.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context

from redis.asyncio import Connection
from redis.exceptions import ResponseError

from drift.contracts.progress import CHANNEL
from drift.core.logs import chain, log
from drift.model.health import Readiness
from drift.redis.server import IDLE_SECONDS, RedisServer
from drift.redis.waiting import WaitingMessages, WaitingRoom

SILENT_SECONDS = 0.3
"""How long a connection may be silent until a new one is tried, and once more after that one has
been answered."""
PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between attempts that fail; the last one is repeated
KEPT_SECONDS = 60.0  # how long a message waits for a Redis in trouble
MAX_AT_ONCE, MAX_BYTES_AT_ONCE = 200, 256 * 2**10
"""What is sent before the first answer to it is read."""


class RedisProgress:
    """Publishes messages on their channels, in the order they were sent.

    One comes twice, with the same `message_id`, when a connection breaks before Redis has said so.
    """

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare; nothing is opened yet. It belongs to the event loop of the first message."""
        self._server = server
        self._clock = clock
        self._room = WaitingRoom(8 * 2**20)  # what all messages that wait may take
        self._carrier: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._used = 0.0
        self._proven = False
        self._outdated = False
        self._failures = 0
        self._cause = ""
        self._late: asyncio.TimerHandle | None = None
        self._waiters: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._again = asyncio.Event()
        if server.tokens:
            server.tokens.on_new = self._sign_in_anew

    # ----------------------------------------------------------------------------- for the requests
    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        """Take a message for publishing on a channel; `last` is kept when others must go."""
        text = message.encode(errors="replace")
        self._room.add(text, channel, last=last, now=self._clock())
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._carry(), context=Context())

    async def delivered(self) -> None:
        """Wait until everything sent so far has arrived; not at all while Redis is in trouble."""
        if self._cause or not self._room:
            return
        arrived = asyncio.get_running_loop().create_future()
        self._waiters.append((self._room.newest, arrived))
        await arrived

    async def health(self) -> Readiness:
        """Return ok, or in words why Redis does not answer."""
        return await self._server.health()

    async def close(self) -> None:
        """Give what waits a second to leave, and close the connection."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.delivered()

        if self._carrier:
            self._carrier.cancel()
            await asyncio.gather(self._carrier, return_exceptions=True)

        await self._leave()

    # ---------------------------------------------------------------------------------- the carrier
    async def _carry(self) -> None:
        """Carry messages until none waits."""
        try:
            while self._room:
                self._expect()
                try:
                    await self._publish(self._room.first(MAX_AT_ONCE, MAX_BYTES_AT_ONCE))
                except Exception as error:  # noqa: BLE001 - whatever it is must not reach a request
                    proven = self._proven
                    await self._leave()
                    if not proven:
                        await self._pause(error)
        finally:
            self._carrier = None
            self._expected()
            self._release(self._room.newest)

    async def _publish(self, batch: list[WaitingMessages]) -> None:
        """Send messages and take out those that are acknowledged; an error leaves its own one."""
        connection = await self._connected()
        commands = [("PUBLISH", message.channel, message.text) for message in batch]
        await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        refusal: ResponseError | None = None
        for message in batch:
            try:
                await self._acknowledged(connection)
            except ResponseError as error:
                refusal = error
            else:
                self._arrived(message)

        if refusal:
            raise refusal

    async def _connected(self) -> Connection:
        await self._server.signed_in()  # also renews a token in time
        idle = self._clock() - self._used > IDLE_SECONDS
        if self._connection and (idle or self._outdated or not self._connection.is_connected):
            await self._leave()
        if self._connection is None:
            self._outdated = False
            self._connection = await self._server.opened()

        self._used = self._clock()
        return self._connection

    async def _leave(self) -> None:
        connection, self._connection, self._proven = self._connection, None, False
        if connection:
            await connection.disconnect(nowait=True)

    async def _acknowledged(self, connection: Connection) -> None:
        """Wait for the next answer, as long as the server takes that answers nobody else either."""
        while await connection.read_response(timeout=SILENT_SECONDS) is None:
            try:
                other = await self._server.opened(1.0)  # how long that new one may take
            except Exception as error:
                self._drop_old()
                if not self._room:
                    raise ConnectionResetError("Nothing waits for an answer any more.") from error
                continue

            await other.disconnect(nowait=True)
            if await connection.read_response(timeout=SILENT_SECONDS) is None:
                raise ConnectionResetError("The network has dropped the connection.")
            return

    async def _pause(self, error: Exception) -> None:
        """Wait before the next attempt, or for a new token; drop what has waited too long."""
        self._in_trouble(chain(error))
        self._again.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSES[min(self._failures, len(PAUSES) - 1)]):
                await self._again.wait()

        self._failures += 1
        self._drop_old()

    def _drop_old(self) -> None:
        self._room.drop_older(self._clock() - KEPT_SECONDS)

    def _sign_in_anew(self) -> None:
        """Leave the connection of the old token, which the server cuts when that ends."""
        self._outdated = True
        self._again.set()

    # --------------------------------------------------------------------------- how Redis is doing
    def _expect(self) -> None:
        self._expected()
        loop = asyncio.get_running_loop()
        # Then Redis is in trouble: answers wait for it no longer, messages still do.
        self._late = loop.call_later(0.8, self._in_trouble, chain(TimeoutError()))

    def _expected(self) -> bool:
        """Tell whether the answer was expected still."""
        late, self._late = self._late, None
        if late is None:
            return False
        late.cancel()
        return True

    def _arrived(self, message: WaitingMessages) -> None:
        self._room.arrived(message.number)
        self._proven = True
        self._failures = 0
        if self._expected():
            self._restored()
        self._release(message.number)

    def _in_trouble(self, cause: str) -> None:
        """Let no answer wait; log the cause when it is another one than before."""
        self._expected()
        self._release(self._room.newest)
        if cause != self._cause:
            self._cause = cause
            log.warning(
                "progress_publish_failed", extra={"cause": cause, "waiting": len(self._room)}
            )

    def _restored(self) -> None:
        if self._cause:
            self._cause = ""
            log.info("progress_publish_restored", extra={"dropped": self._room.dropped})
            self._room.dropped = 0

    def _release(self, number: int) -> None:
        """Let those go on who waited for this message or an earlier one."""
        while self._waiters and self._waiters[0][0] <= number:
            _, arrived = self._waiters.popleft()
            if not arrived.done():
                arrived.set_result(None)
