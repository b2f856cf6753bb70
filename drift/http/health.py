"""How the servers behind the service stand, as `health/ready` tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from drift.auth.quotas import Quotas
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.http.settings import Settings
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.model.health import Readiness
from drift.ports import ChatModel, Embedder, GraphStore, ProgressSink

TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Health:
    """Asks each server once, side by side; one that fails hides no other.

    `model` makes the embeddings itself: a cache in front of it would not say whether it answers.
    Redis, whose `caches` are asked too, `vectors`, quota and reconcile are at worst degraded.
    """

    settings: Settings
    graph: GraphStore
    model: Embedder
    chat: ChatModel
    sink: ProgressSink | None
    caches: Sequence[Callable[[], Awaitable[Readiness]]]
    quotas: Quotas
    fallback: GraphStore | None = None
    vectors: Callable[[], Awaitable[Readiness]] | None = None

    async def readiness(self) -> dict[str, Readiness]:
        """Return how graph, indexes, embedding `model`, chat and Redis stand, quota and timer."""
        graph, model, chat, redis, vectors = await asyncio.gather(
            self.graph_readiness(),
            self._model(),
            self.chat.health(),
            self._redis(),
            self._vectors(),
        )
        entries = {**graph, "model": model, "chat": chat, "redis": redis, **vectors}
        if self.settings.auth_mode == "keys":
            entries["quota"] = await self.quotas.readiness()

        if self.settings.reconcile_schedule:
            reason = self.settings.schedule_problem or self.settings.nothing_to_reconcile
            entries["reconcile"] = (
                Readiness.degraded(f"{reason}, nothing is reconciled") if reason else Readiness.ok()
            )

        return entries

    async def graph_readiness(self) -> dict[str, Readiness]:
        """Return how `graph` and `indexes` stand, and `knowledge` where documents are written."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                health = await self.graph.health()
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

    async def _vectors(self) -> dict[str, Readiness]:
        """Return how a store of vectors beside the graph stands, where there is one."""
        return {"vectors": await self.vectors()} if self.vectors is not None else {}

    async def _redis(self) -> Readiness:
        if self.sink is None:
            return Readiness.degraded("REDIS_URL is not set, nobody sees progress")

        progress = await self.sink.health()
        if not progress.is_ok:
            return Readiness.degraded(f"{progress.reason}, nobody sees progress")
        return Readiness.joined(await asyncio.gather(*(health() for health in self.caches)))


async def _second_vectors(fallback: GraphStore) -> Readiness:
    """Return how the second vectors stand, and the local model that questions are embedded by."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await LocalEmbedder().embed(["ready?"], Deadline.after(TIMEOUT_S))
            return (await fallback.health()).readiness(DIMENSIONS)
    except (DriftError, TimeoutError) as error:
        detail = error.detail if isinstance(error, DriftError) else "no answer in time"
        return Readiness.failing(detail)
