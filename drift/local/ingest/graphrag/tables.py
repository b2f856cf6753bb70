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
from drift.local.ingest.graphrag.cells import READ

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = Mapping[str, Any]


def _columns(told: str) -> dict[str, str]:
    """Return the type of each column, of `name: type, name: type`."""
    return dict(re.findall(r"(\w+): ([^,]+)", told))


TABLES: Mapping[str, Mapping[str, str]] = {
    "documents": _columns("id: name key, title: text?, text: text?, metadata: ?, raw_data: ?"),
    "text_units": _columns(
        "id: name, human_readable_id: number?, text: text, document_id: name?, document_ids: names?"
    ),
    "entities": _columns(
        "id: name key, title: text, type: text?, description: text, text_unit_ids: names"
    ),
    "relationships": _columns(
        "source: text, target: text, description: text, weight: number?, text_unit_ids: names?"
    ),
    "communities": _columns(
        "community: whole key, parent: whole, children: wholes?, level: whole, entity_ids: names, "
        "text_unit_ids: names"
    ),
    "community_reports": _columns(
        "id: name key, community: whole key, title: text, summary: text, full_content: text?"
    ),
}
"""What GraphRAG 1, 2 and 3 have in common, with how each column is read; others are not.

A mark `?` says that a column may be missing, a `key` that it names each row.
"""
_INSTEAD = {"parent": "children"}
"""A column that may be missing where another is there, which is read only then."""

_SCALAR = (
    r"(VARCHAR|BLOB|UUID|ENUM\(.*\)|DOUBLE|FLOAT|DECIMAL\(.*\)|U?(INTEGER|(TINY|SMALL|BIG|HUGE)"
    r'INT)|"NULL")'
)
_SCALARS = re.compile(rf"{_SCALAR}|JSON", re.DOTALL)
_LISTS = re.compile(rf"{_SCALAR}\[\d*\]|\"NULL\"", re.DOTALL)
_EITHER = re.compile(rf"{_LISTS.pattern}|VARCHAR|JSON", re.DOTALL)
_TYPES = {"names": _LISTS, "wholes": _EITHER, "": re.compile(".*", re.DOTALL)}
"""The types of the columns as DuckDB calls them."""


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
    types = done(guard, path, partial(column_types, path))
    there = {}
    for column, known in TABLES[name].items():
        kind, instead = known.removesuffix("?").removesuffix(" key"), _INSTEAD.get(column)
        if column in _INSTEAD.values() and not _INSTEAD.keys().isdisjoint(types):
            continue
        if column in types:
            there[column] = kind
            if not _TYPES.get(kind, _SCALARS).fullmatch(types[column]):
                words = f"{READ[kind][0].removesuffix('s')}s".replace("texts", "text")
                raise IngestError(
                    f"{path}: the column {column} is {types[column][:60]}, and not {words}."
                )
        elif not known.endswith("?") and instead not in types:
            raise IngestError(
                f"{path} lacks the column {column}; it has {', '.join(types)}. GraphRAG 1, 2 and 3 "
                f"write it: index anew with one of them, or use its notebook that migrates."
            )

    plain = {column: " ->> '$'" if types[column] == "JSON" else "" for column in there}
    listed = ", ".join(f'"{column}"{how}' for column, how in plain.items())
    read = partial(query, f"SELECT {listed} FROM read_parquet(?)", path)  # noqa: S608 - ours
    columns = [*zip(*done(guard, path, read), strict=True)] or [()] * len(there)
    cells = {
        column: _cells(path, column, kind, values)
        for (column, kind), values in zip(there.items(), columns, strict=True)
    }
    for column, values in cells.items():
        if TABLES[name][column].endswith("key"):
            require_keys(path, column, values)
    empty = dict.fromkeys(TABLES[name])
    return [empty | dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _cells(path: Path, column: str, kind: str, values: Sequence[Any]) -> list[Any]:
    words, read = READ[kind]
    cells: list[Any] = []
    for row, value in enumerate(values, start=1):
        try:
            cells.append(read(value))
        except (ValueError, RecursionError):
            shown = value if isinstance(value, int | float) else repr(value)
            raise IngestError(
                f"{path}: the column {column} holds {str(shown)[:40]}, and no {words}, in row "
                f"{row:,}."
            ) from None
    return cells


def column_types(path: Path) -> dict[str, str]:
    """Return the type of each column of a file, as DuckDB calls it."""
    return {row[0]: row[1] for row in query("DESCRIBE SELECT * FROM read_parquet(?)", path)}


def is_list(type_: str) -> bool:
    """Tell whether a column of a type, as DuckDB calls it, holds lists of single values."""
    return bool(_LISTS.fullmatch(type_))


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


def require_keys(path: Path, column: str, values: Sequence[Any]) -> None:
    """Raise IngestError for a value that is missing, or names two rows."""
    for value in values:
        if value in {None, ""}:
            raise IngestError(f"{path}: {column} has to name each row, and one has {value!r}.")
    if twice := [value for value, count in Counter(values).items() if count > 1]:
        raise IngestError(
            f"{path}: {len(twice):,} values of {column} stand in several rows, such as {twice[0]}. "
            f"Nothing tells which row is meant."
        )
