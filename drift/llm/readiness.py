"""Whether a chat model answers, without asking it often: each question is billed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from drift.core.errors import DriftError, UnusableReplyError
from drift.model.health import Readiness

KEPT_S = 600.0
"""So long an answer counts, to a request or to the question itself."""
FAILURE_KEPT_S = 60.0
"""A refusal costs nothing, and whoever mends it waits for this."""
PATIENCE_S = 5.0
"""So long one check waits for an answer; the next one reads it."""


@dataclass(slots=True)
class ModelWatch:
    """What is known of a model called `name`; `ask` asks it, and raises when it does not answer."""

    name: str
    ask: Callable[[], Awaitable[None]]
    clock: Callable[[], float] = time.monotonic
    patience_s: float = PATIENCE_S
    _at: float | None = None
    _failure: str = ""
    _asking: asyncio.Task[None] | None = field(default=None, repr=False)

    def answered(self) -> None:
        """Note that the model has answered now."""
        self._at, self._failure = self.clock(), ""

    async def readiness(self, described: Callable[[], str]) -> Readiness:
        """Return how the model stands, and since when that is known.

        Waits `patience_s` for a model that has to be asked; `described` tells more of one that
        answers.
        """
        if self._asking is None and self._is_due():
            self._asking = asyncio.create_task(self._ask())
        if self._asking is not None:
            await asyncio.wait({self._asking}, timeout=self.patience_s)
        if self._at is None:
            return Readiness.degraded(f"{self.name} was asked and has not answered yet")

        age = f"{self.clock() - self._at:.0f} s ago"
        if self._failure:
            return Readiness.failing(f"{self.name}, asked {age}: {self._failure}")
        return Readiness.ok(f"{self.name} answered {age}; {described()}".removesuffix("; "))

    def _is_due(self) -> bool:
        kept = FAILURE_KEPT_S if self._failure else KEPT_S
        return self._at is None or self.clock() - self._at >= kept

    async def _ask(self) -> None:
        try:
            await self.ask()
            self.answered()
        except UnusableReplyError:  # cut or filtered: it answers
            self.answered()
        except DriftError as error:
            self._at, self._failure = self.clock(), error.detail
        finally:
            self._asking = None
