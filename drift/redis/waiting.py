"""The messages of one process that wait for Redis: in order, bounded in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

OVERHEAD_BYTES = 300  # what a waiting message takes beside its text


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """One message: its number in the process, its text, its channel, and since when it waits.

    `last` says that its request ends with it.
    """

    number: int
    text: bytes
    channel: str
    last: bool
    since: float

    @property
    def size(self) -> int:
        """What it takes in memory, in bytes."""
        return len(self.text) + OVERHEAD_BYTES


class WaitingRoom:
    """Messages in the order they came; when they are too many the oldest go, last messages last.

    `dropped` counts those that went unsent.
    """

    def __init__(self, most_bytes: int) -> None:
        """Hold messages of so many bytes in all."""
        self.newest = 0
        self.dropped = 0
        self._most_bytes = most_bytes
        self._bytes = 0
        self._messages: dict[int, WaitingMessage] = {}

    def __len__(self) -> int:
        """Count those that wait."""
        return len(self._messages)

    @property
    def oldest(self) -> int:
        """The number of the oldest message that waits, or of the next one that comes."""
        return next(iter(self._messages), self.newest + 1)

    def add(self, text: bytes, channel: str, *, last: bool, now: float) -> None:
        """Take a message for a channel, and make room for it."""
        self.newest += 1
        message = self._messages[self.newest] = WaitingMessage(
            self.newest, text, channel, last, now
        )
        self._bytes += message.size

        while self._bytes > self._most_bytes:
            steps = (number for number, one in self._messages.items() if not one.last)
            self._drop(next(steps, self.oldest))

    def first(self, most: int, most_bytes: int) -> list[WaitingMessage]:
        """Return the oldest messages: one, and as many more as do not exceed these limits."""
        chosen: list[WaitingMessage] = []
        for message in islice(self._messages.values(), most):
            most_bytes -= message.size
            if chosen and most_bytes < 0:
                break
            chosen.append(message)

        return chosen

    def arrived(self, number: int) -> None:
        """Let a message go that Redis has."""
        if message := self._messages.pop(number, None):
            self._bytes -= message.size

    def drop_older(self, than: float) -> None:
        """Drop what has waited since before this moment."""
        while self._messages and self._messages[self.oldest].since < than:
            self._drop(self.oldest)

    def _drop(self, number: int) -> None:
        self.dropped += 1
        self.arrived(number)
