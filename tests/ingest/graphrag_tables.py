"""A small index as GraphRAG writes it, made table by table, to change and to break."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

Tables = dict[str, list[dict[str, Any]]]

MILL = (
    "# The mill\n\nThe mill of Aldwick grinds barley for the whole valley. Its wheel was built by "
    "Tomas Reed in the year of the flood. "
)
BAKERY = (
    "The bakery on Crane Street buys its flour from the mill. Ines Moor bakes a dark loaf of "
    "barley every Friday, and sells it to the ferrymen. "
)
FERRY = (
    "The ferry crosses the Sarn at noon. Its captain, Odile Brand, waits for nobody when the "
    "ice is near. "
)

_TYPES = {
    "human_readable_id": "BIGINT",
    "community": "BIGINT",
    "parent": "BIGINT",
    "level": "BIGINT",
    "weight": "DOUBLE",
    "entity_ids": "VARCHAR[]",
    "text_unit_ids": "VARCHAR[]",
    "document_ids": "VARCHAR[]",
    "embedding": "FLOAT[]",
}
TABLES: Tables = {
    "documents": [
        {"id": "d1", "title": "valley.txt", "text": MILL + BAKERY, "metadata": None},
        {"id": "d2", "title": None, "text": FERRY, "metadata": '{"file_name": "ferry.md"}'},
    ],
    "text_units": [
        {"id": "t2", "human_readable_id": 2, "text": f"title: valley.txt.\n{BAKERY}",
         "document_id": "d1"},
        {"id": "t1", "human_readable_id": 1, "text": MILL, "document_id": "d1"},
        {"id": "t3", "human_readable_id": 3, "text": FERRY, "document_id": "d2"},
    ],
    "entities": [
        {"id": f"e{number}", "title": title, "type": kind, "description": told,
         "text_unit_ids": units}
        for number, (title, kind, told, units) in enumerate([
            ("TOMAS REED", "PERSON", "Tomas Reed built the wheel of the mill.", ["t1"]),
            ("THE MILL", "PLACE", "The mill of Aldwick grinds barley.", ["t1", "t2"]),
            ("INES MOOR", "PERSON", "Ines Moor bakes a dark loaf on Fridays.", ["t2"]),
            ("ODILE BRAND", "PERSON", "Odile Brand is the captain of the ferry.", ["t3", "gone"]),
        ], 1)
    ],
    "relationships": [
        {"source": "TOMAS REED", "target": "THE MILL", "weight": 2.0, "text_unit_ids": ["t1"],
         "description": "Tomas Reed built the wheel of the mill."},
        {"source": "INES MOOR", "target": "THE MILL", "weight": None, "text_unit_ids": ["t2"],
         "description": "Ines Moor bakes with flour that the mill has ground."},
        {"source": "INES MOOR", "target": "FERRYMEN", "weight": 1.0, "text_unit_ids": ["t2"],
         "description": "Ines Moor sells her loaf to the ferrymen."},
    ],
    "communities": [
        {"community": 0, "level": 0, "parent": -1, "entity_ids": ["e1", "e2", "e3"],
         "text_unit_ids": ["t1", "t2"]},
        {"community": 1, "level": 0, "parent": -1, "entity_ids": ["e4"], "text_unit_ids": ["t3"]},
        {"community": 2, "level": 1, "parent": 0, "entity_ids": ["e1", "e2"],
         "text_unit_ids": ["t1"]},
        {"community": 3, "level": 1, "parent": 0, "entity_ids": ["e3"], "text_unit_ids": []},
    ],
    "community_reports": [
        {"id": f"r{number}", "community": number, "title": title, "summary": summary,
         "full_content": f"# {title}\n\n{summary}"}
        for number, (title, summary) in enumerate([
            ("Mill and bakery", "The mill of Aldwick, and the bakery that buys its flour."),
            ("The ferry", "The ferry across the Sarn and its captain, Odile Brand."),
            ("The mill", "The mill of Aldwick and Tomas Reed, who built its wheel."),
        ])
    ],
}  # fmt: skip
"""Three texts of two documents; an entity and a relation name what is not there, and one community
has no report."""


def tables() -> Tables:
    """Return the tables, to change them."""
    return copy.deepcopy(TABLES)


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def write(folder: Path, index: Tables, prefix: str = "", **types: str) -> Path:
    """Write each table as Parquet; columns are text where nothing else is said."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = folder / "rows.jsonl"
    with _database().cursor() as connection:
        for name, rows in index.items():
            columns = dict.fromkeys(key for row in rows or TABLES[name][:1] for key in row)
            told = {name: types.get(name) or _TYPES.get(name, "VARCHAR") for name in columns}
            lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            read = f"read_json('{lines}', format='newline_delimited', columns={told})"
            connection.execute(f"COPY (FROM {read}) TO '{folder}/{prefix}{name}.parquet'")
    lines.unlink()
    return folder
