"""A chat completion of OpenAI's API, whole or in pieces, as servers of other makes mean it too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openai import APIConnectionError, APIStatusError, AsyncStream

from drift.llm.answers import ProviderApi, ProviderReply, said, told_error
from drift.llm.errors import OPENAI, not_this_api
from drift.llm.provider import Completion, End

API = ProviderApi(
    OPENAI, "/chat/completions", APIStatusError, APIConnectionError, AsyncStream[object]
)


@dataclass(slots=True)
class OpenAIReply(ProviderReply):
    """A completion so far; of several choices the first one counts."""

    content: str = ""
    """The text of an answer that came whole."""
    calls: dict[int, list[str]] = field(default_factory=dict)
    """The arguments of calls of tools, in pieces; a reply may be one."""
    reason: str = ""
    is_refused: bool = False

    @property
    def has_end(self) -> bool:
        """Whether the model said why it ended, or the server that it is done."""
        return bool(self.reason or self.is_refused or self.is_over)

    @property
    def written(self) -> str:
        """The text that came in events; the calls where there is none."""
        return self.streamed or "\n".join(map("".join, self.calls.values()))

    @property
    def completion(self) -> Completion:
        """All of it."""
        ends: dict[str, End] = {
            "length": "length",
            "max_tokens": "length",
            "model_length": "length",
            "content_filter": "content_filter",
        }
        end = "refused" if self.is_refused else ends.get(self.reason, "")
        return Completion(self.content or self.written, end, self.tokens, self.model)

    def error_in(self, value: Mapping[str, Any]) -> object:
        """Return the error of an answer, or of one of its choices."""
        if error := told_error(value):
            return error
        for choice in _choices(value):
            if choice.get("error") or _reason(choice) == "error":
                return choice.get("error") or "error"
        return None

    def take_whole(self, value: Mapping[str, Any]) -> None:
        """Take an answer, which has choices or says that it has none."""
        if "choices" not in value:
            raise not_this_api()
        self.content = self._taken(value)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event, which may have no choice."""
        self.growing.add(self._taken(event))

    def _taken(self, value: Mapping[str, Any]) -> str:
        """Take everything beside the content, and return the content."""
        self.count(value)
        for choice in _choices(value)[:1]:
            self.reason = _reason(choice) or self.reason
            message = _message(choice)
            self.is_refused |= bool(message.get("refusal"))
            for number, arguments in _arguments(message):
                self.calls.setdefault(number, []).append(arguments)
            return said(message.get("content") or message.get("parsed"))
        return ""


def _choices(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the choices of an answer, without those that are none."""
    choices = value.get("choices")
    if choices is None:
        return []
    if isinstance(choices, dict) and "0" not in choices:
        choices = [choices]
    if not isinstance(choices, list):
        raise not_this_api()
    return [choice for choice in choices if isinstance(choice, dict)]


def _reason(choice: Mapping[str, Any]) -> str:
    """Return why a choice ended, in small letters; empty for what says nothing."""
    reason = choice.get("finish_reason")
    if isinstance(reason, dict):
        reason = next((one for one in reason.values() if isinstance(one, str)), "")
    return reason.lower() if isinstance(reason, str) else ""


def _message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of a choice, or a piece of it; a bare content is one."""
    names = ("message", "delta", "text")
    message = next((choice[name] for name in names if name in choice), None)
    return message if isinstance(message, dict) else {"content": message}


def _arguments(message: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the number and the arguments of each call of a tool; the older API knows one call."""
    calls = message.get("tool_calls") or [{"function": message.get("function_call")}]
    found = []
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        given = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(given, dict):
            given = json.dumps(given, ensure_ascii=False)
        if isinstance(given, str):
            number = call.get("index")
            found.append((number if isinstance(number, int) else place, given))

    return found
