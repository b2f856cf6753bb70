"""How the answers of all providers are read, whole or in events, and what they have in common.

The SDKs build an object for every part of an answer without checking any. Here the few parts that
count are read as servers of other makes mean them, or passed over (docs/replies.md).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2

from drift.core.reply_text import is_json
from drift.llm.errors import ServerSettings, not_this_api
from drift.llm.event_stream import events, from_json, streams
from drift.llm.growing import GrowingText
from drift.model.calls import Tokens


# ----------------------------------------------------------------------------- what has come of one
@dataclass(slots=True)
class ServerAnswer:
    """An answer so far: its counts, and the name of its model."""

    usage: dict[str, Any] = field(default_factory=dict)
    model: str = ""

    @property
    def tokens(self) -> Tokens:
        """The tokens, as far as the server counts them."""
        return _tokens(self.usage)

    def count(self, value: Mapping[str, Any]) -> None:
        """Take usage and model of an answer, or of an event; neither need be of its shape."""
        usage, model = value.get("usage"), value.get("model")
        if isinstance(usage, dict):
            self.usage |= {name: number for name, number in usage.items() if number}
        if model and isinstance(model, str):
            self.model = model


@dataclass(slots=True)
class ProviderReply(ServerAnswer, ABC):
    """A chat model's reply, which a provider reads whole or event by event."""

    growing: GrowingText = field(default_factory=lambda: GrowingText(lambda _: None))
    """The text of events, behind that of turns before this one."""
    is_over: bool = False
    """Whether an event said that it was the last one, or the server that it is done."""
    _begin: int = field(init=False)

    def __post_init__(self) -> None:
        """Begin behind the text so far."""
        self._begin = len(self.growing.text)

    @property
    def streamed(self) -> str:
        """The text that came in events."""
        return self.growing.text[self._begin :]

    @property
    def written(self) -> str:
        """The part that came in events and may be the reply."""
        return self.streamed

    @property
    @abstractmethod
    def has_end(self) -> bool:
        """Whether the model said why it ended."""

    def error_in(self, value: Mapping[str, Any]) -> object:
        """Return the error that an answer or an event of status 200 is or holds; None for none."""
        return told_error(value)

    @abstractmethod
    def take_whole(self, value: Mapping[str, Any]) -> None:
        """Take an answer; ModelMisconfiguredError where it is none of the API."""

    @abstractmethod
    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; the same error, and those of GrowingText."""


_Reply = TypeVar("_Reply", bound=ProviderReply)


@dataclass(frozen=True, slots=True)
class ProviderApi:
    """One API of chat models: its server's settings, its path, and classes of its SDK."""

    server: ServerSettings
    path: str
    status_error: Any
    connection_error: Any
    stream: Any

    async def post(self, client: Any, body: Mapping[str, Any], reply: _Reply) -> _Reply:  # noqa: ANN401 - the SDK's
        """Send a request as it is; a server may stream, or not, whatever it was asked for.

        The SDK's typed call would go through all of it and of the answer, in a third of the call's
        time, and check none of it. Errors as `read`, and those of the SDK.
        """
        stream = await client.post(
            self.path, cast_to=object, body=body, stream=True, stream_cls=self.stream
        )
        async with stream:
            return await self.read(stream.response, reply)

    async def read(self, response: httpx2.Response, reply: _Reply) -> _Reply:
        """Return the reply, filled from a response of status 200, which may be a stream.

        Raises:
            json.JSONDecodeError: the answer, or an event, broke off.
            APIConnectionError: the stream ended before the reply did.
            APIStatusError: it holds an error.
            ModelMisconfiguredError: it is of no such API.
        """
        try:
            if streams(response):
                await self._read_events(response, reply)
            else:
                reply.take_whole(await self._whole(response, reply))
        except RecursionError as error:
            raise not_this_api(self.server) from error

        return reply

    async def _whole(self, response: httpx2.Response, reply: ProviderReply) -> Mapping[str, Any]:
        if "json" not in response.headers.get("content-type", ""):
            raise not_this_api(self.server)
        value = from_json(await response.aread())
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if not isinstance(value, dict):
            raise not_this_api(self.server)
        if error := reply.error_in(value):
            raise self.told(error, response)
        return value

    async def _read_events(self, response: httpx2.Response, reply: ProviderReply) -> None:
        async for event in events(response):
            if event is None:
                reply.is_over = True
            elif error := reply.error_in(event):
                raise self.told(error, response)
            else:
                reply.take(event)
            if reply.is_over:
                break

        if not (reply.has_end or is_json(reply.written)):
            raise self.connection_error(message="The stream broke off.", request=response.request)

    def told(self, error: object, response: httpx2.Response) -> Exception:
        """Return the SDK's error for one that is told with status 200, whole or in a stream."""
        body = error if isinstance(error, Mapping) else {"message": str(error)[:200]}
        made: Exception = self.status_error("told within the answer", response=response, body=body)
        return made


def told_error(answer: Mapping[str, Any]) -> object:
    """Return the error that an answer or an event of status 200 is or holds; None for none."""
    if error := answer.get("error"):
        return error
    kinds = (answer.get("object"), answer.get("type"))
    is_error = any(isinstance(kind, str) and "error" in kind.casefold() for kind in kinds)
    is_bare = "message" in answer.keys() <= {"message", "code", "status", "param", "detail"}
    return answer if is_error or is_bare else None


# ------------------------------------------------------------------------------------ tokens, words
def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """Read the tokens of a usage; gateways mix the names of OpenAI's API and of Anthropic's.

    Those of the cache are part of `prompt_tokens`, and no part of `input_tokens`.
    """
    read, written = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt, completion = (one if isinstance(one, dict) else {} for one in (read, written))
    cached = _first(prompt, "cached_tokens") or _first(usage, "cache_read_input_tokens")
    cache_write = _first(prompt, "cache_write_tokens", "cache_creation_tokens") or _first(
        usage, "cache_creation_input_tokens"
    )
    input_tokens = _first(usage, "input_tokens") + cached + cache_write

    return Tokens(
        prompt=_first(usage, "prompt_tokens") or input_tokens,
        completion=_first(usage, "completion_tokens", "output_tokens"),
        cached=cached,
        cache_write=cache_write,
        reasoning=_first(completion, "reasoning_tokens"),
    )


def _first(counts: Mapping[str, Any], *names: str) -> int:
    """Return the first count of these names that is one; some servers write `12.0` or `"12"`."""
    for name in names:
        given = counts.get(name, 0)
        is_whole = isinstance(given, float) and given.is_integer()
        with suppress(ValueError):
            number = int(given if is_whole else str(given))
            if 0 < number < 10**12:  # more than that is no count of one answer
                return number

    return 0


def said(content: object) -> str:
    """Return the text of a content; of its parts, of those that are no thoughts.

    A content that is another JSON value is the reply, which the server has parsed.
    """
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    if any(map(_is_part, parts)):
        return "".join(map(_of_part, parts))
    return json.dumps(content, ensure_ascii=False)


def _is_part(value: object) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str)
    return isinstance(value.get("type"), str) or "text" in value


def _of_part(part: object) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    is_no_thought = part.get("type", "") in {"text", "output_text", ""}
    return said(part.get("text")) if is_no_thought else ""
