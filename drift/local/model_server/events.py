"""A chat completion as server-sent events, a token at a time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

from drift.local.model_server.bodies import CHARACTERS_PER_TOKEN, Json

EVENT_STREAM = "text/event-stream"
DONE = b"data: [DONE]\n\n"


def wants_stream(body: Json) -> bool:
    """Tell whether a request asks for a stream."""
    return body.get("stream") is True


class Events:
    """The events of one completion."""

    def __init__(self, body: Json, whole: Json) -> None:
        """Take the request and the whole answer to it."""
        self.body = body
        self.whole = whole
        choices = whole["choices"]
        self.text = str(choices[0]["message"]["content"] or "") if choices else ""

    async def all(self) -> AsyncIterator[bytes]:
        """Yield all of it."""
        async for event in self.tokens(self.text):
            yield event
        for event in self.end():
            yield event

    async def tokens(self, text: str) -> AsyncIterator[bytes]:
        """Yield the role, then the text, a token an event."""
        yield self.event({"delta": {"role": "assistant", "content": ""}, "finish_reason": None})
        for at in range(0, len(text), CHARACTERS_PER_TOKEN):
            await self.before(at)
            piece = text[at : at + CHARACTERS_PER_TOKEN]
            yield self.event({"delta": {"content": piece}, "finish_reason": None})

    async def before(self, at: int) -> None:
        """Wait until the token at a character is due: never, here."""

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
        chunk = {
            "id": self.whole["id"],
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.whole["model"],
            "choices": [] if choice is None else [{"index": 0, **choice}],
            **more,
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"
