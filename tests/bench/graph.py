"""How long the graph's statements take on synthetic projects, what they cost, what they find.

Each database holds three tenants with 90, 8 and 2 % of the chunks; a second run loads nothing.
Every statement is asked the same questions, one at a time, after runs that warm the server up;
times are the client's. `followup_exact` and `followup_indexed` are the follow-up with all chunks
scored and with the index alone, `read_...` what the read routes ask. NEO4J_URI, when set, must name
a database whose vector indexes have the one length of --dims, or none.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from drift.core.errors import DriftError, LocalStackError
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.http import settings, wiring
from drift.local.cli.console import say
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.stack import Stack, StackOptions
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of
from tests.bench.graph_trials import (
    PART,
    PRIME,
    READ,
    Trial,
    WatchedConnection,
    evidence,
    filtered,
    followup,
    nodes,
    primer,
    reads,
)
from tests.bench.synthetic import TENANTS, Query, SyntheticProject, projects
from tests.bench.synthetic_records import load

SPREAD = f"""
MATCH (d:__Document__ {{project_id: $p}})
SET d.`metadata.{PART}` = toInteger(substring(d.id, 1)) * $prime % 1000
"""
"""Gives documents what a filter asks for."""
MEMORY = Memory(heap="1g", pagecache="1g")
"""Enough for 100,000 chunks of 1,536 floats; the vector indexes lie in the system's file cache."""
UNUSED = {
    "REDIS_URL": "redis://127.0.0.1:1",
    "OAI_BASE_URL": "http://127.0.0.1:1",
    **dict.fromkeys(("OAI_MODEL", "OAI_EMBED_MODEL_NAME"), "unused"),
}
"""Servers that are not started, since nobody asks them."""
QUESTIONS = 20
"""Asked in turn, no more than timed runs."""
WARM_UP_RUNS = 100
"""The server goes on compiling a statement for as long.

With few timed runs, three times as many warm it up.
"""
PROFILED_RUNS = 3
MIN_RUNS, MAX_S = 3, 10.0
"""A statement that has taken this long is not asked again, once it has MIN_RUNS runs, or one that
is not timed."""
INDEX_TIMEOUT_S = 1800.0
MAX_EXACT = 10_000
"""Chunks of a tenant up to which the follow-up is also measured with all of them scored."""
USUAL_SIZE = 10_000
"""Chunks that growth is counted from."""
OURS = ("primer", "followup", "evidence")


@dataclass(frozen=True, slots=True)
class Row:
    """One statement asked of one tenant.

    `share` is the tenant's part of the database's chunks; times are milliseconds; `db_hits` is the
    median of profiled runs. `recall30` (0..1) is the mean part of what exact scoring ranks first
    that is found: the 30 nearest chunks; for the primer its communities; for `nodes` the five
    nearest chunks and communities. `rows` and `trips` are medians
    of what came back and of statements sent. `error` holds the server's words where the statement
    fails.
    """

    chunks: int
    dims: int
    tenant: str
    share: float
    statement: str
    p50_ms: float | None = None
    p95_ms: float | None = None
    db_hits: int | None = None
    recall30: float | None = None
    rows: float | None = None
    trips: float | None = None
    runs: int = 0
    error: str | None = None


async def bench(asked: Options, *, nodes_alone: bool = False) -> None:
    """Measure every size and length, in a database of its own."""
    options = stack_of(asked)
    if options.given.get("NEO4J_URI") and len(asked.dims) > 1:
        raise LocalStackError(
            "A vector index holds one length of embedding: with NEO4J_URI set, give one to --dims."
        )
    server, rows = "", list[Row]()
    for shape in ((chunks, dims) for dims in asked.dims for chunks in asked.chunks):
        tenants = projects(*shape, asked.seed)
        async with _database(options, shape) as (connection, names):
            await _load(connection, names, tenants)
            graph = Neo4jGraph(connection, names)
            for project in tenants:
                trials = nodes(graph, project)
                if not nodes_alone:
                    trials += _search_and_reads(graph, connection, names, project)
                for trial in trials:
                    rows.append(await _measured(connection, project, trial, asked.repeat))
                    say(f"{project.project_id}: {_plain(rows[-1])}")
            server = (await graph.health()).server

    document = {"server": server, "cores": os.cpu_count(), "rows": [_plain(row) for row in rows]}
    show({**document, "ratios": ratios(rows)}, asked)


@asynccontextmanager
async def _database(
    options: StackOptions, shape: tuple[int, int]
) -> AsyncIterator[tuple[WatchedConnection, IndexNames]]:
    """Yield the given database, or one of our own that holds nothing but this shape."""
    chunks, dims = shape
    of_this_shape = replace(
        options,
        data_dir=options.data_dir / f"bench-{chunks}-{dims}",
        neo4j_memory=MEMORY,
        given={**UNUSED, **options.given},
    )
    async with Stack(of_this_shape) as stack:
        values = settings.load({**of_this_shape.given, **stack.env})
        async with WatchedConnection(*wiring.database(values)) as connection:
            yield connection, wiring.index_names(values)


async def _load(
    connection: WatchedConnection, names: IndexNames, tenants: Sequence[SyntheticProject]
) -> None:
    writer, dims = Neo4jWriter(connection, names), tenants[0].dims
    if names.chunk in await writer.prepare(dims):
        # Built at once over all chunks, the index takes a fraction of the time; it was not there
        # before, so nobody misses it.
        await connection.write(f"DROP INDEX `{names.chunk}`", {})

    for project in tenants:
        start = time.perf_counter()
        if await load(project, writer):
            seconds = time.perf_counter() - start
            say(f"{project.project_id}: {project.chunks} chunks loaded in {seconds:.0f} s")
        parts = {"p": project.project_id, "prime": PRIME}
        await connection.write(SPREAD, parts)
    await writer.prepare(dims, INDEX_TIMEOUT_S)


