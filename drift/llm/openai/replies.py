"""What is read of a chat completion, whole or in pieces; the rest of it is not looked at.

The SDK builds an object for every part of an answer without checking any; here the few that count
are checked at once, and read as servers of other makes mean them (docs/replies.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import httpx2
from openai import APIConnectionError, APIStatusError
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_core import from_json

from drift.core.reply_text import is_json
from drift.llm.errors import not_this_api
from drift.llm.growing import GrowingText
from drift.llm.openai.event_stream import event_data
from drift.llm.provider import Completion, End
from drift.model.calls import TextCallback, Tokens

EVENT_STREAM = "text/event-stream"
_ENDS: Mapping[str, End] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
_NO_THOUGHTS = frozenset({"text", "output_text", ""})


class PromptTokensDetails(BaseModel):
    """Of the prompt's tokens, those that the provider had in its cache or wrote into it."""

    cached_tokens: int | None = None
    cache_write_tokens: Annotated[
        int | None,
        Field(validation_alias=AliasChoices("cache_write_tokens", "cache_creation_tokens")),
    ] = None


class CompletionTokensDetails(BaseModel):
    """Of the reply's tokens, those that the model thought with."""

    reasoning_tokens: int | None = None


class Usage(BaseModel):
    """Tokens as the provider counts them.

    The names of Anthropic's API reach us through gateways.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptTokensDetails | None = None
    completion_tokens_details: CompletionTokensDetails | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


def _said(content: object) -> object:
    """Return the text of a content; of a list of parts, of those that are no thoughts."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return content

    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.get("type", "") in _NO_THOUGHTS
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _arguments(calls: object) -> object:
    """Return the arguments of calls of tools by the number of the call; a reply may be one."""
    arguments: dict[int, str] = {}
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        given = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(given, dict):
            given = json.dumps(given)
        if isinstance(given, str):
            number = call.get("index")
            arguments[number if isinstance(number, int) else place] = given

    return arguments


Said = Annotated[str, BeforeValidator(_said)]


class Message(BaseModel):
    """What the model wrote, or a piece of it, or why it would not."""

    content: Said = ""
    refusal: str | None = None
    tool_calls: Annotated[dict[int, str], BeforeValidator(_arguments)] = Field(default_factory=dict)


class Choice(BaseModel):
    """One of the model's messages, and why it ended there; a stream has pieces of it, `delta`."""

    message: Annotated[Message | None, Field(validation_alias=AliasChoices("message", "delta"))] = (
        None
    )
    finish_reason: str | None = None
    error: object = None


