"""Columns of a GraphRAG index are read in whichever type they were stored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from drift.local.ingest.graphrag.index import read_index
from tests.ingest.graphrag_tables import tables, write
from tests.ingest.test_graphrag import project_of

_WHOLE = ("community", "parent", "level", "human_readable_id")


@pytest.mark.parametrize(
    "types",
    [
        *(
            dict.fromkeys((*_WHOLE, "weight"), one)
            for one in ("VARCHAR", "DOUBLE", "JSON", "FLOAT")
        ),
        {**dict.fromkeys(_WHOLE, "DECIMAL(9,1)"), "weight": "DECIMAL(38,10)"},
        {**dict.fromkeys(_WHOLE, "HUGEINT"), "weight": "TINYINT"},
        {"id": "ENUM", "title": "JSON", "description": "BLOB", "text": "BLOB", "type": "JSON"},
        {"entity_ids": "BLOB[]", "text_unit_ids": "BLOB[]", "summary": "JSON"},
    ],
    ids=str,
)
def test_a_column_is_read_in_whichever_type_it_was_stored(
    tmp_path: Path, types: dict[str, str]
) -> None:
    plain = read_index(write(tmp_path / "plain", tables()))
    if types.pop("id", ""):
        ids = "ENUM({})".format(", ".join(f"'{kind}{n}'" for kind in "dter" for n in range(6)))
        types |= {"id": ids, "document_id": ids}
    other = read_index(write(tmp_path / "other", tables(), **types))
    for part in ("chunks", "entities", "relations", "communities", "texts"):
        assert getattr(other, part) == getattr(plain, part)


@pytest.mark.parametrize("type_", ["BIGINT", "DOUBLE", "DECIMAL(18,2)", "UHUGEINT", "VARCHAR"])
async def test_ids_may_be_numbers(tmp_path: Path, type_: str) -> None:
    index = json.loads(re.sub(r'"[dter]([0-9]+)"', r'"\1"', json.dumps(tables())))
    listed = dict.fromkeys(("text_unit_ids", "entity_ids"), f"{type_}[]")
    index["entities"][3]["text_unit_ids"] = ["3", None]
    index["embeddings.text_unit.text"] = [{"id": "2", "embedding": [1.0, None]}]
    folder = write(tmp_path, index, id=type_, document_id=type_, **listed)
    project = await project_of(folder)
    assert [chunk.id for chunk in project.chunks["1"]] == ["1", "2"]
    assert {one.id: one.chunk_ids for one in project.knowledge.entities}["4"] == ("3",)


@pytest.mark.parametrize(
    ("root", "types"),
    [(None, {}), ("", {"parent": "VARCHAR"}), ("nan", {"parent": "DOUBLE"}), (-1.0, {}), (-7, {})],
)
def test_a_root_has_no_parent_however_that_is_written(
    tmp_path: Path, root: object, types: dict[str, str]
) -> None:
    index = tables()
    for row in index["communities"]:
        row["parent"] = root if row["parent"] < 0 else row["parent"]
    found = read_index(write(tmp_path, index, **types)).communities
    assert [one.parent for one in found] == [None, None, 0, 0]


@pytest.mark.parametrize(
    ("children", "type_"),
    [([2, 3], "INTEGER[]"), (["2", "3.0"], "VARCHAR[]"), ("[2, 3]", "VARCHAR"), ([2, 3], "JSON")],
)
def test_children_tell_the_parents_where_no_column_does(
    tmp_path: Path, children: object, type_: str
) -> None:
    index = tables()
    for row in index["communities"]:
        del row["parent"]
        row["children"] = children if row["community"] == 0 else None
    found = read_index(write(tmp_path, index, children=type_)).communities
    assert [one.parent for one in found] == [None, None, 0, 0]


def test_what_is_stored_for_others_costs_no_title(tmp_path: Path) -> None:
    index = tables()
    titles = ["[" * 3000 + "]" * 3000, '{"file_name": ["a"], "title": "a\\ud800\\u0000.md"}']
    for row, metadata in zip(index["documents"], titles, strict=True):
        row |= {"title": None, "metadata": metadata}
    found = read_index(write(tmp_path, index)).documents
    assert [one.title for one in found] == ["d1", "a?.md"]
