"""The one retry policy: only here is a call repeated.

A repeated call is bounded twice, by attempts and by the deadline of its request, and only for
errors that are named.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.telemetry import servers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """The meaning of an error of an SDK: the error of ours for it, and whether to try again.

    `wait_s` are the seconds that the server asks to wait.
    """

    error: DriftError
    is_transient: bool = False
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is made, and how long is waited in between.

    There are at most `max_attempts` calls, `base_s * factor ** n` seconds apart, but never over
    `max_s`, plus jitter.
    """

    max_attempts: int = 3
    base_s: float = 2.0
    factor: float = 2.0
    max_s: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(
        self,
        call: Callable[[], Awaitable[T]],
        deadline: Deadline,
        failure: Callable[[BaseException], Failure | None],
    ) -> tuple[T, int]:
        """Return the result of `call` and the number of retries it took.

        The longer of the backoff and the wait that the server asks for is waited; jitter parts
        clients that failed together. A retry that could only start after the deadline is not begun.
        A running call is cancelled at the deadline.

        Raises:
            DriftError: the one that `failure` names for the last error.
            BaseException: the last error itself, where `failure` does not know it.
        """
        backoff = wait_exponential(multiplier=self.base_s, exp_base=self.factor, max=self.max_s)
        jittered = backoff + wait_random(0, min(self.base_s, self.max_s) * 0.25)

        def is_transient(error: BaseException) -> bool:
            known = failure(error)
            return known is not None and known.is_transient

        def wait(state: RetryCallState) -> float:
            known = failure(_error(state))
            return max(float(jittered(state)), known.wait_s if known else 0.0)

        def stop(state: RetryCallState) -> bool:
            return (
                state.attempt_number >= self.max_attempts
                or state.upcoming_sleep >= deadline.remaining()
            )

        async def attempt() -> T:
            async with asyncio.timeout(deadline.remaining()):
                return await call()

        def said(state: RetryCallState) -> None:
            servers.retrying(_error(state), state.attempt_number, state.upcoming_sleep)

        retrying = AsyncRetrying(
            retry=retry_if_exception(is_transient),
            wait=wait,
            stop=stop,
            sleep=self.sleep,
            before_sleep=said,
            reraise=True,
        )
        try:
            result: T = await retrying(attempt)
        except Exception as error:
            if known := failure(error):
                raise known.error from error
            raise

        return result, int(retrying.statistics["attempt_number"]) - 1


def _error(state: RetryCallState) -> BaseException:
    """Return the error of the last attempt; tenacity waits only after a failure."""
    error = state.outcome.exception() if state.outcome else None
    return error or RuntimeError("no failed attempt")


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float:
    """Return the seconds a server asks to wait, 0 when it does not say so or not readably.

    Reads `retry-after-ms` (Azure OpenAI), then `retry-after` as seconds or as an HTTP date (RFC
    9110, section 10.2.3); `now` is the Unix time, `headers` is looked up in lower case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000

    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds

    try:
        return max(0.0, parsedate_to_datetime(value or "").timestamp() - now())
    except ValueError:
        return 0.0


def _number(text: str | None) -> float | None:
    """Read a finite number that is not negative."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