class ChatCompletion(BaseModel):
    """A chat completion of the OpenAI API, or an event of one; servers leave out parts of it."""

    choices: list[Choice] | None = None
    usage: Usage | None = None
    model: str | None = None
    error: object = None

    @field_validator("usage", "model", mode="wrap")
    @classmethod
    def _only_counted(cls, value: Any, read: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 - as pydantic has it
        """Take None for what is of another shape.

        An answer is not lost for what is only counted of it.
        """
        try:
            return read(value)
        except ValidationError:
            return None


def _validated(value: object, response: httpx2.Response) -> ChatCompletion:
    """Return what was sent as a completion, or raise the error that it holds."""
    try:
        read = ChatCompletion.model_validate(value)
    except (ValidationError, RecursionError) as error:
        raise not_this_api() from error

    errors = [read.error, *(choice.error for choice in read.choices or ())]
    if told := next(filter(None, errors), None):
        raise _told(told, response)
    if any(choice.finish_reason == "error" for choice in read.choices or ()):
        raise _told("error", response)
    return read


def _told(error: object, response: httpx2.Response) -> APIStatusError:
    """Return the SDK's error for one that is told with status 200, whole or in a stream."""
    body = error if isinstance(error, Mapping) else {"message": str(error)[:200]}
    return APIStatusError("told within the answer", response=response, body=body)


def read_whole(response: httpx2.Response) -> Completion:
    """Return the completion of a response with status 200.

    Raises:
        json.JSONDecodeError: the answer broke off.
        APIStatusError: it holds an error.
        ModelMisconfiguredError: it is of no such API.
    """
    if "json" not in response.headers.get("content-type", ""):
        raise not_this_api()
    try:
        value = from_json(response.content)
    except ValueError:  # halves of characters are told by the slower reader
        value = _read_slowly(response)

    read = _validated(value, response)
    if read.choices is None and "choices" not in read.model_fields_set:
        raise not_this_api()
    choice = next(iter(read.choices or ()), Choice())
    message = choice.message or Message()
    text = message.content or "\n".join(message.tool_calls.values())
    return _completion(read, text, bool(message.refusal), choice.finish_reason)


def _read_slowly(response: httpx2.Response) -> object:
    try:
        return response.json()
    except RecursionError as error:
        raise not_this_api() from error


def _completion(
    read: ChatCompletion, text: str, is_refused: bool, finish_reason: str | None
) -> Completion:
    end: End = "refused" if is_refused else _ENDS.get(finish_reason or "", "")
    return Completion(text, end, tokens_of(read.usage), read.model or "")


def tokens_of(usage: Any) -> Tokens:  # noqa: ANN401 - of a chat completion or of embeddings
    """Read the usage; compatible servers leave out parts of it, or all."""
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)

    def first(*found: object) -> int:
        return next((number for number in found if isinstance(number, int) and number > 0), 0)

    return Tokens(
        prompt=first(getattr(usage, "prompt_tokens", None)),
        completion=first(getattr(usage, "completion_tokens", None)),
        cached=first(
            getattr(prompt, "cached_tokens", None), getattr(usage, "cache_read_input_tokens", None)
        ),
        cache_write=first(
            getattr(prompt, "cache_write_tokens", None),
            getattr(usage, "cache_creation_input_tokens", None),
        ),
        reasoning=first(getattr(completion, "reasoning_tokens", None)),
    )


# ------------------------------------------------------------------------------------ in pieces
class GrowingCompletion:
    """A completion that comes in events."""

    def __init__(self, response: httpx2.Response, hear: TextCallback) -> None:
        """Begin with nothing; `hear` is told of the text as it grows."""
        self._response = response
        self._growing = GrowingText(hear)
        self._arguments: dict[int, list[str]] = {}
        self._is_refused = False
        self._finish_reason: str | None = None
        self._read = ChatCompletion()

    def take(self, event: object) -> None:
        """Add one event; errors as those of `read_whole`, and of GrowingText."""
        read = _validated(event, self._response)
        self._read.usage = read.usage or self._read.usage
        self._read.model = read.model or self._read.model
        for choice in (read.choices or ())[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            piece = choice.message or Message()
            self._is_refused |= bool(piece.refusal)
            self._growing.add(piece.content)
            for number, arguments in piece.tool_calls.items():
                self._arguments.setdefault(number, []).append(arguments)

    def completion(self, *, is_done: bool) -> Completion:
        """Return all of it; APIConnectionError where it broke off.

        It has ended where the model said why, the server said that it `is_done`, or the text is
        whole by itself.
        """
        calls = ("".join(pieces) for pieces in self._arguments.values())
        text = self._growing.text or "\n".join(calls)
        if not (self._finish_reason or self._is_refused or is_done or is_json(text)):
            raise APIConnectionError(
                message="The stream broke off.", request=self._response.request
            )
        return _completion(self._read, text, self._is_refused, self._finish_reason)


async def put_together(response: httpx2.Response, hear: TextCallback) -> Completion:
    """Return the completion of a stream, which `hear` is told of as it grows.

    Raises:
        APIConnectionError: the stream ended before the completion did.
        APIStatusError: it holds an error.
        ModelMisconfiguredError: it is none of the API.
    """
    growing = GrowingCompletion(response, hear)
    async for data in event_data(response):
        if data.startswith("[DONE]"):
            return growing.completion(is_done=True)
        try:
            event = json.loads(data)
        except RecursionError as error:
            raise not_this_api() from error
        growing.take(event)

    return growing.completion(is_done=False)
