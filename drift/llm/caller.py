"""How a model server is called: measured, bounded in time, repeated by the one policy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.llm.retry import RetryPolicy
from drift.model.calls import Tokens
from drift.telemetry import servers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """What an error of an SDK means: the error of ours for it, and whether to try again.

    `wait_s` are the seconds that the server asks to wait.
    """

    error: DriftError
    is_transient: bool = False
    wait_s: float = 0.0


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

    async def repeat(
        self,
        attempt: Callable[[], Awaitable[T]],
        deadline: Deadline,
        failure: Callable[[BaseException], Failure | None],
    ) -> tuple[T, int]:
        """Return what an attempt returns, and the number of attempts beyond the first.

        What `failure` knows is raised as the error of ours that it names.
        """

        def asked_wait(error: BaseException) -> float:
            read = failure(error)
            return read.wait_s if read else 0.0

        def is_transient(error: BaseException) -> bool:
            read = failure(error)
            return read is not None and read.is_transient

        try:
            return await self.retry.run(
                attempt, retry_if=is_transient, deadline=deadline, asked_wait=asked_wait
            )
        except Exception as error:
            if read := failure(error):
                raise read.error from error
            raise