def _search_and_reads(
    graph: Neo4jGraph, connection: WatchedConnection, names: IndexNames, project: SyntheticProject
) -> list[Trial]:
    """Return ours as they are, both ways of the follow-up, and reading; a large tenant has one."""
    limits = {"followup_indexed": 0}
    if project.chunks <= MAX_EXACT:
        limits["followup_exact"] = MAX_EXACT

    trials = [primer(graph, project), followup("followup", graph, connection, project)]
    trials.append(evidence(graph, project))
    for name, limit in limits.items():
        one_way = Neo4jGraph(connection, names, exact_limit=limit)
        trials.append(followup(name, one_way, connection, project))
    if project.tenant == next(iter(TENANTS)):
        trials += filtered(graph, connection, project)
    return trials + reads(graph, project)


# ---------------------------------------------------------------------------------------- one trial
async def _measured(
    connection: WatchedConnection, project: SyntheticProject, trial: Trial, repeat: int
) -> Row:
    queries = project.queries(min(QUESTIONS, repeat))
    share = project.chunks / project.total
    row = Row(project.total, project.dims, project.tenant, share, trial.name)
    try:
        await _runs(connection, trial, queries, min(WARM_UP_RUNS, 3 * repeat), 1)
        seconds, counts = await _runs(connection, trial, queries, repeat, MIN_RUNS)
        hits = [await _db_hits(connection, trial, query) for query in queries[:PROFILED_RUNS]]
        recalls = await _recalls(trial, queries)
    except DriftError as error:
        cause = error.__cause__ or error
        told = getattr(cause, "message", None) or str(cause) or str(error)
        return replace(row, error=told.strip().splitlines()[0])

    return replace(
        row,
        **milliseconds(seconds, (50, 95)),
        db_hits=int(statistics.median(hits)),
        recall30=round(statistics.fmean(recalls), 4) if recalls else None,
        rows=statistics.median(rows for rows, _ in counts),
        trips=statistics.median(trips for _, trips in counts),
        runs=len(counts),
    )


async def _runs(
    connection: WatchedConnection, trial: Trial, queries: Sequence[Query], most: int, least: int
) -> tuple[list[float], list[tuple[int, int]]]:
    """Ask `least` to `most` times in turn; return seconds, and the rows and trips of each run."""
    seconds: list[float] = []
    counts: list[tuple[int, int]] = []
    while len(counts) < most and (len(counts) < least or sum(seconds) < MAX_S):
        query, before = queries[len(counts) % len(queries)], connection.trips
        start = time.perf_counter()
        found = await trial.ask(query)
        seconds.append(time.perf_counter() - start)
        counts.append((len(found), connection.trips - before))
    return seconds, counts


async def _db_hits(connection: WatchedConnection, trial: Trial, query: Query) -> int:
    connection.profiling = True
    try:
        await trial.ask(query)
    finally:
        connection.profiling = False
    return db_hits(connection.last.summary.profile)


def db_hits(plan: Mapping[str, Any]) -> int:
    """Return the database hits of a profiled plan, all its operators together."""
    return int(plan.get("dbHits", 0)) + sum(map(db_hits, plan.get("children", ())))


async def _recalls(trial: Trial, queries: Sequence[Query]) -> list[float]:
    start, recalls = time.perf_counter(), list[float]()
    for query in queries if trial.recall else ():
        recalls.append(await trial.recall(query))
        if time.perf_counter() - start > MAX_S:
            break
    return recalls


# ------------------------------------------------------------------------------------------- report
def _plain(row: Row) -> dict[str, Any]:
    """Return a row as JSON: null for what was not measured, and `error` only where there is one."""
    fields = asdict(row)
    if row.error is None:
        del fields["error"]
    return fields


def ratios(rows: Sequence[Row]) -> dict[str, Any]:
    """Return by length how ours grow with the size and how others compare, for the largest tenant.

    `growth_p95`: p95 at the largest size over p95 at 10,000 chunks, or at the smallest size where
    that was not asked.
    `others_p50`: p50 of the search of nodes over that of the follow-up, at the largest size where
    it ran.
    """
    found = {}
    for dims in sorted({row.dims for row in rows}):
        own = [
            row
            for row in rows
            if row.dims == dims and row.tenant == next(iter(TENANTS)) and row.p50_ms is not None
        ]
        found[str(dims)] = {"growth_p95": _growth(own), "others_p50": _others(own)}
    return found


def _growth(rows: Sequence[Row]) -> dict[str, float]:
    sizes = sorted({row.chunks for row in rows})
    base = USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    at = {(row.statement, row.chunks): row.p95_ms or 0.0 for row in rows}
    return {
        name: round(at[name, sizes[-1]] / at[name, base], 2)
        for name in OURS
        if at.get((name, base)) and (name, sizes[-1]) in at
    }


def _others(rows: Sequence[Row]) -> dict[str, float]:
    followups = {row.chunks: row.p50_ms for row in rows if row.statement == "followup"}
    largest: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: row.chunks):
        ours = followups.get(row.chunks)
        if ours and row.p50_ms and not row.statement.startswith((*OURS, READ)):
            largest[row.statement] = round(row.p50_ms / ours, 2)
    return largest


def asked_shapes(about: str | None) -> Options:
    """Return the options of a bench on these databases."""
    return read_options(
        about,
        servers=True,
        chunks=((1000, 10_000, 100_000), "sizes of the database, with commas between them"),
        dims=((256, 1536), "lengths of the embeddings, with commas between them"),
        repeat=(40, "runs of each statement that are timed"),
        seed=(1, "which random graph"),
    )


if __name__ == "__main__":
    run(bench, asked_shapes(__doc__))
