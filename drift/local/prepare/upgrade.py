"""A graph of the release before, brought to the format of this one, document by document.

Killed at any point, the next run goes on: a document changes in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from drift.graph.connection import Connection, Statement
from drift.graph.cypher import versions
from drift.graph.cypher.schema import FIRST_VECTOR
from drift.graph.versions import keep_format, read_known_format
from drift.graph.writing.documents import REVEAL_TIMEOUT_S
from drift.graph.writing.lease import MAX_WAIT_S, Lease, holding
from drift.indexing.records import chunk_id, embedding_of
from drift.local.ingest.neo4j.document_vectors import fill_documents
from drift.local.ingest.report import Report, say_nothing
from drift.local.prepare import upgrade_statements as statements
from drift.local.say import Say

DOCUMENTS_AT_ONCE, CHUNKS_AT_ONCE = 100, 2000
"""Of one transaction: the document that passes the number of chunks is its last one."""

Row = Mapping[str, Any]


async def older_documents(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return how many documents and chunks are of the release before, by project."""
    if (await read_known_format(connection)).number is not None:
        return {}
    rows = await connection.rows(versions.OLDER)
    return {row["project_id"]: (row["documents"], row["chunks"]) for row in rows}


async def upgrade(
    connection: Connection,
    *,
    report: Report = say_nothing,
    say: Say = lambda _: None,
    wait_s: float = MAX_WAIT_S,
) -> None:
    """Give documents their key, vector and its model, and chunks the ids of this release.

    Edges and vectors stay, so that the next ingestion embeds none of the chunks again. Errors as
    for any write, or where a newer release wrote the graph; what was written stays.
    """
    older = await older_documents(connection)
    total, done = sum(documents for documents, _ in older.values()), 0
    for project_id in older:
        async with holding(Lease(connection, project_id), wait_s=wait_s, say=say) as lease:
            while number := await _upgrade_some(lease):
                done += number
                report("documents", done, total)
    await keep_format(connection)
    await fill_documents(connection, FIRST_VECTOR)


async def _upgrade_some(lease: Lease) -> int:
    """Bring some documents of a project over in one transaction; return how many."""
    named = {"project_id": lease.project_id}

    async def work(run: Statement) -> int:
        older = (await run(statements.OLDER, {**named, "most": DOCUMENTS_AT_ONCE})).records
        counted = accumulate(one["chunks"] for one in older)
        some = [
            one["id"]
            for one, chunks in zip(older, counted, strict=True)
            if chunks - one["chunks"] < CHUNKS_AT_ONCE
        ]
        documents = (await run(statements.DOCUMENTS, {**named, "ids": some})).records
        chunks = [row for one in documents for row in _renamed(one)]
        # A new id may still be that of another chunk, so all of them are moved away first.
        away = [{"id": row["id"], "to": f"to be {row['to']}"} for row in chunks]
        back = [{"id": f"to be {row['to']}", "to": row["to"]} for row in chunks]
        for rows in (away, back):
            await run(statements.RENAME_CHUNKS, {**named, "rows": rows})
        rows = [{"id": one["id"], "embedding": _embedding(one)} for one in documents]
        await run(statements.MARK_DOCUMENTS, {**named, "rows": rows})
        return len(documents)

    return await lease.transaction(work, REVEAL_TIMEOUT_S)


def _renamed(document: Row) -> Sequence[Row]:
    """Return the chunks of a document with the ids that this release gives them."""
    repeats: Counter[str] = Counter()
    rows = []
    for chunk in document["chunks"]:
        text = chunk["text"] or ""
        repeats[text] += 1
        to = chunk_id(document["namespace"], document["id"], repeats[text], text)
        rows.append({"id": chunk["id"], "to": to})
    return rows


def _embedding(document: Row) -> str | None:
    """Return what names a document's vectors; None where it is not known whose they are."""
    lengths = {chunk["length"] for chunk in document["chunks"]}
    if not document["model"] or len(lengths) != 1 or None in lengths:
        return None
    return embedding_of(document["model"], lengths.pop())
