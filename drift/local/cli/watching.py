"""Following one retrieval on Redis, as a user interface does; it never costs the answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from drift.contracts.progress import CHANNEL, LAST_PHASES, ProgressMessage, channel_of
from drift.local.say import Say
from drift.redis.server import RedisServer

SUBSCRIBE_S = 3.0
"""How long a question waits until its progress can be followed."""
LAST_MESSAGE_S = 2.0
"""How long the last progress message may come after the answer."""


@dataclass(slots=True)
class Watch:
    """Follows one retrieval on its channel: `show` gets messages, `say` why none come."""

    retrieval_id: str
    show: Callable[[dict[str, Any]], None]
    say: Say
    channel: str = CHANNEL
    received: list[dict[str, Any]] = field(default_factory=list)
    _subscribed: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def following(self, make: Callable[[], RedisServer | None]) -> AsyncIterator[None]:
        """Follow while the block runs, and a moment longer; `make` gives None without a Redis."""
        reading = asyncio.create_task(self._follow(make))
        try:
            await self._subscribed.wait()
            yield
            await asyncio.wait({reading}, timeout=LAST_MESSAGE_S)
            if not reading.done():
                self._unseen("it does not give the rest in time")
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _follow(self, make: Callable[[], RedisServer | None]) -> None:
        try:
            server = await asyncio.to_thread(make)
        except Exception:  # noqa: BLE001 - the function says what is wrong with its settings
            self._unseen("REDIS_URL is not usable")
        else:
            if server is not None:
                await self._follow_on(server)
        finally:
            self._subscribed.set()

    async def _follow_on(self, server: RedisServer) -> None:
        try:
            async with asyncio.timeout(SUBSCRIBE_S) as limit:
                await server.signed_in()
                async with server.client() as client, client.pubsub() as listening:
                    await listening.subscribe(channel_of(self.channel, self.retrieval_id))
                    async for item in listening.listen():
                        if item["type"] == "subscribe":
                            limit.reschedule(None)
                            self._subscribed.set()
                        elif item["type"] == "message" and self._is_last(item["data"]):
                            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it has words and costs no answer
            self._unseen(server.in_words(error))

    def _is_last(self, data: bytes) -> bool:
        """Show a message of ours, and tell whether it is the last; others publish as they like."""
        if self.retrieval_id.encode() not in data:
            return False

        try:
            message = ProgressMessage.model_validate_json(data)
        except ValidationError:
            return False

        if message.retrieval_id != self.retrieval_id:
            return False

        shown = message.model_dump(mode="json", exclude_none=True)
        self.received.append(shown)
        # the terminal may be gone, or unable to write a character
        with suppress(OSError, ValueError):
            self.show(shown)

        return message.phase in LAST_PHASES

    def _unseen(self, reason: str) -> None:
        more = " any more" if self.received else ""
        with suppress(OSError, ValueError):
            self.say(
                f"Progress is not shown{more}, because of Redis: {reason}. The answer comes all "
                f"the same."
            )
