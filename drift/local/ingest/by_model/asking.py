"""The calls of a run to a chat model: some at a time, within a budget, and what became of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel

from drift.core.deadline import Deadline, task_group
from drift.core.errors import DriftError, ModelMisconfiguredError, UnusableReplyError
from drift.model.calls import ChatReply, Prompt, Tokens, sum_tokens
from drift.search.scope import parse

CALLS_AT_ONCE = 4
CALL_S = 240.0
"""How long a call may take, with what is repeated of it."""
MOST_FAILURES = 3
"""Calls that fail one after the other before no more are made."""

R = TypeVar("R", bound=BaseModel)
Build = Callable[[], Prompt]


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is to be made: what builds its prompt, and what makes it."""

    build: Build
    make: Callable[[], Awaitable[None]]


class Asked(Protocol):
    """What an ingestion needs of a chat model."""

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        """Return the model's reply; errors as for `ChatModel`."""


@dataclass(slots=True)
class Asking:
    """Asks a model within `most_tokens` of prompts and replies; None for as many as it takes.

    `at_once` calls are made side by side. `stopped` says why no more are made; `unusable` counts
    replies that nothing was read from, `left_out` what the budget had no room for.
    """

    chat: Asked
    most_tokens: int | None = None
    at_once: int = CALLS_AT_ONCE
    stopped: str = ""
    calls: int = 0
    unusable: int = 0
    left_out: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    _expected: int = 0
    _failures: int = 0

    async def ask(self, prompt: Prompt, shape: type[R], reply_tokens: int) -> tuple[R, int] | None:
        """Return the reply and its tokens, of which it is expected to have so many.

        None where no call was made, or it failed; UnusableReplyError for a reply of no use.
        """
        expected = (len(prompt.system) + len(prompt.user)) // 4 + reply_tokens
        if not self._may_spend(expected):
            return None

        self._expected += expected
        self.calls += 1
        try:
            reply = await self.chat.complete(prompt, Deadline.after(CALL_S))
        except UnusableReplyError:
            self._failures = 0
            self._spend(Tokens(expected - reply_tokens, reply_tokens))
            raise
        except DriftError as error:
            self._failures += 1
            if self._failures >= MOST_FAILURES or isinstance(error, ModelMisconfiguredError):
                self.stopped = self.stopped or f"the model does not answer: {error}"
            return None
        finally:
            self._expected -= expected

        self._failures = 0
        self._spend(reply.tokens)
        return parse(reply.text, shape), reply.tokens.prompt + reply.tokens.completion

    def _may_spend(self, tokens: int) -> bool:
        if self.stopped:
            return False
        spent = self.tokens.prompt + self.tokens.completion + self._expected
        if self.most_tokens is not None and spent + tokens > self.most_tokens:
            self.stopped = f"the budget of {self.most_tokens:,} tokens is used up"
        return not self.stopped

    def _spend(self, tokens: Tokens) -> None:
        self.tokens = sum_tokens((self.tokens, tokens))


async def do_all(calls: Iterable[PlannedCall], done: Callable[[], None], at_once: int) -> None:
    """Make all calls in their order, so many at once, and tell each that is done."""
    waiting = iter(calls)

    async def work_on() -> None:
        for call in waiting:
            await call.make()
            done()

    async with task_group() as group:
        for _ in range(at_once):
            group.create_task(work_on())
