"""What an ingestion would do, told before it does it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drift.graph.writing.records import ProjectState
from drift.local.ingest.by_model.estimate import Estimate
from drift.local.ingest.by_model.writing import ByModel, expected_of_new
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.report import IngestReport

if TYPE_CHECKING:  # a process that reads files starts without the driver of Neo4j
    from drift.local.ingest.neo4j.writer import Neo4jWriter


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingestion would change, and about what a model would take for its knowledge."""

    report: IngestReport
    estimate: Estimate


async def plan(changes: SourceChanges, graph: Neo4jWriter, by_model: ByModel | None) -> Plan:
    """Return what an ingestion would do; nothing is written, and no model is asked."""
    is_held = bool(await graph.held_projects(changes.project_id))
    state = await graph.project_state(changes.project_id) if is_held else ProjectState({}, "")
    identity = await changes.identity(state)
    changed = [batch async for batch in changes.compare(state, identity)]
    changes.result.removed = sorted({*changes.result.removed, *identity.gone})
    if by_model is None:
        return Plan(changes.result, Estimate())

    asks_all = not by_model.covers(state.fingerprint)  # replies that are there are used again
    if asks_all != changes.force:
        asked = replace(
            changes, force=asks_all, documents={}, replaced=set(), renamed={}, unusable={}
        )
        changed = [batch async for batch in asked.compare(state, identity)]
    titles = {one.id: one.title for batch in changed for one in batch.documents}
    chunks = [replace(one, title=titles[one.document_id]) for b in changed for one in b.chunks]
    return Plan(changes.result, await asyncio.to_thread(expected_of_new, by_model, chunks))
