"""Asking a running function over HTTP, with its progress as a Redis subscriber receives it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2
from redis.asyncio import Redis

from drift.contracts import CHANNEL, Phase
from drift.errors import LocalStackError

LAST_PHASES = {Phase.COMPLETED, Phase.ERROR}
LAST_MESSAGE_S = 5.0
"""How long the last progress message may come after the answer."""


@dataclass(slots=True)
class Asked:
    """An answer as a caller got it: HTTP status, JSON document, and the progress messages in order."""

    status: int
    response: dict[str, Any]
    progress: list[dict[str, Any]] = field(default_factory=list)


async def ask_over_http(
    url: str, redis_url: str | None, body: dict[str, Any], show: Callable[[dict[str, Any]], None]
) -> Asked:
    """POST the body to `/retrieve` of the function at `url`; `show` gets every progress message as it arrives.

    Raises:
        LocalStackError: when the function cannot be reached.
    """
    retrieval_id = str(uuid4())
    async with _progress_of(redis_url, retrieval_id, show) as received:
        try:
            async with httpx2.AsyncClient(timeout=240, trust_env=False) as client:
                reply = await client.post(f"{url}/retrieve", json={**body, "retrieval_id": retrieval_id})
        except httpx2.HTTPError as error:
            raise LocalStackError(f"The function at {url} cannot be reached: {error}.") from error
    return Asked(reply.status_code, reply.json(), received)


@contextlib.asynccontextmanager
async def _progress_of(redis_url: str | None, retrieval_id: str, show: Callable[[dict[str, Any]], None]) -> Any:  # noqa: ANN401
    """Collect a retrieval's messages while the block runs, and after it until the last one is in."""
    received: list[dict[str, Any]] = []
    if redis_url is None:
        yield received
        return
    async with Redis.from_url(redis_url, protocol=2) as client, client.pubsub() as channel:
        await channel.subscribe(CHANNEL)
        await channel.get_message(timeout=LAST_MESSAGE_S)  # the subscription itself: from here on nothing is missed
        reading = asyncio.create_task(_read(channel, retrieval_id, received, show))
        try:
            yield received
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reading, LAST_MESSAGE_S)
        finally:
            reading.cancel()


async def _read(
    channel: Any,  # noqa: ANN401 - redis-py's PubSub is untyped
    retrieval_id: str,
    received: list[dict[str, Any]],
    show: Callable[[dict[str, Any]], None],
) -> None:
    async for item in channel.listen():
        if item["type"] != "message":
            continue
        message = json.loads(item["data"])
        if message["retrieval_id"] == retrieval_id:
            received.append(message)
            show(message)
            if message["phase"] in LAST_PHASES:
                return
