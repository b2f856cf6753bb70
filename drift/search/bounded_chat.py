"""A chat model within the tokens that a caller lets one request use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drift.core.deadline import Deadline
from drift.core.errors import OutOfTokensError
from drift.model.calls import ChatReply, Prompt, TextCallback
from drift.model.health import Readiness
from drift.ports import ChatModel
from drift.prompting.budget import cost_of
from drift.telemetry import parts

A_REPLY = 500
"""Tokens that a reply is expected to have until a longer one came; one that has begun is read to
its end."""
LAST_CALL = 2_000 + A_REPLY
"""Tokens kept for the answer that is made of all findings, a quarter of all at most."""
_LAST = "aggregate_reply"


@dataclass(slots=True)
class BoundedChat:
    """ChatModel that begins no call which would exceed `most` tokens of all; `refused` hears of it.

    Of a call under way, and of one whose tokens nobody reports, the expected ones count.
    """

    chat: ChatModel
    most: int
    reserved: int
    refused: Callable[[], None]
    used: int = 0
    longest_reply: int = A_REPLY

    @property
    def longest_prompt(self) -> int | None:
        """The bound of the model itself."""
        return self.chat.longest_prompt

    @property
    def left(self) -> int:
        """The tokens that are not used."""
        return self.most - self.used

    @property
    def longest_last(self) -> int:
        """The most tokens of the last prompt that can still be sent."""
        return max(0, self.left - self.longest_reply)

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        """Return the model's reply; OutOfTokensError for a call that is not begun."""
        expected = cost_of(prompt) + self.longest_reply
        least = self.used + expected + (0 if prompt.name == _LAST else self.reserved)
        if least > self.most:
            self.refused()
            raise OutOfTokensError(least, self.most)

        self.used += expected
        with parts.measured() as part:
            try:
                return await self.chat.complete(prompt, deadline, hear)
            finally:
                cost = part.cost
                reported = cost.prompt_tokens + cost.completion_tokens
                self.used += (reported or expected) - expected
                self.longest_reply = max(self.longest_reply, cost.completion_tokens)

    async def health(self) -> Readiness:
        """Return whether the model answers."""
        return await self.chat.health()
