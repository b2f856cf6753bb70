"""A project as a chat model: the bodies of OpenAI's chat completions, as far as they are read."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StrictBool,
    model_validator,
)

from drift.contracts.filter import Filter
from drift.contracts.request import MAX_MESSAGES


class ChatContent(BaseModel):
    """A part of a message; only text is read."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of a conversation."""

    role: str
    content: str | list[ChatContent] | None = None


class StreamOptions(BaseModel):
    """What a stream tells besides the answer."""

    include_usage: StrictBool | None = None


class ResponseFormat(BaseModel):
    """How the answer is written: as text, the one form that its citations stand in."""

    type: Literal["text"]


def _question(messages: object) -> object:
    """Return the last message of the user, and before it the newest texts of both sides."""
    if not isinstance(messages, list):
        return messages
    said = [one for one in messages if isinstance(one, dict)]
    while said and said[-1].get("role") != "user":
        said.pop()
    sides = ("user", "assistant")
    spoken = (one for one in reversed(said[:-1]) if one.get("role") in sides)
    before = ({"role": one["role"], "content": _text(one.get("content"))} for one in spoken)
    newest = list(islice((one for one in before if one["content"].strip()), MAX_MESSAGES))
    return [*reversed(newest), *said[-1:]]


def _text(content: object) -> str:
    """Return the text of an earlier message, whatever else it holds."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = (one.get("text") for one in parts if isinstance(one, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


class CompletionRequest(BaseModel):
    """A conversation whose last message of the user is the question; other fields are `unused`.

    `model` is a project, with `:quick`, `:auto` or `:drift` behind it for the depth. Where a
    project needs no name, the depth alone is enough (`:quick`), or nothing. Of `messages` the
    question is kept, if there is one, as the last, and the newest texts of both sides before it.
    `filter` is ours, and that of a question.
    """

    model: Annotated[str, BeforeValidator(lambda name: name or "")] = Field(
        "",
        max_length=140,
        json_schema_extra={"maxLength": 128, "pattern": r"^[^\u0000]*$"},  # those of a project
    )
    messages: Annotated[list[ChatMessage], BeforeValidator(_question)]
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    tool_choice: Literal["none", "auto"] | None = None
    filter: Filter | None = None
    response_format: ResponseFormat | None = None
    _unused: tuple[str, ...] = PrivateAttr(())

    @property
    def unused(self) -> tuple[str, ...]:
        """What of the body the answer does not depend on: fields, and roles as `messages.ROLE`."""
        return self._unused

    @model_validator(mode="wrap")
    @classmethod
    def _note_unused(cls, body: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401 - of a caller
        read = handler(body)
        read._unused = _unused_of(body, cls.model_fields)  # noqa: SLF001 - its own
        return read


def _unused_of(body: object, known: Collection[str]) -> tuple[str, ...]:
    """Return names of the body as a header may have them, no more than 32."""
    if not isinstance(body, dict):
        return ()
    roles = [one.get("role") for one in body["messages"] if isinstance(one, dict)]
    names = [f"messages.{role}" for role in ("system", "developer") if role in roles]
    names += [name for name, value in body.items() if name not in known and value is not None]
    return tuple(one for one in names if re.fullmatch("[A-Za-z0-9_.-]{1,64}", one))[:32]


class ChatAnswer(BaseModel):
    """The answer in Markdown, with its references below it."""

    role: Literal["assistant"] = "assistant"
    content: str


class ChatChoice(BaseModel):
    """The one choice of a completion."""

    index: int = 0
    message: ChatAnswer
    finish_reason: Literal["stop"] = "stop"


class ChatUsage(BaseModel):
    """Tokens of all calls behind the answer."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class CompletionOut(BaseModel):
    """An answer; `drift` is the whole document of `POST /retrieve`."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    drift: dict[str, Any]


class ChatErrorDetail(BaseModel):
    """What went wrong; `param` is the field that is, and `code` that of a Problem."""

    message: str
    type: str
    param: str | None
    code: str


class ChatError(BaseModel):
    """An error as OpenAI's clients read it."""

    error: ChatErrorDetail


class ChatModelOut(BaseModel):
    """A project as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "drift-neo4j"


class ChatModelList(BaseModel):
    """The caller's projects as models."""

    object: Literal["list"] = "list"
    data: list[ChatModelOut]
