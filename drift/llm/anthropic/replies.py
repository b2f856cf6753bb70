"""What is read of a message of Anthropic's API, whole or in events; the rest is not looked at.

The SDK builds objects without checking any; here odd pieces of servers that speak the same API are
read as they are meant, or passed over (docs/replies.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anthropic import APIConnectionError, APIStatusError

from drift.core.reply_text import is_json
from drift.llm.answers import error_body, from_json, said, told_error
from drift.llm.errors import ServerSettings, not_this_api
from drift.llm.event_stream import events
from drift.llm.growing import GrowingText
from drift.model.calls import Tokens

SERVER = ServerSettings("Anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_KEY", "ANTHROPIC_BASE_URL")


@dataclass(slots=True)
class Turn:
    """What one turn brought: blocks of content, of which thoughts are not looked at."""

    content: list[Any] = field(default_factory=list)
    stop: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    model: str = ""

    @property
    def text(self) -> str:
        """The text; the input of a call of a tool is one too."""
        return "".join(map(_of_block, self.content))

    @property
    def tokens(self) -> Tokens:
        """The tokens of its usage; those of the cache are no part of `input_tokens`."""
        used = self.usage.get
        read = used("cache_read_input_tokens", 0)
        written = used("cache_creation_input_tokens", 0)
        return Tokens(
            prompt=used("input_tokens", 0) + read + written,
            completion=used("output_tokens", 0),
            cached=read,
            cache_write=written,
        )

    def count(self, usage: object) -> None:
        """Take the counts of a usage that are there."""
        for name, number in usage.items() if isinstance(usage, dict) else ():
            if isinstance(number, int) and number > 0:
                self.usage[str(name)] = number

    def ended(self, reason: object) -> None:
        """Take why it ended, if anything says so."""
        self.stop = reason if reason and isinstance(reason, str) else self.stop


def read_whole(response: httpx2.Response) -> Turn:
    """Return the turn of a response with status 200.

    Raises:
        json.JSONDecodeError: the answer broke off.
        APIStatusError: it holds an error.
        ModelMisconfiguredError: it is of no such API.
    """
    if "json" not in response.headers.get("content-type", ""):
        raise not_this_api(SERVER)
    value = from_json(response.content)
    if not isinstance(value, dict):
        raise not_this_api(SERVER)
    if told := told_error(value):
        raise _told(told, response)

    content = value.get("content")
    if "content" not in value or isinstance(content, bool | int | float):
        raise not_this_api(SERVER)
    blocks = content if isinstance(content, list) else [content]
    turn = Turn([{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks if b])
    turn.ended(value.get("stop_reason"))
    turn.count(value.get("usage"))
    turn.model = _name(value)
    return turn


async def put_together(response: httpx2.Response, growing: GrowingText) -> Turn:
    """Return the turn of a stream, of which `growing` is told.

    Raises:
        APIConnectionError: the stream ended before the message did.
        APIStatusError: it holds an error.
        json.JSONDecodeError: a piece of it broke off.
    """
    turn, pieces = Turn(), list[str]()
    async for event in events(response):
        if event is None or event.get("type") == "message_stop":
            break
        if told := told_error(event):
            raise _told(told, response)
        if piece := _taken(turn, event):
            pieces.append(piece)
            growing.add(piece)

    turn.content = [{"type": "text", "text": text}] if (text := "".join(pieces)) else []
    if not (turn.stop or is_json(text)):
        raise APIConnectionError(message="The stream broke off.", request=response.request)
    return turn


def _taken(turn: Turn, event: Mapping[str, Any]) -> str:
    """Take what an event says of a turn, and return the piece of text that it brings."""
    kind = event.get("type")
    if kind == "content_block_start":
        block = event.get("content_block")
        return _of_block(block) if isinstance(block, dict) else ""
    if kind == "content_block_delta":
        delta = event.get("delta")
        return _of_delta(delta) if isinstance(delta, dict) else ""

    if kind == "message_start" and isinstance(message := event.get("message"), dict):
        turn.count(message.get("usage"))
        turn.model = _name(message)
    elif kind == "message_delta":
        delta = event.get("delta")
        turn.ended(delta.get("stop_reason") if isinstance(delta, dict) else None)
        turn.count(event.get("usage"))
    return ""


def _of_delta(delta: Mapping[str, Any]) -> str:
    input_json = delta.get("partial_json")
    return input_json if isinstance(input_json, str) else said(delta.get("text"))


def _of_block(block: object) -> str:
    """Return the text of a block, or the input of a call; a call of a stream begins with none."""
    if not isinstance(block, dict) or block.get("type") != "tool_use":
        return said([block]) if block else ""
    given = block.get("input")
    return given if isinstance(given, str) else json.dumps(given) if given else ""


def _name(message: Mapping[str, Any]) -> str:
    model = message.get("model")
    return model if isinstance(model, str) else ""


def _told(error: object, response: httpx2.Response) -> APIStatusError:
    """Return the SDK's error for one that is told with status 200, whole or in a stream."""
    return APIStatusError("told within the answer", response=response, body=error_body(error))
