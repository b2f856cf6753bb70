"""What is read of a chat completion; the rest of it is not looked at.

The SDK builds an object for every part of an answer without checking any; here the few that count
are checked at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import httpx2
from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from drift.core.errors import ModelMisconfiguredError, UnusableReplyError
from drift.model.calls import Tokens


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
