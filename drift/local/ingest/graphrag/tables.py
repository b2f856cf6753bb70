"""The tables of a GraphRAG index as rows: which columns are read, and of which types they are."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped
from drift.indexing.reading_process import Guard, Result, guarded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_KEY_CHARS = 1000
"""What an index of the graph can hold, whatever the letters."""

Row = Mapping[str, Any]


def _columns(told: str) -> dict[str, str]:
    """Return the type of each column, of `name: type, name: type`."""
    return dict(re.findall(r"(\w+): ([^,]+)", told))


TABLES: Mapping[str, Mapping[str, str]] = {
    "documents": _columns("id: text key, title: text?, text: text?, metadata: ?, raw_data: ?"),
    "text_units": _columns(
        "id: text, human_readable_id: number?, text: text, document_id: text?, document_ids: texts?"
    ),
    "entities": _columns(
        "id: text key, title: text, type: text?, description: text, text_unit_ids: texts"
    ),
    "relationships": _columns(
        "source: text, target: text, description: text, weight: number?, text_unit_ids: texts?"
    ),
    "communities": _columns(
        "community: whole key, parent: whole, level: whole, entity_ids: texts, text_unit_ids: texts"
    ),
    "community_reports": _columns(
        "id: text key, community: whole key, title: text, summary: text, full_content: text?"
    ),
}
"""What GraphRAG 1, 2 and 3 have in common, with the type of each column; others are not read.

A mark `?` says that a column may be missing, a `key` that it names each row.
"""

_NUMBERS = {
    *("DOUBLE", "FLOAT", "INTEGER", "UINTEGER"),
    *(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")),
}
_TYPES = {"text": {"VARCHAR"}, "texts": {"VARCHAR[]"}, "number": _NUMBERS, "whole": _NUMBERS}
_IN_WORDS = {"texts": "lists of text", "number": "numbers", "whole": "whole numbers"}
"""The types as DuckDB calls them, and in words."""


def find_tables(folder: Path) -> dict[str, Path]:
    """Return where each table is, in the folder or `output` below it; IngestError for none."""
    places = [folder, folder / "output"]
    files = [
        {name: file for name in TABLES for prefix in ("create_final_", "")
         if (file := place / f"{prefix}{name}.parquet").is_file()} for place in places
    ]  # fmt: skip
    found = max(files, key=len)
    if missing := TABLES.keys() - found.keys():
        what = f"lacks {', '.join(sorted(missing))}" if folder.is_dir() else "is no folder"
        raise IngestError(
            f"{folder} holds no output of GraphRAG 1, 2 or 3: it {what}. Name the folder in which "
            f"GraphRAG has written documents.parquet or create_final_documents.parquet, and others."
        )
    return found


def read_table(path: Path, name: str, guard: Guard = guarded) -> list[Row]:
    """Return the rows of a table, with the columns that are read of it.

    IngestError when it cannot be read, lacks a column or has another type, or an id is not unique.
    """
    wanted, types = TABLES[name], done(guard, path, partial(column_types, path))
    for column, known in wanted.items():
        kind = known.removesuffix("?").removesuffix(" key")
        if column not in types and not known.endswith("?"):
            raise IngestError(
                f"{path} lacks the column {column}; it has {', '.join(types)}. GraphRAG 1, 2 and 3 "
                f"write it: index anew with one of them, or use its notebook that migrates."
            )
        if kind and types.get(column, '"NULL"') not in {'"NULL"', *_TYPES[kind]}:
            words = _IN_WORDS.get(kind, kind)
            raise IngestError(f"{path}: the column {column} is {types[column]}, and not {words}.")

    there = [column for column in wanted if column in types]
    listed = ", ".join(f'"{column}"' for column in there)
    read = partial(query, f"SELECT {listed} FROM read_parquet(?)", path)  # noqa: S608 - ours
    empty = dict.fromkeys(wanted)
    rows: list[Row] = [
        empty | dict(zip(there, row, strict=True)) for row in done(guard, path, read)
    ]
    for column, known in wanted.items():
        values = [row[column] for row in rows]
        if known.startswith("whole"):
            _require_whole(path, column, values)
        if known.endswith("key"):
            require_keys(path, column, values)
    return rows


def column_types(path: Path) -> dict[str, str]:
    """Return the type of each column of a file, as DuckDB calls it."""
    return {row[0]: row[1] for row in query("DESCRIBE SELECT * FROM read_parquet(?)", path)}


def query(text: str, path: Path) -> list[tuple[Any, ...]]:
    """Return the rows that a query gives of a file, which is its only parameter."""
    with _database().cursor() as cursor:
        try:
            return cursor.execute(text, [glob.escape(str(path))]).fetchall()
        except Exception as error:
            # Behind its first line stands our own query.
            raise ValueError(str(error).partition("\n")[0]) from error


@cache
def _database() -> DuckDBPyConnection:
    """Return a database in memory: to open one takes longer than to read a table."""
    import duckdb  # noqa: PLC0415 - an extra

    return duckdb.connect(config={"threads": 1})


def done(guard: Guard, path: Path, work: Callable[[], Result]) -> Result:
    """Return what the work on a file gives; IngestError when it gives nothing, with the reason."""
    result = guard(str(path), work)
    if isinstance(result, Skipped):
        raise IngestError(f"{path} {result.reason.removesuffix('.')}.")
    return result


def _require_whole(path: Path, column: str, values: Sequence[Any]) -> None:
    for value in values:
        if value is None or value != value // 1:
            raise IngestError(f"{path}: the column {column} holds {value}, and no whole number.")


def require_keys(path: Path, column: str, values: Sequence[Any]) -> None:
    """Raise IngestError for a value that is missing, too long, or names two rows."""
    for value in values:
        if value is None or not 0 < len(str(value)) <= MAX_KEY_CHARS:
            raise IngestError(
                f"{path}: {column} has to name each row, in at most {MAX_KEY_CHARS:,} characters, "
                f"and one has {str(value)[:40]!r}."
            )
    if twice := [value for value, count in Counter(values).items() if count > 1]:
        raise IngestError(
            f"{path}: {len(twice):,} values of {column} stand in several rows, such as {twice[0]}. "
            f"Nothing tells which row is meant."
        )
