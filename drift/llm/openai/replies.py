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
    model_validator,
)

from drift.core.reply_text import is_json
from drift.llm.answers import error_body, from_json, said, told_error
from drift.llm.errors import not_this_api
from drift.llm.event_stream import events
from drift.llm.growing import GrowingText
from drift.llm.provider import Completion, End
from drift.model.calls import TextCallback, Tokens

_ENDS: Mapping[str, End] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}


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


def usage_of(value: object) -> Usage | None:
    """Return a usage; None for what is of another shape."""
    try:
        return Usage.model_validate(value)
    except ValidationError:
        return None


def _arguments(calls: object) -> object:
    """Return the arguments of calls of tools by the number of the call; a reply may be one."""
    arguments: dict[int, str] = {}
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        given = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(given, dict):
            given = json.dumps(given, ensure_ascii=False)
        if isinstance(given, str):
            number = call.get("index")
            arguments[number if isinstance(number, int) else place] = given

    return arguments


def _reason(value: object) -> str:
    """Return why a choice ended, in small letters; empty for what says nothing."""
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, str)), "")
    return value.lower() if isinstance(value, str) else ""


def _choices(value: object) -> object:
    """Return the choices of an answer, without those that are none."""
    choices = [value] if isinstance(value, dict) and "0" not in value else value
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else choices


class Message(BaseModel):
    """What the model wrote, or a piece of it, or why it would not."""

    content: Annotated[str, BeforeValidator(said)] = ""
    refusal: object = None
    tool_calls: Annotated[dict[int, str], BeforeValidator(_arguments)] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _of_any_server(cls, value: object) -> object:
        """Read a bare content, the one call of the older API, and a reply that was parsed."""
        if not isinstance(value, dict):
            return {"content": value}
        if (call := value.get("function_call")) and not value.get("tool_calls"):
            value = {**value, "tool_calls": [{"function": call}]}
        if (parsed := value.get("parsed")) and not value.get("content"):
            value = {**value, "content": parsed}
        return value


class Choice(BaseModel):
    """One of the model's messages, and why it ended there; a stream has pieces of it, `delta`."""

    message: Annotated[
        Message | None, Field(validation_alias=AliasChoices("message", "delta", "text"))
    ] = None
    finish_reason: Annotated[str, BeforeValidator(_reason)] = ""
    error: object = None


class ChatCompletion(BaseModel):
    """A chat completion of the OpenAI API, or an event of one; servers leave out parts of it."""

    choices: Annotated[list[Choice] | None, BeforeValidator(_choices)] = None
    usage: Usage | None = None
    model: str | None = None

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
    if isinstance(value, dict) and (told := told_error(value)):
        raise _told(told, response)
    try:
        read = ChatCompletion.model_validate(value)
    except (ValidationError, RecursionError) as error:
        raise not_this_api() from error

    for choice in read.choices or ():
        if choice.error or choice.finish_reason == "error":
            raise _told(choice.error or "error", response)
    return read


def _told(error: object, response: httpx2.Response) -> APIStatusError:
    """Return the SDK's error for one that is told with status 200, whole or in a stream."""
    return APIStatusError("told within the answer", response=response, body=error_body(error))


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
    except RecursionError as error:
        raise not_this_api() from error

    read = _validated(value[0] if isinstance(value, list) and len(value) == 1 else value, response)
    if read.choices is None and "choices" not in read.model_fields_set:
        raise not_this_api()
    choice = next(iter(read.choices or ()), Choice())
    message = choice.message or Message()
    text = message.content or "\n".join(message.tool_calls.values())
    return _completion(read, text, bool(message.refusal), choice.finish_reason)


def _completion(
    read: ChatCompletion, text: str, is_refused: bool, finish_reason: str
) -> Completion:
    end: End = "refused" if is_refused else _ENDS.get(finish_reason, "")
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
        self._finish_reason = ""
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
    try:
        async for event in events(response):
            if event is None:
                return growing.completion(is_done=True)
            growing.take(event)
    except RecursionError as error:
        raise not_this_api() from error

    return growing.completion(is_done=False)
