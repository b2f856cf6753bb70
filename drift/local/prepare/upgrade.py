"""A graph of the release before, brought to the format of this one, document by document.

Killed at any point, the next run goes on: a document changes in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from drift.graph.connection import Connection, Statement
from drift.graph.cypher import versions
from drift.graph.cypher.clauses import FORMAT
from drift.graph.cypher.schema import FIRST_VECTOR
from drift.graph.versions import keep_format, read_known_format
from drift.graph.writing.document_statements import NAME_CHUNKS
from drift.graph.writing.documents import REVEAL_TIMEOUT_S
from drift.graph.writing.lease import MAX_WAIT_S, Lease, holding
from drift.graph.writing.rows import found_by, parts
from drift.indexing.records import chunk_id, embedding_of
from drift.local.ingest.neo4j.document_vectors import fill_documents
from drift.local.ingest.report import Report, say_nothing
from drift.local.prepare import upgrade_statements as statements
from drift.local.say import Say

DOCUMENTS_AT_ONCE, CHUNKS_AT_ONCE = 100, 2000
"""Of one transaction: the document that passes the number of chunks is its last one."""

Row = Mapping[str, Any]
_Rows = Callable[[str, Row], Awaitable[Sequence[Row]]]


async def older_documents(
    connection: Connection, only: str | None = None
) -> dict[str, tuple[int, int]]:
    """Return how many documents and chunks are of the release before, by project, or `only` one."""
    if (await read_known_format(connection)).number is not None:
        return {}
    rows = await connection.rows(versions.OLDER)
    counts = {row["project_id"]: (row["documents"], row["chunks"]) for row in rows}
    return {name: one for name, one in counts.items() if only in {None, name}}


async def unsaid_formats(connection: Connection, only: str | None = None) -> list[str]:
    """Return the projects, or `only` one, that are of this release and do not say so."""
    rows = await connection.rows(statements.UNSAID, {"project_id": only})
    return [row["id"] for row in rows]


async def upgrade(
    connection: Connection,
    only: str | None = None,
    *,
    report: Report = say_nothing,
    say: Say = lambda _: None,
    wait_s: float = MAX_WAIT_S,
) -> dict[str, int]:
    """Give documents their key, vector and its model, and chunks the ids and words of this release.

    It does so in all projects, or in `only` one. Edges and vectors stay, so that the next ingestion
    embeds none of the chunks again. Returns how many chunks had other words, by project. Errors as
    for any write, or where a newer release wrote the graph; what was written stays.
    """
    older = await older_documents(connection, only)
    total, done = sum(documents for documents, _ in older.values()), 0
    for project_id in older:
        async with holding(Lease(connection, project_id), wait_s=wait_s, say=say) as lease:
            while number := await _upgrade_some(lease):
                done += number
                report("documents", done, total)
    await keep_format(connection)
    await fill_documents(connection, FIRST_VECTOR)
    about = {"ids": await unsaid_formats(connection, only), "format": FORMAT}
    await connection.write(statements.SAY_FORMAT, about)

    renewed: Counter[str] = Counter()
    for project in await connection.rows(statements.PROJECTS, {"project_id": only}):
        project_id = project["id"]
        if (begins := await _first_older(connection, project_id)) is None:
            continue
        behind, done = begins
        async with holding(Lease(connection, project_id), wait_s=wait_s, say=say) as lease:
            while page := await lease.transaction(partial(_renew_words, project_id, behind)):
                behind, done = page.last, done + page.chunks
                renewed[project_id] += len(page.words)
                report("chunks", done, project["chunks"])
    return {project_id: chunks for project_id, chunks in renewed.items() if chunks}


async def older_words(connection: Connection, only: str | None = None) -> dict[str, int]:
    """Return how many chunks have not the words by which this release finds them, by project."""
    older: Counter[str] = Counter()
    for project in await connection.rows(statements.PROJECTS, {"project_id": only}):
        behind = ""
        while page := await _page(connection.rows, project["id"], behind):
            older[project["id"]] += len(page.words)
            behind = page.last
    return {project_id: chunks for project_id, chunks in older.items() if chunks}


@dataclass(frozen=True, slots=True)
class _Texts:
    """The id of the last of some documents, how many chunks they have, and the words to renew."""

    last: str
    chunks: int
    words: list[dict[str, str]]


async def _page(rows: _Rows, project_id: str, behind: str) -> _Texts | None:
    """Return the documents behind an id, up to the one that passes CHUNKS_AT_ONCE."""
    asked = {"project_id": project_id, "behind": behind, "most": DOCUMENTS_AT_ONCE}
    some = _within_bounds(await rows(statements.BEHIND, asked))
    if not some:
        return None
    documents = await rows(statements.WORDS, {"project_id": project_id, "ids": some})
    chunks = sum(len(document["chunks"]) for document in documents)
    return _Texts(some[-1], chunks, _words(documents))


async def _first_older(connection: Connection, project_id: str) -> tuple[str, int] | None:
    """Return the document before the first page with other words, and the chunks up to it."""
    behind, done = "", 0
    while page := await _page(connection.rows, project_id, behind):
        if page.words:
            return behind, done
        behind, done = page.last, done + page.chunks
    return None


async def _renew_words(project_id: str, behind: str, run: Statement) -> _Texts | None:
    """Give the chunks of the next documents their words; return what was read."""

    async def rows(text: str, values: Row) -> Sequence[Row]:
        return (await run(text, values)).records

    page = await _page(rows, project_id, behind)
    for words in parts(page.words if page else (), CHUNKS_AT_ONCE):
        await run(NAME_CHUNKS, {"project_id": project_id, "rows": words})
    return page


def _within_bounds(counted: Sequence[Row]) -> list[str]:
    """Return the ids of the first documents, up to the one that passes CHUNKS_AT_ONCE."""
    sums = accumulate(one["chunks"] for one in counted)
    return [
        one["id"]
        for one, chunks in zip(counted, sums, strict=True)
        if chunks - one["chunks"] < CHUNKS_AT_ONCE
    ]


def _words(documents: Sequence[Row]) -> list[dict[str, str]]:
    """Return the words of the chunks that have others."""
    found = (
        (
            document["document_id"],
            chunk,
            found_by(
                document["title"] or "",
                document["document_id"],
                chunk["heading"] or "",
                chunk["text"] or "",
            ),
        )
        for document in documents
        for chunk in document["chunks"]
    )
    return [
        {"id": chunk["id"], "document_id": document_id, "name_words": words}
        for document_id, chunk, words in found
        if words != chunk["name_words"]
    ]


async def _upgrade_some(lease: Lease) -> int:
    """Bring some documents of a project over in one transaction; return how many."""
    named = {"project_id": lease.project_id}

    async def work(run: Statement) -> int:
        older = (await run(statements.OLDER, {**named, "most": DOCUMENTS_AT_ONCE})).records
        some = _within_bounds(older)
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
