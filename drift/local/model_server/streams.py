"""A chat completion as server-sent events, a token at a time, and the faults of such a stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field

from starlette.responses import StreamingResponse
from starlette.types import Send

from drift.local.model_server.bodies import CHARACTERS_PER_TOKEN, messages
from drift.local.model_server.faults import Rule
from drift.local.model_server.refusals import Json, error_body
from drift.local.prompt_elements import element

EVENT_STREAM = "text/event-stream"
DONE = b"data: [DONE]\n\n"
DROPPED = "stream_dropped"


@dataclass(slots=True)
class Written:
    """What a stream has sent, to which question, and at which second of the clock how much."""

    text: str
    question: str = ""
    times: list[tuple[int, float]] = field(default_factory=list)


def wants_stream(body: Json) -> bool:
    """Tell whether a request asks for a stream."""
    return body.get("stream") is True


def streamed(
    body: Json, whole: Json, token_s: float, rule: Rule | None
) -> tuple[StreamingResponse, Written]:
    """Return a completion as a stream that takes `token_s` a token, with a fault in it, if any.

    The record beside it grows while the stream is sent.
    """
    _, user = messages(body)
    written = Written(_text(whole), element(user, "question").content)
    events = _Events(body, whole, written, token_s)
    fault = rule.fault if rule else ""
    sent = STREAMED.get(fault, _Events.sent)(events)
    response = _Dropped if fault == DROPPED else StreamingResponse
    return response(sent, media_type=EVENT_STREAM), written


class _Dropped(StreamingResponse):
    """A stream whose body is never ended, so that the connection breaks off."""

    async def stream_response(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async for piece in self.body_iterator:
            await send({"type": "http.response.body", "body": piece, "more_body": True})


def _text(whole: Json) -> str:
    choices = whole["choices"]
    return str(choices[0]["message"]["content"] or "") if choices else ""


@dataclass(frozen=True, slots=True)
class _Events:
    """The events of one completion."""

    body: Json
    whole: Json
    written: Written
    token_s: float

    async def sent(self) -> AsyncIterator[bytes]:
        """Yield all of it."""
        async for event in self.tokens(self.written.text):
            yield event
        for event in self.end():
            yield event

    async def tokens(self, text: str) -> AsyncIterator[bytes]:
        """Yield the role, then the text, each token at its time."""
        began = time.monotonic()
        yield self.event({"delta": {"role": "assistant", "content": ""}, "finish_reason": None})
        for number, at in enumerate(range(0, len(text), CHARACTERS_PER_TOKEN), start=1):
            if self.token_s:
                await asyncio.sleep(began + number * self.token_s - time.monotonic())
            piece = text[at : at + CHARACTERS_PER_TOKEN]
            self.written.times.append((at + len(piece), time.monotonic()))
            yield self.event({"delta": {"content": piece}, "finish_reason": None})

    def end(self) -> Iterator[bytes]:
        """Yield why the model ended, and the usage where it was asked for."""
        for choice in self.whole["choices"]:
            refusal = choice["message"].get("refusal")
            if refusal:
                yield self.event({"delta": {"refusal": refusal}, "finish_reason": None})
            yield self.event({"delta": {}, "finish_reason": choice["finish_reason"]})
        if (self.body.get("stream_options") or {}).get("include_usage"):
            yield self.event(None, usage=self.whole["usage"])
        yield DONE

    def event(self, choice: Json | None, **more: object) -> bytes:
        """Return one event; without a choice, the last one, of the usage."""
        choices = [] if choice is None else [{"index": 0, **choice}]
        chunk = {
            "id": self.whole["id"],
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.whole["model"],
            "choices": choices,
            **more,
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    # ------------------------------------------------------------------------------------- faults
    def half(self) -> AsyncIterator[bytes]:
        """Yield the first half of the text; the stream ends there without a word."""
        return self.tokens(self.written.text[: len(self.written.text) // 2])

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
