"""The calls of a run to a chat model: some at a time, within a budget, and what became of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from drift.core.deadline import Deadline, task_group
from drift.core.errors import DriftError, ModelMisconfiguredError, UnusableReplyError
from drift.model.calls import Prompt, Tokens, sum_tokens
from drift.ports import ChatModel
from drift.search.scope import parse

CALLS_AT_ONCE = 4
CALL_S = 240.0
"""How long a call may take, with what is repeated of it."""
MOST_FAILURES = 3
"""Calls that fail one after the other before no more are made."""

R = TypeVar("R", bound=BaseModel)
Work = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Asking:
    """Asks a model within `most_tokens` of prompts and replies; None for as many as it takes.

    `stopped` says why no more calls are made; `unusable` counts replies that nothing was read from,
    `left_out` what the budget had no room for.
    """

    chat: ChatModel
    most_tokens: int | None = None
    stopped: str = ""
    calls: int = 0
    unusable: int = 0
    left_out: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    _expected: int = 0
    _failures: int = 0

    async def ask(self, prompt: Prompt, shape: type[R], reply_tokens: int) -> tuple[R, int] | None:
        """Return the reply and its tokens; None where no call was made, or it failed.

        `reply_tokens` is what a reply is expected to have.

        Raises:
            UnusableReplyError: the model refused, or what it said cannot be read.
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


async def do_all(works: Iterable[Work], done: Callable[[], None]) -> None:
    """Do all of it in its order, some at once, and tell each that is done."""
    waiting = iter(works)

    async def work_on() -> None:
        for work in waiting:
            await work()
            done()

    async with task_group() as group:
        for _ in range(CALLS_AT_ONCE):
            group.create_task(work_on())
