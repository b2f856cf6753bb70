"""Keeps a store of vectors in step with the graph, and asks it for candidates.

The graph has every vector too. So nothing is lost when the store fails or is behind: the graph's
own vectors answer, and the next run that compares both mends what differs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from neo4j import WRITE_ACCESS

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.deadline import Deadline, task_group
from drift.core.errors import UpstreamError, VectorStoreError
from drift.core.logs import log
from drift.graph.connection import Connection
from drift.graph.cypher import vector_copy as statements
from drift.graph.parameters import stored_ids
from drift.graph.versions import OwnVectors
from drift.model.found_nodes import CHUNK
from drift.model.health import Readiness
from drift.model.vectors import OWN, VectorRow, hashed
from drift.ports import VectorStore

SEARCH_S = 1.0
"""A search of the store gets no more of a request's time."""
CONNECT_S = 5.0
"""The first one loads the client, and connects."""
WRITE_S = 30.0
FOLLOW_S = 5.0
"""A write over HTTP waits no longer for the store."""
ATTEMPTS, PAUSE_S = 10, 0.1
LOOKED_AT = 10_000


@dataclass(slots=True)
class VectorCopy:
    """One store beside one graph; building it opens nothing.

    `trusts` what is noted of a project that is in step; without that it is compared even so.
    """

    store: VectorStore
    connection: Connection
    own: OwnVectors
    trusts: bool = True
    breaker: CircuitBreaker = field(
        default_factory=lambda: CircuitBreaker("vector_store", time.monotonic)
    )
    _is_warm: bool = field(default=False, init=False)

    # --------------------------------------------------------------------------------- questions
    async def finds(
        self,
        values: dict[str, Any],
        kinds: Sequence[str],
        most: int,
        least: int,
        deadline: Deadline,
    ) -> bool:
        """Put what a store in step finds among a statement's values; tell whether it is enough."""
        project_id, seconds = values["asked"]["project_id"], deadline.require()
        if not self.breaker.allow():
            return False
        fair_s = SEARCH_S if self._is_warm else CONNECT_S
        within_s = min(fair_s, seconds)
        self._is_warm = True
        try:
            space = await self._space()
            async with task_group() as group:
                state = group.create_task(
                    self.connection.read(statements.STATE, {"project_id": project_id})
                )
                searched = group.create_task(
                    self.store.search(space, project_id, values["vector"], kinds, most, within_s)
                )
        except VectorStoreError as error:
            if within_s == fair_s:  # too little time left says nothing of the store
                self.breaker.fail(error.detail)
            return False
        self.breaker.succeed()

        noted, found = state.result().records, searched.result()
        if not noted or noted[0]["copied"] != await self._mark(noted[0]["at"]):
            return False
        if noted[0]["noted_ms"] < 1000 * self.store.settles_s:
            return False
        hits: dict[str, list[Any]] = {kind: [] for kind in kinds}
        for kind, id_ in found:
            if kind in hits:
                hits[kind].append(stored_ids(id_))
        values["asked"] = {**values["asked"], "hits": hits}
        return len(found) >= least

    async def health(self) -> Readiness:
        """Return how the store stands, and which projects it is behind; never raises."""
        try:
            await self.store.check(await self._space(), CONNECT_S)
            behind = await self.behind()
        except UpstreamError as error:
            return Readiness.degraded(f"{error.detail} Neo4j's own vectors answer")
        self.breaker.succeed()
        if behind:
            named = ", ".join(behind[:3]) + (", …" if len(behind) > 3 else "")  # noqa: PLR2004
            return Readiness.degraded(
                f"{len(behind):,} projects are behind in the vector store ({named}), and Neo4j's "
                "own vectors answer: run `drift reconcile`"
            )
        return Readiness.ok()

    async def behind(self) -> list[str]:
        """Return the projects that the store is not in step with."""
        values = {"place": await self._mark(""), "looked_at": LOOKED_AT}
        found = await self.connection.read(statements.BEHIND, values)
        return [str(record["id"]) for record in found.records]

    # ------------------------------------------------------------------------------------- writes
    async def state(self, project_id: str) -> dict[str, Any]:
        """Return when a project was written (`at`) and `copied`, as the server that writes says."""
        found = await self.connection.write(statements.STATE, {"project_id": project_id})
        return dict(found.records[0]) if found.records else {"at": "", "copied": None}

    async def chunks_of(self, project_id: str, document_id: str) -> set[str]:
        """Return the ids of a document's chunks."""
        values = {"project_id": project_id, "id": document_id}
        return set((await self.connection.write(statements.CHUNKS_OF, values)).records[0]["ids"])

    async def changed(self, project_id: str, ids: Collection[str], before: str, after: str) -> None:
        """Follow one write, of these chunks or own nodes; a failure is logged and mended later.

        Where the store was not in step before it, the whole project is compared.
        """
        if before == after or not self.breaker.allow():
            return
        with self._told(project_id):
            async with asyncio.timeout(FOLLOW_S):
                for _ in range(ATTEMPTS):  # another process may yet follow the write before
                    copied = (await self.state(project_id))["copied"]
                    if copied == await self._mark(before):
                        await self._copy(project_id, ids)
                        if await self._advance(project_id, before, after):
                            return
                        break
                    await asyncio.sleep(PAUSE_S)
                await self.mend(project_id)

    async def follow(self, project_id: str) -> None:
        """Bring the store in step with a project; a failure is logged, and mended later."""
        with self._told(project_id):
            state = await self.state(project_id)
            if not self.trusts or state["copied"] != await self._mark(state["at"]):
                await self.mend(project_id)

    async def mend(self, project_id: str) -> int:
        """Compare all of a project with the store, and mend it; return how many rows differed.

        A write meanwhile makes it be repeated. What was done before an error stays.
        """
        differed = 0
        for _ in range(ATTEMPTS):
            at = (await self.state(project_id))["at"]
            differed += await self._copy(project_id, None)
            if not at or await self._advance(project_id, at, at):
                break
        log.info("vectors_mended", extra={"project_id": project_id, "rows": differed})
        return differed

    async def _copy(self, project_id: str, ids: Collection[str] | None) -> int:
        """Make rows of these chunks and own nodes, or of all, what they are in the graph."""
        batch = 1000
        space = await self._space()
        if ids is None:
            text = statements.ALL_ROWS
            stored = await self.store.digests(space, project_id, WRITE_S)
        else:
            text = statements.ROWS_OF
            stored = {hashed(project_id, kind, id_): "" for id_ in ids for kind in (CHUNK, OWN)}
        keys = [key for id_ in ids or () for key in stored_ids(id_)]
        values = {"project_id": project_id, "vector": space, "ids": keys}

        written, waiting = 0, list[VectorRow]()
        async for record in self.connection.stream(text, values, WRITE_ACCESS):
            row = VectorRow(project_id, **record)
            if len(row.vector) == self.own.dimensions and stored.pop(row.key, "") != row.digest:
                waiting.append(row)
            if len(waiting) >= batch:
                await self.store.upsert(space, waiting, WRITE_S)
                written, waiting = written + len(waiting), []
        await self.store.upsert(space, waiting, WRITE_S)
        await self.store.delete(space, list(stored), WRITE_S)
        differed = written + len(waiting) + len(stored)
        if ids is None or differed:  # else it was not asked
            self.breaker.succeed()
        return differed

    async def _advance(self, project_id: str, expected: str, after: str) -> bool:
        values = {"place": await self._mark(""), "expected": await self._mark(expected)}
        values |= {"project_id": project_id, "after": await self._mark(after)}
        return bool((await self.connection.write(statements.ADVANCE, values)).records)

    async def _mark(self, at: str) -> str:
        return f"{await self.store.place(await self._space(), CONNECT_S)} {at}"

    async def _space(self) -> str:
        return (await self.own.version()).vector

    @contextmanager
    def _told(self, project_id: str) -> Iterator[None]:
        """Log what fails, the graph too: it has everything, and the next run mends it."""
        try:
            yield
        except (UpstreamError, TimeoutError) as error:
            if isinstance(error, VectorStoreError):
                self.breaker.fail(error.detail)
            about = {"project_id": project_id, "mend": "drift reconcile"}
            log.warning("vectors_behind", exc_info=error, extra=about)
