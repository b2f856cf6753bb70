"""What one request costs: calls, tokens and round trips by phase, and the longest chain of calls."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from drift.contracts import Phase, PhaseUsage, UsageOut
from drift.model import ChatReply, Embeddings

T = TypeVar("T")


@dataclass(slots=True)
class Meter:
    """Counts for one request; belongs to that request alone."""

    clock: Callable[[], float] = time.monotonic
    graph_round_trips: int = 0
    _phases: dict[Phase, PhaseUsage] = field(default_factory=dict)
    _started: float = 0.0

    def __post_init__(self) -> None:
        """Start the wall clock."""
        self._started = self.clock()

    async def timed(self, call: Awaitable[T]) -> tuple[T, float]:
        """Await a call; return its result and the seconds it took."""
        start = self.clock()
        result = await call
        return result, self.clock() - start

    def chat(self, phase: Phase, reply: ChatReply) -> None:
        """Count one chat call."""
        usage = self.of(phase)
        usage.chat_calls += 1
        self._count_tokens(usage, reply)

    def embedding(self, phase: Phase, embeddings: Embeddings) -> None:
        """Count one embedding call, however many texts it carried."""
        usage = self.of(phase)
        usage.embedding_calls += 1
        self._count_tokens(usage, embeddings)

    def report(self, critical_path_s: float) -> UsageOut:
        """Return the totals and the parts."""
        phases = {phase.value: usage for phase, usage in self._phases.items()}
        totals = {name: sum(getattr(u, name) for u in phases.values()) for name in PhaseUsage.model_fields}
        return UsageOut(
            **totals,
            graph_round_trips=self.graph_round_trips,
            wall_seconds=round(self.clock() - self._started, 4),
            critical_path_seconds=round(critical_path_s, 4),
            phases=phases,
        )

    def of(self, phase: Phase) -> PhaseUsage:
        """Return what a phase has cost so far."""
        return self._phases.setdefault(phase, PhaseUsage())

    @staticmethod
    def _count_tokens(usage: PhaseUsage, reply: ChatReply | Embeddings) -> None:
        usage.prompt_tokens += reply.tokens.prompt
        usage.completion_tokens += reply.tokens.completion
        usage.cached_tokens += reply.tokens.cached
        usage.retries += reply.retries
