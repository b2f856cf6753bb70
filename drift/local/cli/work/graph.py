"""What `drift bench graph` does: a database for each shape, and the table of the rows."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any

from rich.table import Table

from drift.core.errors import LocalStackError
from drift.local.cli.console import print_json, say, stdout
from drift.local.evals.graph.measure import Database, Options, measure
from drift.local.evals.graph.report import Row, ratios
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.stack import Stack, StackOptions

MEMORY = Memory(heap="1g", pagecache="1g")
"""Enough for 100,000 chunks of 1,536 floats; the vector indexes lie in the system's file cache."""

_SETTINGS = {
    "uri": "NEO4J_URI",
    "username": "NEO4J_USERNAME",
    "password": "NEO4J_PASSWORD",
    "name": "NEO4J_DATABASE",
    "community_index": "COMMUNITY_VECTOR_INDEX_NAME",
    "chunk_index": "CHUNK_VECTOR_INDEX_NAME",
    "fulltext_index": "CHUNK_FULLTEXT_INDEX_NAME",
}
_COLUMNS = ["chunks", "dims", "tenant", "statement"]
_COLUMNS += ["p50_ms", "p95_ms", "db_hits", "recall30", "rows"]


async def graph(
    options: StackOptions, shapes: list[tuple[int, int]], asked: Options, *, as_json: bool
) -> None:
    """Measure every shape (chunks, length of embedding), and print the rows.

    Raises:
        LocalStackError: NEO4J_URI is given and more than one length is asked for.
        GraphMisconfiguredError: the given database has a vector index of another length.
    """
    if options.given.get("NEO4J_URI") and len({length for _, length in shapes}) > 1:
        raise LocalStackError(
            "A vector index holds one length of embedding: with NEO4J_URI set, give one to --dims."
        )
    server, rows = "", list[Row]()
    for shape in shapes:
        async with _database(options, shape) as database:
            server, measured = await measure(database, shape, asked, say)
        rows += measured

    document = {
        "server": server,
        "cores": os.cpu_count(),
        "rows": [_plain(row) for row in rows],
        "ratios": ratios(rows),
    }
    if as_json:
        print_json(document)
    else:
        _show(document)


@asynccontextmanager
async def _database(options: StackOptions, shape: tuple[int, int]) -> AsyncIterator[Database]:
    """Yield the given database, or one of our own that holds nothing but this shape."""
    chunks, dims = shape
    of_this_shape = replace(
        options,
        data_dir=options.data_dir / f"bench-{chunks}-{dims}",
        neo4j_memory=MEMORY,
        given={"REDIS_URL": "not needed", "OAI_BASE_URL": "not needed", **options.given},
    )
    async with Stack(of_this_shape) as stack:
        yield _described({**options.given, **stack.env})


def _described(env: Mapping[str, str]) -> Database:
    """Return the database that settings lead to; what they do not name has its usual name."""
    known = {field: env[name] for field, name in _SETTINGS.items() if env.get(name)}
    return Database(**known)


def _plain(row: Row) -> dict[str, Any]:
    """Return a row as JSON: null for what was not measured, and `error` only where there is one."""
    fields = asdict(row)
    if row.error is None:
        del fields["error"]
    return fields


def _show(document: dict[str, Any]) -> None:
    table = Table(*_COLUMNS, "remark")
    for row in document["rows"]:
        figures = ["" if row[name] is None else str(row[name]) for name in _COLUMNS]
        table.add_row(*figures, row.get("error", ""))
    stdout.print(f"{document['server']}, {document['cores']} cores")
    stdout.print(table)
    for dims, compared in document["ratios"].items():
        stdout.print(f"{dims} floats: {compared}", markup=False)
