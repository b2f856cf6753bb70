"""Chunks that were made elsewhere into a new database, by `neo4j-admin database import`.

All of it is made in a folder beside the database's place and gets its name at the end, so that
nothing of a load that was killed, or had no room, is ever seen.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from drift.core.errors import IngestError
from drift.graph.indexes import project_key
from drift.graph.writing.records import DocumentBatch
from drift.graph.writing.rows import chunk_row, document_row
from drift.local.ingest.made.rows import MadeChunks, in_a_thread
from drift.local.stack.children import Child, log_tail
from drift.local.stack.data_folder import make_data_folder
from drift.local.stack.locks import try_lock, unlock
from drift.local.stack.neo4j.home import Memory, Neo4jHome, home_in
from drift.local.stack.neo4j.jars import default_cache, ensure_jars, exact_version
from drift.local.stack.neo4j.java import java_for
from drift.local.stack.record import lock_of
from drift.local.stack.stack import StackOptions

HEAP = "1g"
OFF_HEAP = "1g"
_BETWEEN = "\x1f"
"""What stands between the values of a list."""
_MOST_FILES = 200
_LOOK_EVERY_S = 0.1
_SHORTEST, _LONGEST = 1e-30, 3.4e38  # as the mean of a document's vectors is written elsewhere
_TABLES = {
    "project": "--nodes=__Project__",
    "document": "--nodes=__Document__:Document",
    "chunk": "--nodes=__Chunk__",
    "has_chunk": "--relationships=HAS_CHUNK",
    "in_project": "--relationships=IN_PROJECT",
}


async def import_chunks(made: MadeChunks, options: StackOptions) -> None:
    """Make a database of these documents where the local server of these options will find it.

    Raises:
        IngestError: NEO4J_URI names another server, there is a database already, there is no
            room, or the import failed; nothing is left.
        LocalStackError: the servers of the data folder run, or there is no Java.
    """
    home, version = await asyncio.to_thread(require_new, options), options.neo4j_version
    beside = home.with_name(f".bulk-{home.name}")
    lock = await asyncio.to_thread(_alone, home.parent)
    try:
        await asyncio.to_thread(_begin, beside, exact_version(version))
        tables = _Tables(beside / "import")
        async for _ in in_a_thread(tables.written(made)):
            pass
        options.say(f"{tables.chunks:,} chunks are imported by neo4j-admin ...")
        await _run_admin(beside, exact_version(version), options, tables.arguments)
        await asyncio.to_thread(_end, beside, home)
    except OSError as error:
        raise IngestError(
            f"The database could not be made in {home.parent} ({error.strerror or error}): nothing "
            f"is left of it. Make room, and run this again."
        ) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, beside, ignore_errors=True)
        unlock(lock)


def _begin(beside: Path, version: str) -> None:
    shutil.rmtree(beside, ignore_errors=True)  # of a load that was killed
    home = Neo4jHome(beside)
    home.prepare(version, None)
    home.configure(0, Memory(), {})


def _end(beside: Path, home: Path) -> None:
    shutil.rmtree(beside / "import")
    (beside / "import").mkdir()
    beside.rename(home)


def require_new(options: StackOptions) -> Path:
    """Return where the database will be.

    Raises:
        IngestError: there is one already, or NEO4J_URI names another server.
    """
    if options.given.get("NEO4J_URI"):
        raise IngestError(
            "--bulk makes the database of a local server, and NEO4J_URI names another server: "
            "unset it, or leave out --bulk."
        )
    data_dir = options.data_dir.resolve()
    home = home_in(data_dir, exact_version(options.neo4j_version))
    if home.exists():
        raise IngestError(
            f"--bulk makes a new database, and {data_dir} has one: nothing was changed. Name "
            f"another data folder (--data-dir), or leave out --bulk, which adds to this one."
        )
    return home


def _alone(data_dir: Path) -> int:
    """Return the lock that keeps servers from starting on the data folder."""
    make_data_folder(data_dir)
    lock = try_lock(lock_of(data_dir))
    if lock is None:
        raise IngestError(
            f"The local servers of {data_dir} run: end the commands that use them, or name another "
            f"data folder (--data-dir)."
        )
    return lock


async def _run_admin(home: Path, version: str, options: StackOptions, tables: list[str]) -> None:
    cache = options.cache_dir or default_cache()
    jars = await asyncio.to_thread(ensure_jars, version, cache, say=options.say)
    java = java_for(version, Path(given) if (given := options.given.get("JAVA_HOME")) else None)
    flags = [
        "--id-type=integer",
        "--multiline-fields=true",
        "--array-delimiter=U+001F",
        f"--max-off-heap-memory={OFF_HEAP}",
        f"--report-file={home / 'logs' / 'import.report'}",
    ]
    main = ["org.neo4j.cli.AdminTool", "database", "import", "full", "neo4j"]
    child = await asyncio.to_thread(
        Child,
        [java.program, *java.flags, f"-Xmx{HEAP}", *main, *flags, *tables],
        log=home / "logs" / "import.log",
        cwd=home / "import",
        grace_s=0.0,
        env={
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "CLASSPATH": os.pathsep.join(map(str, jars)),
            "NEO4J_HOME": str(home),
            "NEO4J_CONF": str(home / "conf"),
        },
    )
    try:
        while (status := child.exit_status()) is None:  # noqa: ASYNC110 - a process ends it
            await asyncio.sleep(_LOOK_EVERY_S)
    finally:
        await asyncio.to_thread(child.stop, kill=True)
    if status:
        raise IngestError(
            f"neo4j-admin could not import the chunks, and nothing is left of it. The end of its "
            f"log:\n{log_tail(child.log_text())}"
        )


# ------------------------------------------------------------------------------------------- tables
@dataclass(slots=True)
class _Tables:
    """The files of an import: a table has one for each set of columns that its rows have."""

    folder: Path
    chunks: int = 0
    arguments: list[str] = field(default_factory=list)
    _files: dict[tuple[str, ...], TextIO] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def written(self, made: MadeChunks) -> Iterator[int]:
        """Write all documents, then their project; yield the number of each document."""
        with self._stack:
            number = 0
            for number, one in enumerate(made.documents(made.project_id), start=1):
                self._add_document(number, one, made.project_id)
                yield number
            if not number:
                raise IngestError(f"{made.place} was cut while it was read: run this again.")
            now = round(1000 * time.time())
            told = {"id": made.project_id, "project_id": made.project_id, "fingerprint": ""}
            self._add("project", {":ID(p)": "0"}, told | {"behind": number, "written_at": now})

    def _add_document(self, number: int, one: DocumentBatch, project_id: str) -> None:
        """Add a document with its chunks, as `document_statements` writes them."""
        (document,) = one.documents
        row, place = document_row(document, len(one.chunks)), str(number)
        told = row["properties"] | {"project_id": project_id, "id": document.id}
        told |= {"indexed_at": round(1000 * time.time()), "embedding_version": row["embedding"]}
        if (updated_at := row["updated_at"]) is not None:
            told["updated_at"] = datetime.fromtimestamp(updated_at / 1000, UTC)
        told["embedding"] = _mean([chunk.embedding for chunk in one.chunks])
        self._add("document", {":ID(d)": place}, told)
        self._add("in_project", {":START_ID(d)": place, ":END_ID(p)": "0"}, {})

        for chunk in one.chunks:
            self.chunks += 1
            own: dict[str, Any] = {
                "project_id": project_id,
                "id": chunk.id,
                "project_key": project_key(project_id),
            }
            own["embedding"] = np.array(chunk.embedding)
            at = str(self.chunks)
            self._add("chunk", {":ID(c)": at}, chunk_row(chunk, document)["properties"] | own)
            self._add("has_chunk", {":START_ID(d)": place, ":END_ID(c)": at}, {"run": "bulk"})
            self._add("in_project", {":START_ID(c)": at, ":END_ID(p)": "0"}, {})

    def _add(self, table: str, ends: Mapping[str, str], properties: Mapping[str, Any]) -> None:
        """Add a row to the file of its columns; what is null has none."""
        cells = dict(ends)
        for name, value in properties.items():
            if value is not None:
                kind, text = _cell(value)
                cells[f"{name}:{kind}"] = text
        shape = table, *cells
        if shape not in self._files:
            if len(self._files) == _MOST_FILES:
                raise IngestError(
                    "The documents have too many different sets of metadata for --bulk: leave it "
                    "out, or use the same names, with values of one type, for all of them."
                )
            name = f"{table}{len(self._files)}.csv"
            opened = (self.folder / name).open("w", encoding="utf-8", newline="")
            self._files[shape] = self._stack.enter_context(opened)
            self._files[shape].write(",".join(cells) + "\n")
            self.arguments.append(f"{_TABLES[table]}=./{name}")
        self._files[shape].write(",".join(cells.values()) + "\n")


def _cell(value: Any) -> tuple[str, str]:  # noqa: ANN401 - what a property holds
    """Return the type of a value, as a header has it, and its text."""
    match value:
        case str():
            told = "string", _quoted(value)
        case bool():
            told = "boolean", str(value).lower()
        case int():
            told = "long", str(value)
        case float():
            told = "double", repr(value)
        case datetime():
            told = "datetime", value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case np.ndarray():
            told = "float[]", _BETWEEN.join(["%.9g"] * len(value)) % tuple(value.tolist())
        case _:
            if any(_BETWEEN in text for text in value):
                raise IngestError("A tag with the character U+001F is not taken by --bulk.")
            told = "string[]", _quoted(_BETWEEN.join(value))
    return told


def _quoted(text: str) -> str:
    escaped = text.replace('"', '""')
    return f'"{escaped}"'


def _mean(vectors: list[tuple[float, ...]]) -> Any:  # noqa: ANN401 - an array, or None
    """Return the mean of vectors, of length 1; None where it has no direction."""
    summed = np.array(vectors).sum(axis=0)
    length = float(np.sqrt(np.cumsum(summed * summed)[-1]))
    return (summed / length).astype(np.float32) if _SHORTEST < length < _LONGEST else None
