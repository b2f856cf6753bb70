"""How the model server is called: measured, bounded in time, repeated by the one policy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from openai import OpenAIError

from drift.core.deadline import Deadline
from drift.llm.openai.errors import UNREADABLE, asked_wait, is_transient, translated
from drift.llm.openai.replies import tokens_of
from drift.llm.retry import RetryPolicy
from drift.telemetry import servers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Calls the server: an attempt takes at most `timeout_s`, and `retry` repeats failed ones."""

    timeout_s: float = 60.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    provider: str = "openai"
    """What traces and metrics call the server, `gen_ai.provider.name`."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)
    """Held for one round of the event loop by whoever begins a request. The SDK takes a while to
    build one; what becomes ready together (160 follow-ups of 32 retrievals) would otherwise stop
    everything else until all of them are built."""

    async def send(
        self, request: Callable[[], Awaitable[T]], operation: servers.Operation, model: str
    ) -> T:
        """Send one request and return the SDK's answer, or raise the SDK's error."""
        async with self.turn:
            await asyncio.sleep(0)
        with servers.model_call(operation, model, self.provider) as call:
            # The SDK's own limit starts again with every byte.
            async with asyncio.timeout(self.timeout_s):
                answer = await request()
            call.tokens = tokens_of(answer)
            call.model = str(getattr(answer, "model", None) or "")
            return answer

    async def repeat(
        self,
        attempt: Callable[[], Awaitable[T]],
        deadline: Deadline,
        setting: str,
    ) -> tuple[T, int]:
        """Return what an attempt returns, and the number of attempts beyond the first.

        Errors are ours, and name the setting that the model comes from.
        """
        try:
            return await self.retry.run(
                attempt, retry_if=is_transient, deadline=deadline, asked_wait=asked_wait
            )
        except (OpenAIError, TimeoutError, *UNREADABLE) as error:
            raise translated(error, setting) from error
