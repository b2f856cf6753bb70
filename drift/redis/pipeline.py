"""Commands of many requests over one connection: those that wait go in one packet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextvars import Context
from typing import Any

from redis.exceptions import InvalidResponse

from drift.redis.server import IDLE_SECONDS, RedisServer

MAX_AT_ONCE = 500

Word = str | int | bytes


class Pipeline:
    """Asks a Redis for requests of one event loop; nothing is opened before the first."""

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare."""
        self._server = server
        self._clock = clock
        self._client = server.client(connections=1, retries=1)
        self._client.response_callbacks.clear()
        self._waiting: list[tuple[tuple[Word, ...], asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None
        self._used = 0.0

    async def ask(self, *words: Word) -> Any:  # noqa: ANN401 - what the command returns
        """Return the answer to a command that may be sent twice; errors are redis-py's own."""
        return (await self.ask_each([words]))[0]

    async def ask_each(self, commands: Iterable[tuple[Word, ...]]) -> list[Any]:
        """Return the answers to several commands, which go in one packet; otherwise as `ask`."""
        loop = asyncio.get_running_loop()
        answers = []
        for words in commands:
            answers.append(loop.create_future())
            self._waiting.append((words, answers[-1]))

        if self._sending is None:
            self._sending = asyncio.create_task(self._send(), context=Context())
        return await asyncio.gather(*answers)

    async def close(self) -> None:
        """Close the connection; what waits is cancelled."""
        if self._sending:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        for _, answer in self._waiting:
            answer.cancel()
        await self._client.aclose()

    async def _send(self) -> None:
        """Send packets until nobody waits."""
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[:MAX_AT_ONCE], self._waiting[MAX_AT_ONCE:]
                batch = [(words, answer) for words, answer in taken if not answer.done()]
                if batch:
                    await self._answer(batch)
        finally:
            self._sending = None

    async def _answer(self, batch: list[tuple[tuple[Word, ...], asyncio.Future[Any]]]) -> None:
        replies: list[Any]
        try:
            replies = await self._exchange([words for words, _ in batch])
        except Exception as error:  # noqa: BLE001 - each request is told, whatever it is
            replies = [error] * len(batch)
        except asyncio.CancelledError:
            for _, answer in batch:
                answer.cancel()
            raise

        for (_, answer), reply in zip(batch, replies, strict=True):
            if answer.done():
                continue
            if isinstance(reply, Exception):
                answer.set_exception(reply)
            else:
                answer.set_result(reply)

    async def _exchange(self, commands: list[tuple[Word, ...]]) -> list[Any]:
        await self._server.signed_in()  # also renews a token in time
        if self._clock() - self._used > IDLE_SECONDS:
            await self._client.connection_pool.disconnect()

        packet = self._client.pipeline(transaction=False)
        for words in commands:
            packet.execute_command(*words)

        try:
            # How long a packet may take, with a connection that has to be opened first.
            async with asyncio.timeout(3.0):
                replies = await packet.execute(raise_on_error=False)
        except (ValueError, TypeError, RecursionError) as error:  # what redis-py's parser meets
            raise InvalidResponse("No reply of a Redis.") from error

        self._used = self._clock()
        return replies
