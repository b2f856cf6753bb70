"""A project as a chat model: the bodies of OpenAI's chat completions, as far as they are read."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StrictBool

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
    """A conversation whose last message of the user is the question; other fields are ignored.

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
