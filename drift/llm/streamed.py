"""A chat completion that comes in pieces, as server-sent events, put together as it grows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from openai import APIConnectionError
from pydantic import BaseModel, ValidationError

from drift.core.errors import DriftError, UnusableReplyError
from drift.llm.replies import ChatCompletion, Choice, Message, not_this_api, whole_characters
from drift.model.calls import TextCallback

EVENT_STREAM = "text/event-stream"
MAX_CHARACTERS = 200_000
"""A reply that is longer is taken for one that would not end; no reply of a search comes near."""
MOST_AT_EVERY_PIECE = 1_000
"""A longer text is told of only when it has grown by a share of itself, so that all looks at it
together cost no more than some at the whole."""
_GROWTH = 32
"""One part of so many, which a look has to read anew: it holds up other requests for so long."""
_FIRST_HALVES = "".join(map(chr, range(0xD800, 0xDC00)))


class ListenerError(RuntimeError):
    """What hears of a growing reply has failed: a fault of ours, none of the model's server."""


class _Piece(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _PieceOfChoice(BaseModel):
    delta: _Piece | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
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
            chunk = _Chunk.model_validate(event)
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
