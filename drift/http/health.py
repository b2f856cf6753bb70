"""How the servers behind the service stand, as `health/ready` tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from drift.auth.quotas import Quotas
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.core.outcomes import RecentSearches
from drift.http.settings import Settings
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.model.health import GraphHealth, Readiness
from drift.ports import ChatModel, Embedder, ProgressSink

TIMEOUT_S = 10.0

ReadinessSource = Callable[[], Awaitable[Readiness]]


@dataclass(frozen=True, slots=True)
class Check:
    """One entry: while what is `required` fails, no request is answered."""

    name: str
    run: ReadinessSource
    required: bool = True

    async def look(self) -> Readiness:
        """Return how it stands: at worst degraded, where it is not required."""
        found = await self.run()
        return found if found.serves or self.required else Readiness.degraded(found.reason)


@dataclass(frozen=True, slots=True)
class Health:
    """Asks each server once, side by side; one that fails hides no other.

    `model` makes the embeddings itself: a cache in front of it would not say whether it answers.
    `searches` are the latest of this process, told of while too many of them fail.
    `fallback` tells how second vectors stand, `caches` are asked with Redis, `vectors` tells of a
    store of vectors beside the graph, and `reranker` of one that searches ask.
    """

    settings: Settings
    graph: Callable[[], Awaitable[GraphHealth]]
    model: Embedder
    chat: ChatModel
    sink: ProgressSink | None
    caches: Sequence[ReadinessSource]
    quotas: Quotas
    searches: RecentSearches
    fallback: Callable[[], Awaitable[GraphHealth]] | None = None
    vectors: ReadinessSource | None = None
    reranker: ReadinessSource | None = None

    async def readiness(self) -> dict[str, Readiness]:
        """Return how everything stands that is looked at."""
        checks = self.checks()
        looking = asyncio.gather(*(check.look() for check in checks))
        graph, others = await asyncio.gather(self.graph_readiness(), looking)
        found = graph | {check.name: one for check, one in zip(checks, others, strict=True)}
        if problem := self.searches.problem:  # never failing: to be started anew mends no server
            found["searches"] = Readiness.degraded(problem)
        return found

    def checks(self) -> list[Check]:
        """Return what is looked at beside the graph."""
        checks = [
            Check("model", self._model),
            Check("chat", self.chat.health),
            Check("redis", self._redis, required=False),
        ]
        if self.vectors is not None:
            checks.append(Check("vectors", self.vectors, required=False))
        if self.reranker is not None:
            checks.append(Check("reranker", self.reranker, required=False))
        if self.settings.auth_mode == "keys":
            checks.append(Check("quota", self.quotas.readiness, required=False))
        if self.settings.reconcile_schedule:
            checks.append(Check("reconcile", self._reconcile, required=False))
        return checks

    async def graph_readiness(self) -> dict[str, Readiness]:
        """Return how `graph` and `indexes` stand, and `knowledge` where documents are written."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                health = await self.graph()
        except (DriftError, TimeoutError) as error:
            late = "no answer in time: check the port of NEO4J_URI, and whether it speaks Bolt"
            detail = error.detail if isinstance(error, DriftError) else late
            return {"graph": Readiness.failing(detail), "indexes": Readiness.failing("unknown")}

        entries = {
            "graph": Readiness.degraded(health.failing) if health.failing else Readiness.ok(),
            "indexes": health.readiness(self.settings.vector_index_dimensions),
        }
        if self.settings.enable_indexing:
            # Questions find what was written; only what is made of all documents lacks it.
            entries["knowledge"] = Readiness.ok(health.behind)
        return entries

    async def _model(self) -> Readiness:
        second = await _second_vectors(self.fallback) if self.fallback else None
        try:
            await self.model.embed(["ready?"], Deadline.after(TIMEOUT_S))
        except DriftError as error:
            if second is None or not second.serves:
                reason = f" EMBED_FALLBACK: {second.reason}" if second else ""
                return Readiness.failing(f"{error.detail}{reason}")
            return Readiness.degraded(
                f"{error.detail} Questions are answered by second vectors. {second.reason}".strip()
            )
        if second is None or second.is_ok:
            return Readiness.ok()
        return Readiness.degraded(f"EMBED_FALLBACK: {second.reason}")

    async def _redis(self) -> Readiness:
        if self.sink is None:
            return Readiness.failing("REDIS_URL is not set, nobody sees progress")

        progress = await self.sink.health()
        if not progress.is_ok:
            return Readiness.failing(f"{progress.reason}, nobody sees progress")
        return Readiness.joined(await asyncio.gather(*(health() for health in self.caches)))

    async def _reconcile(self) -> Readiness:
        reason = self.settings.schedule_problem or self.settings.nothing_to_reconcile
        return Readiness.failing(f"{reason}, nothing is reconciled") if reason else Readiness.ok()


async def _second_vectors(health: Callable[[], Awaitable[GraphHealth]]) -> Readiness:
    """Return how the second vectors stand, and the local model that questions are embedded by."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await LocalEmbedder().embed(["ready?"], Deadline.after(TIMEOUT_S))
            return (await health()).readiness(DIMENSIONS)
    except (DriftError, TimeoutError) as error:
        detail = error.detail if isinstance(error, DriftError) else "no answer in time"
        return Readiness.failing(detail)
