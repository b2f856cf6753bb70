"""Commands of many requests over one connection: those that wait go in one packet.

So a burst of requests opens and signs in no connections of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Connection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from drift.redis.server import IDLE_SECONDS, RedisServer, reply

ANSWER_SECONDS = 2.0
"""How long a packet may take before its connection is given up."""
MAX_AT_ONCE = 500

Word = str | int | bytes


@dataclass(frozen=True, slots=True)
class _Waiting:
    words: tuple[Word, ...]
    answer: asyncio.Future[Any]

    def tell(self, answer: Any) -> None:  # noqa: ANN401 - what the command returns
        """Answer whoever waits; an exception is raised there."""
        if self.answer.done():
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class Packets:
    """Asks a Redis for requests of one event loop; nothing is opened before the first."""

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare."""
        self._server = server
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._carrier: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._used = 0.0

    async def ask(self, *words: Word) -> Any:  # noqa: ANN401 - what the command returns
        """Return the answer to a command, which must be one that may be sent twice.

        A command of somebody who no longer waits is not sent any more.

        Raises:
            Exception: redis-py's own, or the identity's.
        """
        return await self._asked(words)

    async def ask_each(self, commands: Iterable[tuple[Word, ...]]) -> list[Any]:
        """Return the answers to several commands, which go in one packet; otherwise as `ask`."""
        return await asyncio.gather(*map(self._asked, commands))

    def _asked(self, words: tuple[Word, ...]) -> asyncio.Future[Any]:
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(words, answer))
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._carry())
        return answer

    async def close(self) -> None:
        """Close the connection; what waits is cancelled."""
        if self._carrier:
            self._carrier.cancel()
            await asyncio.gather(self._carrier, return_exceptions=True)
        for one in self._waiting:
            one.answer.cancel()
        await self._leave()

    async def _carry(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[:MAX_AT_ONCE], self._waiting[MAX_AT_ONCE:]
                if batch := [one for one in taken if not one.answer.done()]:
                    await self._exchange(batch)
        finally:
            self._carrier = None

    async def _exchange(self, batch: list[_Waiting]) -> None:
        """Answer each; a connection that broke while nobody used it is replaced once."""
        try:
            was_used = await self._connected()
            try:
                await self._send(batch)
            except (RedisConnectionError, OSError) as error:
                if not was_used or isinstance(error, TimeoutError):
                    raise
                await self._connected()
                await self._send([one for one in batch if not one.answer.done()])
        except Exception as error:  # noqa: BLE001 - each request is told, whatever it is
            for one in batch:
                one.tell(error)
        except asyncio.CancelledError:
            for one in batch:
                one.answer.cancel()
            raise

    async def _connected(self) -> bool:
        """Open a connection where there is none; tell whether there was one."""
        await self._server.signed_in()  # also renews a token in time
        if self._clock() - self._used > IDLE_SECONDS:
            await self._leave()
        if self._connection is not None:
            return True
        self._connection = await self._server.opened()
        return False

    async def _send(self, batch: list[_Waiting]) -> None:
        """Send a packet, and answer each command as soon as the server has."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - `_connected` has opened it
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                packed = connection.pack_commands([one.words for one in batch])
                await connection.send_packed_command(packed, check_health=False)
                for one in batch:
                    one.tell(await _answer(connection))
        except BaseException:
            await self._leave()
            raise
        self._used = self._clock()

    async def _leave(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.disconnect(nowait=True)


async def _answer(connection: Connection) -> Any:  # noqa: ANN401 - what the command returns
    """Return an answer; a refusal of one command is the answer to that one."""
    try:
        return await reply(connection)
    except ResponseError as refusal:
        return refusal
