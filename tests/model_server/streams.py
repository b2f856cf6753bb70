"""Streams of the model server for tests: each token at its time, and the faults of a stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from starlette.responses import StreamingResponse
from starlette.types import Send

from drift.local.model_server.bodies import CHARACTERS_PER_TOKEN, Json, error_body, messages
from drift.local.model_server.events import DONE, EVENT_STREAM, Events
from drift.local.prompt_elements import element

DROPPED = "stream_dropped"


@dataclass(slots=True)
class Written:
    """What a stream has sent, to which question, and at which second of the clock how much."""

    text: str
    question: str
    times: list[tuple[int, float]] = field(default_factory=list)


def streamed(
    body: Json, whole: Json, token_s: float, fault: str
) -> tuple[StreamingResponse, Written]:
    """Return a completion as a stream that takes `token_s` a token, with a fault in it, if any.

    The record beside it grows while the stream is sent.
    """
    events = _Events(body, whole, token_s)
    response = _Dropped if fault == DROPPED else StreamingResponse
    sent = STREAMED.get(fault, _Events.all)(events)
    return response(sent, media_type=EVENT_STREAM), events.written


class _Dropped(StreamingResponse):
    """A stream whose body is never ended, so that the connection breaks off."""

    async def stream_response(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async for piece in self.body_iterator:
            await send({"type": "http.response.body", "body": piece, "more_body": True})


class _Events(Events):
    """The events of one completion, which are timed, and some of which are wrong."""

    def __init__(self, body: Json, whole: Json, token_s: float) -> None:
        super().__init__(body, whole)
        self.written = Written(self.text, element(messages(body)[1], "question").content)
        self._token_s = token_s
        self._began = 0.0

    async def before(self, at: int) -> None:
        if not at:
            self._began = time.monotonic()
        if self._token_s:
            due = self._began + (at // CHARACTERS_PER_TOKEN + 1) * self._token_s
            await asyncio.sleep(due - time.monotonic())
        reached = min(at + CHARACTERS_PER_TOKEN, len(self.text))
        self.written.times.append((reached, time.monotonic()))

    def half(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text; the stream ends there without a word."""
        return self.tokens(self.text[: len(self.text) // 2])

    async def with_an_error(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text, then an error."""
        async for event in self.half():
            yield event
        yield b"data: " + json.dumps(error_body("The server had an error.")).encode() + b"\n\n"

    async def with_garbage(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text, then an event that is no JSON."""
        async for event in self.half():
            yield event
        yield b"data: {broken\n\n"

    async def of_nothing(self) -> AsyncIterator[bytes]:
        """Yield a stream of no event but its end."""
        yield DONE

    async def stalling(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text, then nothing, for as long as the client waits."""
        async for event in self.half():
            yield event
        await asyncio.Event().wait()

    async def without_end(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text, then words for ever."""
        async for event in self.half():
            yield event
        while True:
            await asyncio.sleep(0)
            yield self.event({"delta": {"content": " and so on" * 100}, "finish_reason": None})


STREAMED: Mapping[str, Callable[[_Events], AsyncIterator[bytes]]] = {
    "stream_cut": _Events.half,
    DROPPED: _Events.half,
    "stream_error": _Events.with_an_error,
    "stream_garbage": _Events.with_garbage,
    "stream_empty": _Events.of_nothing,
    "stream_endless": _Events.without_end,
    "stream_stalls": _Events.stalling,
}
