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
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context

from redis.asyncio import Connection
from redis.exceptions import ResponseError

from drift.contracts.progress import CHANNEL
from drift.core.logs import chain, log
from drift.model.health import Readiness
from drift.redis.server import IDLE_SECONDS, RedisServer
from drift.redis.waiting import WaitingMessage, WaitingRoom

LATE_SECONDS = 0.8
"""How long an answer waits for its messages; then Redis is in trouble, and no other answer does."""
SILENT_SECONDS = 0.3
"""How long a connection may be silent until a new one is tried, and once more after that one has
been answered."""
PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between attempts that fail; the last one is repeated
KEPT_SECONDS = 60.0  # how long a message waits for a Redis in trouble
MAX_AT_ONCE = 200  # messages that are sent before the first answer to them is read


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
        self._used = self._begun = 0.0
        self._proven = False
        self._outdated = False
        self._failures = 0
        self._cause = ""
        self._changed = asyncio.Event()
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
        newest = self._room.newest
        try:
            async with asyncio.timeout(LATE_SECONDS):
                while self._room.oldest <= newest and not self._cause:
                    await self._changed.wait()
        except TimeoutError as error:  # which concerns all requests, not the one that has waited
            Context().run(self._in_trouble, chain(error))

    async def health(self) -> Readiness:
        """Return ok, or in words why Redis does not answer."""
        return await self._server.health()

    async def close(self) -> None:
        """Give what waits a moment to leave, and close the connection."""
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
                try:
                    await self._publish(self._room.first(MAX_AT_ONCE))
                except Exception as error:  # noqa: BLE001 - whatever it is must not reach a request
                    proven = self._proven
                    await self._leave()
                    if not proven:
                        await self._pause(error)
        finally:
            self._carrier = None

    async def _publish(self, batch: list[WaitingMessage]) -> None:
        """Send messages and take out those that are acknowledged; an error leaves its own one."""
        self._begun = asyncio.get_running_loop().time()
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
                self._in_trouble(chain(error))
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
        self._tell()

    def _sign_in_anew(self) -> None:
        """Leave the connection of the old token, which the server cuts when that ends."""
        self._outdated = True
        self._again.set()

    # --------------------------------------------------------------------------- how Redis is doing
    def _arrived(self, message: WaitingMessage) -> None:
        self._room.arrived(message.number)
        self._proven = True
        self._failures = 0
        is_late = asyncio.get_running_loop().time() - self._begun > LATE_SECONDS
        if self._cause and not is_late:
            self._cause = ""
            log.info("progress_publish_restored", extra={"dropped": self._room.dropped})
            self._room.dropped = 0
        self._tell()

    def _in_trouble(self, cause: str) -> None:
        """Let no answer wait; log the cause when it is another one than before."""
        if cause != self._cause:
            self._cause = cause
            log.warning(
                "progress_publish_failed", extra={"cause": cause, "waiting": len(self._room)}
            )
        self._tell()

    def _tell(self) -> None:
        """Have those look again who wait."""
        self._changed.set()
        self._changed.clear()
