"""What is read of a chat completion; the rest of it is not looked at.

The SDK builds an object for every part of an answer without checking any; here the few that count
are checked at once.
"""

from __future__ import annotations

from typing import Any

import httpx2
from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler, field_validator

from drift.errors import ModelMisconfiguredError, UnusableReplyError


class PromptTokensDetails(BaseModel):
    """Of the prompt's tokens, those that the provider had in its cache."""

    cached_tokens: int | None = None


class Usage(BaseModel):
    """Tokens as the provider counts them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptTokensDetails | None = None


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
        # half of a surrogate pair is no character: it could neither be parsed nor be sent in the
        # next prompt
        text = (message.content or "").encode("utf-8", "replace").decode()
        if not text.strip():
            raise UnusableReplyError("empty")
        return text


def not_this_api() -> ModelMisconfiguredError:
    """Return the error for an answer of another shape than the API's."""
    return ModelMisconfiguredError("The answer is not one of the OpenAI API: check OAI_BASE_URL.")
