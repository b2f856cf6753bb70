"""Asking a running function over HTTP, with its progress as a Redis subscriber receives it.

Progress is followed as a user interface does it, and never costs the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import httpx2
from pydantic import ValidationError

from drift.contracts.progress import LAST_PHASES, ProgressMessage, channel_of
from drift.core.errors import LocalStackError
from drift.http import wiring
from drift.http.page import STAND_IN
from drift.http.settings import Settings
from drift.local.cli.console import problem_in_words, say, show_progress
from drift.local.machine import said_of_slowness, slowness
from drift.local.say import Say
from drift.redis.server import RedisServer

_SAID_HERE = {"progress_publish_failed", "progress_publish_restored", "entra_token_failed"}
"""Events of the function's own log that a command says in words."""

SUBSCRIBE_S = 3.0
"""How long a question waits until its progress can be followed."""
LAST_MESSAGE_S = 2.0
"""How long the last progress message may come after the answer."""

STAND_IN_ADVICE = (
    "A stand-in without a language model answered: it copies the nearest lines of your documents, "
    "and found none close enough. For a real model set OAI_BASE_URL, OAI_MODEL, OAI_KEY, "
    "OAI_EMBED_MODEL_NAME and VECTOR_INDEX_DIMENSIONS (docs/settings.md), ingest again, and ask "
    "again."
)


def advice_on(model: str, response: dict[str, Any]) -> str:
    """Return what to say beside an answer without evidence that the local stand-in gave."""
    return STAND_IN_ADVICE if model == STAND_IN and not response.get("key_facts") else ""


@dataclass(slots=True)
class Answered:
    """An answer as a caller got it: its JSON document, and the progress in order."""

    response: dict[str, Any]
    progress: list[dict[str, Any]]

    @property
    def is_cited(self) -> bool:
        """True when the answer has facts, each with evidence: what exit code 0 promises."""
        facts = self.response["key_facts"]
        citations = [citation for fact in facts for citation in fact["citations"]]
        return bool(facts) and all(isinstance(citation, dict) for citation in citations)


async def ask_function(
    url: str,
    values: Settings,
    body: dict[str, Any],
    show: Callable[[dict[str, Any]], None] = show_progress,
    say: Say = say,
) -> Answered:
    """POST the body to `/retrieve` of the function at `url`.

    `show` gets every progress message as it arrives. Progress never costs the answer: when it
    cannot be followed, `say` gets one line that says why.

    Raises:
        LocalStackError: the function cannot be reached, or it answers with an error, in its words.
    """
    watch = Watch(str(uuid4()), show, say, values.channel_template)
    with said_once() as failures:
        async with watch.following(partial(wiring.build_redis, values)):
            try:
                asked = {**body, "retrieval_id": watch.retrieval_id}
                async with httpx2.AsyncClient(timeout=240, trust_env=False) as client:
                    reply = await client.post(f"{url}/retrieve", json=asked)
            except httpx2.HTTPError as error:
                raise LocalStackError(
                    f"The function at {url} cannot be reached: {error}."
                ) from error

    if reply.is_success:  # else the last failure is the answer
        for failure in failures:
            say(failure)
        if failures and (slow := slowness()):
            say(slow)

    response = reply.json()
    if reply.status_code != HTTPStatus.OK:
        raise LocalStackError(refusal(response, f" (HTTP {reply.status_code})"))
    return Answered(response, watch.received)


def refusal(problem: dict[str, Any], status: str = "") -> str:
    """Return an error of the function on one line, and that the machine is slow where it is."""
    return said_of_slowness(problem["code"], problem_in_words(problem, status))


@contextmanager
def said_once() -> Iterator[list[str]]:
    """Keep the function from logging what the command says: it runs in this process.

    Of a failure the log keeps code and cause. Its sentence is the command's to say, and is told
    to it in the list, once each.
    """
    told: list[str] = []

    def unsaid(record: logging.LogRecord) -> bool:
        detail = vars(record).pop("detail", "")
        if detail and detail not in told:
            told.append(detail)
        return getattr(record, "event", "") not in _SAID_HERE

    handlers = tuple(logging.getLogger("drift").handlers)
    for handler in handlers:
        handler.addFilter(unsaid)

    try:
        yield told
    finally:
        for handler in handlers:
            handler.removeFilter(unsaid)


@dataclass(slots=True)
class Watch:
    """Follows one retrieval on its channel: `show` gets messages, `say` why none come."""

    retrieval_id: str
    show: Callable[[dict[str, Any]], None]
    say: Say
    channel: str
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
