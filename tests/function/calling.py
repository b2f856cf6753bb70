"""Calling the function over HTTP as its users do, and reading what it publishes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

import httpx2
from redis.asyncio import Redis

from drift.contracts.progress import CHANNEL
from tests.function.corpus import PROJECT, QUESTION

PATIENCE_S = 120.0
"""How long something may take that happens beside an answer, on a busy machine."""
NEVER_SHOWN = ("canary", "127.0.0.1", "MATCH", "Traceback", "A fault was asked for")
"""Planted secrets, addresses, Cypher, stack traces and a provider's own words."""
PROBLEM_FIELDS = {"type", "title", "status", "detail", "code", "retrieval_id"}


@dataclass(frozen=True, slots=True)
class Caller:
    """A client of the function; `client` is bound to its URL."""

    client: httpx2.AsyncClient

    async def ask(
        self, query: str = QUESTION, project_id: str = PROJECT, **fields: Any
    ) -> httpx2.Response:
        """POST a question to /retrieve."""
        return await self.client.post(
            "/retrieve", json={"query": query, "project_id": project_id, **fields}
        )

    async def answer(
        self, query: str = QUESTION, project_id: str = PROJECT, **fields: Any
    ) -> dict[str, Any]:
        """Return the document of a question that must be answered."""
        response = await self.ask(query, project_id, **fields)
        assert response.status_code == 200, response.text
        document: dict[str, Any] = response.json()
        return document

    async def send(self, body: bytes, content_type: str = "application/json") -> httpx2.Response:
        """POST a body as it is to /retrieve."""
        return await self.client.post(
            "/retrieve", content=body, headers={"content-type": content_type}
        )

    @asynccontextmanager
    async def streaming(self, **fields: Any) -> AsyncIterator[EventReader]:
        """Ask for the answer as a stream; leaving the block goes away."""
        body = {"query": QUESTION, "project_id": PROJECT, **fields}
        accept = {"accept": "text/event-stream"}
        async with self.client.stream("POST", "/retrieve", json=body, headers=accept) as response:
            yield EventReader(response)


@asynccontextmanager
async def calling(url: str) -> AsyncIterator[Caller]:
    """Give a client of the function at this URL."""
    # A client waits for longer than the service does.
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=240) as client:
        yield Caller(client)


class EventReader:
    """Reads server-sent events as they come."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.comments: list[str] = []
        self._lines = response.aiter_lines()

    async def __aiter__(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        name = ""
        async for line in self._lines:
            if line.startswith(":"):
                self.comments.append(line)
            elif line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))

    async def all(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the events up to the end of the stream."""
        return [event async for event in self]


def told(events: list[tuple[str, dict[str, Any]]]) -> str:
    """Return the answer that a reader of a stream has put together."""
    text = ""
    for name, data in events:
        if name == "answer_delta":
            text += data["text"]
        elif name == "answer_replaced":
            text = data["text"]
    return text


@dataclass(slots=True)
class Subscriber:
    """What a Redis subscriber receives of one retrieval while the block runs."""

    url: str
    retrieval_id: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    _reading: asyncio.Task[None] | None = None
    _subscribed: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        await self._subscribed.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._reading
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def until_the_end(self) -> list[dict[str, Any]]:
        """Return the messages once `completed` or `error` is among them."""
        async with asyncio.timeout(PATIENCE_S):
            await self._ended.wait()
        return self.messages

    @property
    def phases(self) -> list[str]:
        """The phases so far, each once, in order."""
        return list(dict.fromkeys(m["phase"] for m in self.messages))

    async def _read(self) -> None:
        async with Redis.from_url(self.url, protocol=2) as client, client.pubsub() as channel:
            await channel.subscribe(CHANNEL)
            async for item in channel.listen():
                if item["type"] == "subscribe":
                    self._subscribed.set()
                    continue
                message = json.loads(item["data"])
                if message["retrieval_id"] == self.retrieval_id:
                    self.messages.append(message)
                    if message["phase"] in ("completed", "error"):
                        self._ended.set()


def assert_is_problem(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """Check an error's whole shape; return its document."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/problem+json")
    document: dict[str, Any] = response.json()
    fields = PROBLEM_FIELDS | ({"errors"} if status == 400 else set())
    assert set(document) == fields
    assert (document["status"], document["code"]) == (status, code)
    assert not [text for text in NEVER_SHOWN if text in response.text], response.text
    assert document["title"]
    assert document["detail"]
    assert document["retrieval_id"] == response.headers["x-retrieval-id"]
    assert UUID(document["retrieval_id"])
    comes_back = status in (429, 503) or code == "project_held"
    assert ("retry-after" in response.headers) == comes_back
    return document


def citations(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the enriched citations of an answer."""
    return [c for fact in document["key_facts"] for c in fact["citations"] if isinstance(c, dict)]
