"""Whether a chat model answers, without asking it often: each question is billed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from drift.core.errors import DriftError, UnusableReplyError
from drift.core.outcomes import Outcomes
from drift.core.shared_build import SharedBuild
from drift.model.health import Readiness

KEPT_S = 600.0
"""So long an answer counts, to a request or to the question itself."""
FAILURE_KEPT_S = 60.0
"""A refusal costs nothing, and whoever mends it waits for this."""
PATIENCE_S = 5.0
"""So long one check waits for an answer; the next one reads it."""


@dataclass(slots=True)
class ModelWatch:
    """The state of a model called `name`; `ask` asks it, and notes that it has `answered`."""

    name: str
    ask: Callable[[], Awaitable[None]]
    clock: Callable[[], float] = time.monotonic
    patience_s: float = PATIENCE_S
    outcomes: Outcomes = field(init=False)
    """Of requests, beside the question that is asked here."""
    _at: float | None = None
    _failure: str = ""
    _problem: str = ""
    _question: SharedBuild[None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Ask nothing yet."""
        self._question = SharedBuild(self._ask)
        self.outcomes = Outcomes(self.clock)

    def answered(self, problem: str = "") -> None:
        """Note that the model has answered now, and the problem with its answer."""
        self._at, self._failure, self._problem = self.clock(), "", problem

    async def readiness(self, described: Callable[[], str]) -> Readiness:
        """Return how the model stands, and since when that is known.

        Waits `patience_s` for a model that has to be asked; `described` tells more of one that
        answers.
        """
        if self._is_due():
            await asyncio.wait({self._question.start()}, timeout=self.patience_s)
        if self._at is None:
            return Readiness.degraded(f"{self.name} was asked and has not answered yet")

        age = f"{self.clock() - self._at:.0f} s ago"
        if self._failure:
            return Readiness.failing(f"{self.name}, asked {age}: {self._failure}")
        if self._problem:
            return Readiness.degraded(f"{self.name}, {age}: {self._problem}")
        if failing := self.outcomes.problem:
            return Readiness.degraded(f"{self.name} answered {age}, but {failing}")
        return Readiness.ok(f"{self.name} answered {age}; {described()}".removesuffix("; "))

    def _is_due(self) -> bool:
        kept = FAILURE_KEPT_S if self._failure or self.outcomes.problem else KEPT_S
        return self._at is None or self.clock() - self._at >= kept

    async def _ask(self) -> None:
        try:
            await self.ask()
        except UnusableReplyError:  # which was noted as an answer
            return
        except DriftError as error:
            self._at, self._failure = self.clock(), error.detail
