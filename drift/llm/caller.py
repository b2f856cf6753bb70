"""How a model server is called: measured, bounded in time, repeated by the one policy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from drift.llm.retry import RetryPolicy
from drift.model.calls import Tokens
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
    """Held for one round of the event loop by whoever begins a request. An SDK takes a while to
    build one; what becomes ready together (160 follow-ups of 32 retrievals) would otherwise stop
    everything else until all of them are built."""

    async def send(
        self,
        request: Callable[[], Awaitable[T]],
        operation: servers.Operation,
        model: str,
        counted: Callable[[T], tuple[Tokens, str]],
    ) -> T:
        """Send one request and return its answer, or raise the SDK's error.

        `counted` reads tokens and the model's name of an answer.
        """
        async with self.turn:
            await asyncio.sleep(0)
        with servers.model_call(operation, model, self.provider) as call:
            # An SDK's own limit starts again with every byte.
            async with asyncio.timeout(self.timeout_s):
                answer = await request()
            call.tokens, call.model = counted(answer)
            return answer
