"""How long the graph's two statements take, what they cost the server, and what they find.

Each size and number of dimensions has the tenants of `synthetic`; every statement is asked the same
questions, and its ranking is compared with the exact one. Times are the client's, one statement at
a time, after runs that warm the server up.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from drift.core.errors import DriftError
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.evals.graph.library import Library
from drift.local.evals.graph.nodes import Nodes
from drift.local.evals.graph.reading import Reading
from drift.local.evals.graph.records import load
from drift.local.evals.graph.report import Row
from drift.local.evals.graph.synthetic import Query, SyntheticProject, projects
from drift.local.evals.graph.trials import Others, Ours, Outcome, Trial
from drift.local.evals.graph.watched import WatchedConnection
from drift.local.evals.timing import percentile
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.say import Say

QUESTIONS = 20
"""Asked in turn, no more than timed runs."""
WARM_UP_RUNS = 100
"""The server goes on compiling a statement for as long.

With few timed runs, three times as many warm it up.
"""
PROFILED_RUNS = 3
INDEX_TIMEOUT_S = 1800.0
MIN_RUNS = 3
MAX_S = 10.0
"""A statement that has taken this long is not asked again, once it has MIN_RUNS runs, or one that
is not timed."""

MAX_EXACT = 10_000
"""Chunks of a tenant up to which the follow-up is also measured with all of them scored."""


_NAMES = IndexNames()


class Database(NamedTuple):
    """Where the database is, as whom, and the names of its indexes."""

    uri: str
    username: str = "neo4j"
    password: str = ""
    name: str = "neo4j"
    community_index: str = _NAMES.community
    chunk_index: str = _NAMES.chunk
    fulltext_index: str = _NAMES.fulltext


@dataclass(frozen=True, slots=True)
class Options:
    """How often each statement is asked, which random graph, and whether rivals are asked too.

    With `nodes_alone`, nothing is asked but the search of nodes.
    """

    repeat: int = 40
    seed: int = 1
    rivals: bool = True
    nodes_alone: bool = False


async def measure(
    database: Database, shape: tuple[int, int], options: Options, say: Say
) -> tuple[str, list[Row]]:
    """Ask every statement of every tenant of a database of `shape` (chunks, dimensions).

    What is not loaded is loaded first.

    Returns:
        The server's agent, and the rows.

    Raises:
        GraphMisconfiguredError: the database has a vector index of other dimensions.
        GraphUnavailableError: it cannot be reached.
    """
    tenants = projects(*shape, options.seed)
    names = IndexNames(database.community_index, database.chunk_index, database.fulltext_index)
    rows: list[Row] = []
    async with WatchedConnection(*database[:4]) as connection:
        await _load(connection, names, tenants, say)
        graph = Neo4jGraph(connection, names)
        async with _library(database) as library:
            for project in tenants:
                trials = Nodes(graph.finder(), connection, project).trials()
                if not options.nodes_alone:
                    trials += Ours(graph, connection, project).trials()
                    trials += _both_ways(connection, names, project)
                    trials += Reading(graph.reader(), connection, project).trials()
                if options.rivals:
                    trials += Others(connection, names, project, library).trials()
                for trial in trials:
                    rows.append(await _measured(project, trial, options.repeat))
                    say(f"{project.project_id}: {_told(rows[-1])}")
        return (await graph.health()).server, rows


def _both_ways(
    connection: WatchedConnection, names: IndexNames, project: SyntheticProject
) -> list[Trial]:
    """Return the follow-up with the index alone, and with every chunk scored exactly.

    A large tenant has only the first.
    """
    limits = {"followup_indexed": 0} | (
        {"followup_exact": MAX_EXACT} if project.chunks <= MAX_EXACT else {}
    )
    graphs = {
        name: Neo4jGraph(connection, names, exact_limit=limit) for name, limit in limits.items()
    }
    return [Ours(graph, connection, project).followup(name) for name, graph in graphs.items()]


async def _load(
    connection: WatchedConnection,
    names: IndexNames,
    tenants: Sequence[SyntheticProject],
    say: Say,
) -> None:
    writer, dims = Neo4jWriter(connection, names), tenants[0].dims
    if names.chunk in await writer.prepare(dims):
        # Built at once over all chunks, the index takes a fraction of the time; it was not there
        # before, so nobody misses it.
        await connection.write(f"DROP INDEX `{names.chunk}`", {})
    for project in tenants:
        start = time.perf_counter()
        if await load(project, writer):
            say(
                f"{project.project_id}: {project.chunks} chunks loaded in "
                f"{time.perf_counter() - start:.0f} s"
            )
    await writer.prepare(dims, INDEX_TIMEOUT_S)


@asynccontextmanager
async def _library(database: Database) -> AsyncIterator[Library | None]:
    if not Library.is_installed():
        yield None
        return
    login = (database.username, database.password)
    library = await asyncio.to_thread(
        Library, database.uri, login, database.name, database.chunk_index
    )
    try:
        yield library
    finally:
        await asyncio.to_thread(library.close)


async def _measured(project: SyntheticProject, trial: Trial, repeat: int) -> Row:
    row = Row(
        project.total, project.dims, project.tenant, project.chunks / project.total, trial.name
    )
    queries = project.queries(min(QUESTIONS, repeat))
    try:
        return await _timed(row, trial, queries, repeat)
    except DriftError as error:
        return replace(row, error=_words(error))


def _told(row: Row) -> str:
    """Return a row as a line for whoever waits."""
    if row.error:
        return f"{row.statement}: {row.error}"
    return (
        f"{row.statement}: p50 {row.p50_ms} ms, p95 {row.p95_ms} ms, {row.db_hits} hits, "
        f"recall {row.recall30}"
    )


async def _timed(row: Row, trial: Trial, queries: Sequence[Query], repeat: int) -> Row:
    await _runs(trial, queries, min(WARM_UP_RUNS, 3 * repeat), 1)
    milliseconds, runs = await _runs(trial, queries, repeat, MIN_RUNS)
    hits = [(await trial.run(query, True)).db_hits or 0 for query in queries[:PROFILED_RUNS]]
    recalls = await _recalls(trial, queries)
    return replace(
        row,
        p50_ms=round(statistics.median(milliseconds), 1),
        p95_ms=round(percentile(milliseconds, 95), 1),
        db_hits=int(statistics.median(hits)),
        recall30=round(statistics.fmean(recalls), 4) if recalls else None,
        rows=statistics.median(run.rows for run in runs),
        trips=statistics.median(run.trips for run in runs),
        runs=len(runs),
    )


async def _runs(
    trial: Trial, queries: Sequence[Query], most: int, least: int
) -> tuple[list[float], list[Outcome]]:
    """Ask `least` to `most` times in turn; return milliseconds and what came back."""
    milliseconds: list[float] = []
    runs: list[Outcome] = []
    while len(runs) < most and (len(runs) < least or sum(milliseconds) < 1000 * MAX_S):
        query = queries[len(runs) % len(queries)]
        start = time.perf_counter()
        runs.append(await trial.run(query, False))
        milliseconds.append(1000 * (time.perf_counter() - start))
    return milliseconds, runs


async def _recalls(trial: Trial, queries: Sequence[Query]) -> list[float]:
    start = time.perf_counter()
    recalls: list[float] = []
    for query in queries:
        recall = await trial.recall(query)
        if recall is None:
            break
        recalls.append(recall)
        if time.perf_counter() - start > MAX_S:
            break
    return recalls


def _words(error: Exception) -> str:
    """Return why a statement failed: the server's own words where there are any."""
    cause = error.__cause__ or error
    return str(getattr(cause, "message", None) or cause).strip().splitlines()[0]
