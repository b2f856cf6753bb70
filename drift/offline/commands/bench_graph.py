"""`drift bench graph`: a database for each size and length, the measurement, and the table."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rich.table import Table

from drift.errors import FieldProblem, InvalidRequestError, LocalStackError
from drift.offline.commands.console import paper, print_json, remark
from drift.offline.servers.neo4j.home import Memory
from drift.offline.stack.stack import Stack, StackOptions

if TYPE_CHECKING:
    from drift.offline.evals.graph_bench import Database, Row

MEMORY = Memory(heap="1g", pagecache="1g")
"""Enough for 100,000 chunks of 1,536 floats; the vector indexes lie in the system's file cache."""

MAX_CHUNKS = 1_000_000
MAX_DIMENSIONS = 4096

_SETTINGS = {
    "uri": "NEO4J_URI",
    "username": "NEO4J_USERNAME",
    "password": "NEO4J_PASSWORD",
    "name": "NEO4J_DATABASE",
    "community_index": "COMMUNITY_VECTOR_INDEX_NAME",
    "chunk_index": "CHUNK_VECTOR_INDEX_NAME",
    "fulltext_index": "CHUNK_FULLTEXT_INDEX_NAME",
}


async def bench_graph(
    options: StackOptions, chunks: str, dims: str, asked: tuple[int, int, bool], *, as_json: bool
) -> None:
    """Measure every size with every length of embedding, both lists with commas, and print the rows.

    `asked` is how often each statement is timed, the seed of the random graph, and whether the
    statements of others are asked.

    Raises:
        InvalidRequestError: a list is not one of whole numbers.
        LocalStackError: NEO4J_URI is given and more than one length is asked for.
        GraphMisconfiguredError: the given database has a vector index of another length.
    """
    sizes, lengths = (
        numbers(chunks, "--chunks", MAX_CHUNKS),
        numbers(dims, "--dims", MAX_DIMENSIONS),
    )
    if options.given.get("NEO4J_URI") and len(set(lengths)) > 1:
        raise LocalStackError(
            "A vector index holds one length of embedding: with NEO4J_URI set, give one to --dims."
        )
    from drift.offline.evals.graph_bench import Options, measure, ratios  # noqa: PLC0415 - numpy, for this command only

    server, rows = "", []
    for shape in [(size, length) for length in lengths for size in sizes]:
        async with _database(options, shape) as database:
            server, own = await measure(database, shape, Options(*asked), remark)
        rows += own
    document = {
        "server": server,
        "cores": os.cpu_count(),
        "rows": [_plain(r) for r in rows],
        "ratios": ratios(rows),
    }
    if as_json:
        print_json(document)
    else:
        _show(document)


def numbers(text: str, option: str, most: int) -> list[int]:
    """Return the whole numbers of a list with commas, each once.

    Raises:
        InvalidRequestError: naming the option.
    """
    parts = [part.strip() for part in text.split(",")]
    if all(part.isdecimal() and 0 < int(part) <= most for part in parts):
        return list(dict.fromkeys(int(part) for part in parts))
    problem = FieldProblem(
        option, f"whole numbers from 1 to {most} with commas between them, not {text!r}"
    )
    raise InvalidRequestError((problem,))


@asynccontextmanager
async def _database(options: StackOptions, shape: tuple[int, int]) -> AsyncIterator[Database]:
    """Yield the given database, or one of our own that holds nothing but this shape."""
    chunks, dims = shape
    own = replace(
        options,
        data_dir=options.data_dir / f"bench-{chunks}-{dims}",
        neo4j_memory=MEMORY,
        given={"REDIS_URL": "not needed", "OAI_BASE_URL": "not needed", **options.given},
    )
    async with Stack(own) as stack:
        yield _described({**options.given, **stack.env})


def _described(env: Mapping[str, str]) -> Database:
    """Return the database that settings lead to; what they do not name has its usual name."""
    from drift.offline.evals.graph_bench import Database  # noqa: PLC0415 - numpy, for this command only

    known = {field: env[name] for field, name in _SETTINGS.items() if env.get(name)}
    return Database(**known)


def _plain(row: Row) -> dict[str, Any]:
    """Return a row as JSON; what was not measured is null, and `error` is there only where there is one."""
    found = asdict(row)
    if row.error is None:
        del found["error"]
    return found


def _show(document: dict[str, Any]) -> None:
    columns = (
        "chunks",
        "dims",
        "tenant",
        "statement",
        "p50_ms",
        "p95_ms",
        "db_hits",
        "recall30",
        "rows",
    )
    table = Table(*columns, "remark")
    for row in document["rows"]:
        table.add_row(
            *("" if row[name] is None else str(row[name]) for name in columns), row.get("error", "")
        )
    paper.print(f"{document['server']}, {document['cores']} cores")
    paper.print(table)
    for dims, own in document["ratios"].items():
        paper.print(f"{dims} floats: {own}", markup=False)
