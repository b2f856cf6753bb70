"""Chunks that were made elsewhere into a project: by batches and in bulk the same graph."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drift.core.errors import IngestError
from drift.graph.connection import Connection
from drift.graph.indexes import IndexNames
from drift.local.exchange.differences import ProjectDifferences
from drift.local.ingest import pipeline
from drift.local.ingest.context import IngestContext
from drift.local.ingest.made import bulk
from drift.local.ingest.made.loading import load_chunks
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source, SourceDocument
from drift.local.stack.locks import try_lock, unlock
from drift.local.stack.neo4j.home import home_in
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.record import lock_of
from drift.local.stack.stack import StackOptions
from tests.contract.graph_backends import Neo4jBackend, context, on_real_server
from tests.made_rows import MODEL, Row, made_of, rows, written
from tests.servers import NEWER, OLDER, QUICK

SNAPSHOT = """
MATCH (n) WHERE n.project_id = $p
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties,
  valueType(n.embedding) AS floats,
  COLLECT { MATCH (n)-[r]->(m) RETURN [type(r), properties(r), elementId(m)] } AS edges
"""
TIMES = {"written_at", "indexed_at", "derived_at"}


@pytest.fixture(scope="module")
def town() -> list[Row]:
    """The rows of 200 documents, two each."""
    return rows(200)


async def load(file: Path, project: str, work: IngestContext) -> IngestReport:
    made = made_of(file, project)
    return await load_chunks(made, await made.check(), work)


async def graph_of(connection: Connection, project: str) -> tuple[Counter[str], Counter[str]]:
    """Return all nodes and edges, times and marks of runs only by being there."""
    found = (await connection.write(SNAPSHOT, {"p": project})).records
    named: dict[str, str] = {}
    for record in found:
        told: dict[str, Any] = {**record["properties"]}
        told |= dict.fromkeys(told.keys() & TIMES, 0)
        if "__Document__" in record["labels"]:
            told["embedding"] = [round(x, 6) for x in told["embedding"]]
        facts = sorted(record["labels"]), record["floats"], sorted(told.items())
        named[record["id"]] = repr(facts)
    edges = Counter(
        repr((named[record["id"]], type_, sorted(told), named[end]))
        for record in found
        for type_, told, end in record["edges"]
    )
    return Counter(named.values()), edges


@on_real_server
async def test_only_what_changed_is_written(
    backend: Neo4jBackend, project: str, tmp_path: Path, town: list[Row]
) -> None:
    some, work = town[:24], context(backend.writer, MODEL)
    file = written(tmp_path / "rows.jsonl", some)
    first = await load(file, project, work)
    assert (len(first.added), first.held_chunks, bool(first.communities)) == (12, 24, True)
    before = await graph_of(backend.connection, project)
    assert not (await load(file, project, work)).wrote
    assert await graph_of(backend.connection, project) == before

    changed = [row | {"text": f"{row['text']} Again."} for row in some[:2]]
    written(file, changed + some[2:-2])
    second = await load(file, project, work)
    assert (second.changed, second.removed) == (["town/0.md"], ["town/11.md"])
    assert (second.chunks, second.held_documents, second.held_chunks) == (2, 11, 22)
    await ProjectDifferences(project, work).found()
    assert not await ProjectDifferences(project, work).found()


@on_real_server
async def test_what_others_hold_is_never_written_over(
    backend: Neo4jBackend, project: str, tmp_path: Path, town: list[Row]
) -> None:
    some, work = town[:4], context(backend.writer, MODEL)
    other = SourceDocument("town/1.md", "Another", "The town has a well.", "text")
    await pipeline.ingest(Source("/srv/docs", (other,)), project, work)
    before = await graph_of(backend.connection, project)
    with pytest.raises(IngestError, match="has 1 of these documents from another source"):
        await load(written(tmp_path / "rows.jsonl", some), project, work)
    with_ids = [row | {"id": f"c{place}"} for place, row in enumerate(some[:2])]
    with pytest.raises(IngestError, match="want a project of their own"):
        await load(written(tmp_path / "ids.jsonl", with_ids), project, work)
    assert await graph_of(backend.connection, project) == before


@on_real_server
async def test_a_file_that_changes_while_it_is_read_is_refused(
    backend: Neo4jBackend, project: str, tmp_path: Path, town: list[Row]
) -> None:
    some, work = town[:4], context(backend.writer, MODEL)
    made = made_of(written(tmp_path / "rows.jsonl", some), project)
    checked = await made.check()
    for others, said in ((some[:2] + some[2:3], "was changed"), (some[:2], "was cut")):
        written(made.place, others)
        with pytest.raises(IngestError, match=f"{said} while it was read"):
            await load_chunks(made, checked, work)


# --------------------------------------------------------------------------------------------- bulk
def options_in(folder: Path, version: str = NEWER) -> StackOptions:
    return StackOptions(version, folder, say=lambda _: None)


@asynccontextmanager
async def started(options: StackOptions, version: str) -> AsyncIterator[IngestContext]:
    """Give what a run works with on the server whose database was made in bulk."""
    home = home_in(options.data_dir, Neo4jServer(version).version)
    with Neo4jServer(version, folder=home, java_flags=QUICK) as server:
        async with Connection(server.uri, server.user, server.password, "neo4j") as connection:
            yield context(Neo4jWriter(connection, IndexNames()), MODEL)


@pytest.mark.deep
@pytest.mark.parametrize("version", [NEWER, OLDER])
@on_real_server
async def test_a_graph_made_in_bulk_is_the_one_that_batches_make(
    backend: Neo4jBackend, project: str, tmp_path: Path, town: list[Row], version: str
) -> None:
    made = made_of(written(tmp_path / "rows.jsonl", town), project)
    checked, options = await made.check(), options_in(tmp_path / "data", version)
    leftover = options.data_dir / f".bulk-{home_in(options.data_dir, version).name}"
    (leftover / "data").mkdir(parents=True)  # of a load that was killed
    await bulk.import_chunks(made, options)
    assert not [*options.data_dir.glob(".bulk*")]

    await load_chunks(made, checked, context(backend.writer, MODEL))
    async with started(options, version) as work:
        report = await load_chunks(made, checked, work, imported=True)
        assert (len(report.added), report.held_chunks) == (200, 400)
        ours = await graph_of(work.graph.connection, project)
        assert not (await load_chunks(made, checked, work)).wrote
    theirs = await graph_of(backend.connection, project)
    assert sum(ours[0].values()) > 600
    for one, other in zip(ours, theirs, strict=True):
        assert not one - other
        assert not other - one


@pytest.mark.deep
async def test_a_bulk_load_without_room_or_place_leaves_nothing(
    tmp_path: Path, town: list[Row]
) -> None:
    made = made_of(written(tmp_path / "rows.jsonl", town[:60]), "p")
    options = options_in(tmp_path / "data")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
    try:
        with pytest.raises(IngestError, match="nothing is left of it"):
            await bulk.import_chunks(made, options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [*options.data_dir.glob("*neo4j*")]

    lock = try_lock(lock_of(options.data_dir))
    with pytest.raises(IngestError, match="run: end the commands that use them"):
        await bulk.import_chunks(made, options)
    unlock(lock)
    home_in(options.data_dir, "2026").mkdir()
    with pytest.raises(IngestError, match=r"--bulk makes a new database, and .* has one"):
        await bulk.import_chunks(made, options)
    with pytest.raises(IngestError, match="NEO4J_URI names another server"):
        await bulk.import_chunks(made, replace(options, given={"NEO4J_URI": "bolt://a"}))
