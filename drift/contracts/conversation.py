"""The conversation before a question, as far as a request may hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from drift.contracts.request import MAX_HISTORY_CHARACTERS, MAX_MESSAGES, HistoryMessage

MAX_MESSAGE_CHARACTERS = 4_000
"""Of one message: a long answer must not take the place of the questions before it."""

Said = tuple[Literal["user", "assistant"], str]
"""Who said something, and the words."""


def newest(said: Sequence[Said]) -> tuple[HistoryMessage, ...]:
    """Return the newest messages that a request may hold, the oldest first, each cut at its end."""
    kept: list[HistoryMessage] = []
    room = MAX_HISTORY_CHARACTERS
    for role, words in reversed(said):
        text = _sendable(words)[:MAX_MESSAGE_CHARACTERS]
        if len(kept) == MAX_MESSAGES or len(text) > room:
            break
        if text:
            kept.append(HistoryMessage(role=role, content=text))
            room -= len(text)
    return tuple(reversed(kept))


def _sendable(text: str) -> str:
    """Return a text without what no request may carry."""
    return text.replace("\x00", "").encode(errors="replace").decode().strip()
