"""A message of Anthropic's API, whole or in events, as servers of other makes mean it too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anthropic import APIConnectionError, APIStatusError, AsyncStream

from drift.llm.answers import ProviderApi, ProviderReply, said
from drift.llm.errors import ServerSettings, not_this_api

SERVER = ServerSettings("Anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_KEY", "ANTHROPIC_BASE_URL")
API = ProviderApi(SERVER, "/v1/messages", APIStatusError, APIConnectionError, AsyncStream[object])


@dataclass(slots=True)
class ClaudeTurn(ProviderReply):
    """The reply of one turn, without thoughts."""

    blocks: list[Any] = field(default_factory=list)
    """The content of an answer that came whole."""
    stop: str = ""

    @property
    def has_end(self) -> bool:
        """Whether the model said why it stopped."""
        return bool(self.stop)

    @property
    def text(self) -> str:
        """The text; the input of a call of a tool is one too."""
        return "".join(map(_of_block, self.content))

    @property
    def content(self) -> list[Any]:
        """Its blocks, as a turn that is gone on with repeats them."""
        text = self.streamed
        return self.blocks or ([{"type": "text", "text": text}] if text else [])

    def take_whole(self, value: Mapping[str, Any]) -> None:
        """Take an answer, which has a content."""
        content = value.get("content")
        if "content" not in value or isinstance(content, bool | int | float):
            raise not_this_api(SERVER)
        blocks = content if isinstance(content, list) else [content]
        self.blocks = [
            {"type": "text", "text": b} if isinstance(b, str) else b for b in blocks if b
        ]
        self.count(value)
        self._stopped(value)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event."""
        match event:
            case {"type": "content_block_start", "content_block": dict(block)}:
                self.growing.add(_of_block(block))
            case {"type": "content_block_delta", "delta": dict(delta)}:
                self.growing.add(_of_delta(delta))
            case {"type": "message_start", "message": dict(message)}:
                self.count(message)
            case {"type": "message_delta"}:
                self.count({"usage": event.get("usage")})
                if isinstance(given := event.get("delta"), dict):
                    self._stopped(given)
            case {"type": "message_stop"}:
                self.is_over = True

    def _stopped(self, value: Mapping[str, Any]) -> None:
        reason = value.get("stop_reason")
        self.stop = reason if reason and isinstance(reason, str) else self.stop


def _of_delta(delta: Mapping[str, Any]) -> str:
    input_json = delta.get("partial_json")
    return input_json if isinstance(input_json, str) else said(delta.get("text"))


def _of_block(block: object) -> str:
    """Return the text of a block, or the input of a call; a call of a stream begins with none."""
    if not isinstance(block, dict) or block.get("type") != "tool_use":
        return said([block]) if block else ""
    given = block.get("input")
    return given if isinstance(given, str) else json.dumps(given) if given else ""
