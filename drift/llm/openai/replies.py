"""What is read of a chat completion, whole or in pieces; the rest of it is not looked at.

The SDK builds an object for every part of an answer without checking any; here the few that count
are checked at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx2
from openai import APIConnectionError
from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from drift.core.errors import DriftError, ModelMisconfiguredError, UnusableReplyError
from drift.model.calls import TextCallback, Tokens

EVENT_STREAM = "text/event-stream"
MAX_CHARACTERS = 200_000
"""A reply that is longer is taken for one that would not end; no reply of a search comes near."""
MOST_AT_EVERY_PIECE = 1_000
"""A longer text is told of only when it has grown by a share of itself, so that all looks at it
together cost no more than some at the whole."""
_GROWTH = 32
"""One part of so many, which a look has to read anew: it holds up other requests for so long."""
_FIRST_HALVES = "".join(map(chr, range(0xD800, 0xDC00)))


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


class Message(BaseModel):
    """What the model wrote, or why it would not."""

    content: str | None = None
    refusal: str | None = None


class Choice(BaseModel):
    """One of the model's messages, and why it ended there."""

    message: Message | None = None
    finish_reason: str | None = None


class ChatCompletion(BaseModel):
    """A chat completion of the OpenAI API; compatible servers leave out parts of it."""

    choices: list[Choice]
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

    @classmethod
    def read(cls, response: httpx2.Response) -> ChatCompletion:
        """Return the completion of a response with status 200.

        Raises:
            json.JSONDecodeError: the answer broke off.
            ModelMisconfiguredError: it is of no such API.
        """
        if "json" not in response.headers.get("content-type", ""):
            raise not_this_api()
        try:
            return cls.model_validate(response.json())
        except (ValidationError, RecursionError) as error:
            raise not_this_api() from error

    def text(self) -> str:
        """Return what the model wrote.

        Raises:
            UnusableReplyError: refused, content_filter, length or empty.
        """
        choice = self.choices[0] if self.choices else Choice()
        message = choice.message or Message()
        if message.refusal:
            raise UnusableReplyError("refused")
        if choice.finish_reason in ("content_filter", "length"):
            raise UnusableReplyError(choice.finish_reason)

        text = whole_characters(message.content or "")
        if not text.strip():
            raise UnusableReplyError("empty")
        return text


def whole_characters(text: str) -> str:
    """Return a text with halves of a character joined, and U+FFFD for a half that stands alone.

    A half could neither be parsed nor be sent in the next prompt.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def not_this_api() -> ModelMisconfiguredError:
    """Return the error for an answer of another shape than the API's."""
    return ModelMisconfiguredError("The answer is not one of the OpenAI API: check OAI_BASE_URL.")


def tokens_of(answer: Any) -> Tokens:  # noqa: ANN401 - a chat completion or embeddings
    """Read the usage; compatible servers leave out parts of it, or all."""
    usage = getattr(answer, "usage", None)
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
class ListenerError(RuntimeError):
    """What hears of a growing reply has failed: a fault of ours, none of the model's server."""


class _Piece(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _PieceOfChoice(BaseModel):
    delta: _Piece | None = None
    finish_reason: str | None = None


class _StreamChunk(BaseModel):
    """One event; the last one of some servers holds the usage and no choice."""

    choices: list[_PieceOfChoice] | None = None
    usage: object = None
    model: object = None


class GrowingCompletion:
    """What has come so far; `hear` is told of a short text at every piece, of a long one seldom.

    Whoever needs the end of it reads the completion.
    """

    def __init__(self, hear: TextCallback) -> None:
        """Begin with nothing."""
        self._hear = hear
        self._pieces: list[str] = []
        self._length = 0
        self._look_at = 0
        self._refusal = ""
        self._finish_reason: str | None = None
        self._usage: object = None
        self._model: object = None

    def take(self, event: object) -> None:
        """Add one event.

        Raises:
            ModelMisconfiguredError: it is none of the API.
            UnusableReplyError: the reply does not end.
            ListenerError: `hear` failed.
        """
        try:
            chunk = _StreamChunk.model_validate(event)
        except (ValidationError, RecursionError) as error:
            raise not_this_api() from error

        self._usage = chunk.usage or self._usage
        self._model = chunk.model or self._model
        for choice in (chunk.choices or ())[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            piece = choice.delta or _Piece()
            self._refusal += piece.refusal or ""
            if piece.content:
                self._pieces.append(piece.content)
                self._length += len(piece.content)
                if self._length > MAX_CHARACTERS:
                    raise UnusableReplyError("length")
                if self._length >= self._look_at:
                    self._tell()

    def _tell(self) -> None:
        """Tell of the text; a long one again only when it has grown by its share."""
        if self._length >= MOST_AT_EVERY_PIECE:
            self._look_at = self._length + self._length // _GROWTH

        text = "".join(self._pieces)
        self._pieces = [text]
        try:
            self._hear(whole_characters(text.rstrip(_FIRST_HALVES)))
        except DriftError:
            raise
        except Exception as error:
            raise ListenerError from error

    @property
    def has_ended(self) -> bool:
        """Whether the model has said why it ended; a stream without that was cut."""
        return self._finish_reason is not None

    def completion(self) -> ChatCompletion:
        """Return all of it, as a server sends it at once."""
        message = Message(content="".join(self._pieces), refusal=self._refusal or None)
        whole = Choice(message=message, finish_reason=self._finish_reason)
        read = {"choices": [whole], "usage": self._usage, "model": self._model}
        return ChatCompletion.model_validate(read)


async def put_together(
    events: AsyncIterator[object], request: httpx2.Request, hear: TextCallback
) -> ChatCompletion:
    """Return the completion of a stream, which `hear` is told of as it grows.

    Raises:
        APIConnectionError: the stream ended before the completion did.
        ModelMisconfiguredError: it is none of the API.
    """
    growing = GrowingCompletion(hear)
    async for event in events:
        growing.take(event)
    if not growing.has_ended:
        raise APIConnectionError(message="The stream broke off.", request=request)
    return growing.completion()
