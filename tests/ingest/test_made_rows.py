"""Chunks that were made elsewhere: what rows may be, and the line that is named otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from drift.core.errors import IngestError
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.made import rows as made_rows
from drift.local.ingest.made.loading import require_model
from tests.made_rows import Row, made_of, rows, written

Change = Callable[[list[Row]], Any]


def parquet(source: Path, file: Path) -> Path:
    duckdb.read_json(str(source)).write_parquet(str(file))
    return file


def test_json_lines_parquet_and_parts_of_both_are_the_same_documents(tmp_path: Path) -> None:
    some = rows(7)
    lines = written(tmp_path / "all.jsonl", some)
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "_SUCCESS").touch()
    written(parts / "part-0.json", some[:3])
    parquet(written(tmp_path / "rest.jsonl", some[3:]), parts / "part-1.parquet")

    read = [[*made_of(place, "p").documents("p")] for place in (lines, parts)]
    named = [[(one.documents[0].version, one.chunks) for one in batches] for batches in read]
    assert named[0] == named[1]
    first, second = read[0][0], read[0][1]
    assert first.documents[0].attributes.metadata == {"year": 2000, "share": 0, "open": True}
    assert [chunk.text for chunk in first.chunks] == [some[0]["text"], some[1]["text"]]
    assert second.documents[0].title == "town/1.md"
    assert first.documents[0].source.startswith("chunks:")


def _set(place: int, **told: Any) -> Change:
    return lambda some: some[place].update(told)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set(4, embedding=[0.5] * 255), "line 5: its embedding has 255 floats, and not 256"),
        (_set(1, embedding=[0.0] * 256), "line 2: its embedding is of zeros"),
        (_set(1, embedding=[1e39] * 256), "line 2: its embedding is of zeros, or of numbers"),
        (_set(2, embedding=[float("nan")] * 256), "line 3: it is no JSON, or was cut"),
        (_set(2, embedding=["1"] * 256), "line 3: `embedding.0`"),
        (_set(3, text=" \n"), "line 4: `text`"),
        (_set(3, text="a\0b"), "line 4: `text`: must not contain NUL"),
        (_set(3, colour="red"), "line 4: it says something else of its document"),
        (_set(2, colour="red"), "line 3: `colour`"),
        (_set(4, project_id="other"), "line 5: it is of project other, and not of p"),
        (lambda some: some[4].pop("document"), "line 5: `document`"),
        (lambda some: some[4].pop("text"), "line 5: `text`"),
        (lambda some: some.append(some.pop(0)), "line 6: the rows of document 'town/0.md' do not"),
        (lambda some: [row.update(id="a") for row in some[2:4]], "line 4: the id 'a' stands in"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_by_its_line(
    tmp_path: Path, change: Change, said: str
) -> None:
    some = rows(3)
    for row in some[4:]:
        row["project_id"] = "p"
    change(some)
    file = written(tmp_path / "rows.jsonl", some)
    with pytest.raises(IngestError) as raised:
        list(made_of(file, "p").documents("p"))
    assert raised.value.detail.startswith(f"{file}, {said}")


async def test_a_cut_or_empty_file_is_named(tmp_path: Path) -> None:
    whole = json.dumps(rows(1)[0]).encode()
    for name, content, said in (
        ("cut.jsonl", whole + b"\n" + whole[:-9], "line 2: it is no JSON, or was cut"),
        ("list.jsonl", b"[1]\n", "line 1: it has to be an object"),
        ("empty.jsonl", b"\n", "holds no chunk"),
        ("cut.parquet", b"PAR1 and no more", "cannot be read after row 0"),
        ("rows.csv", b"a,b", "its name has to end in"),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(IngestError, match=said):
            await made_of(file, "p").check()
    with pytest.raises(IngestError, match="its name has to end in"):
        await made_of(tmp_path / "gone", "p").check()


def test_a_line_and_a_document_have_a_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "rows.jsonl", rows(2))
    monkeypatch.setattr(made_rows, "MOST_CHUNKS", 1)
    with pytest.raises(IngestError, match="line 2: a document has at most 1 chunks"):
        list(made_of(file, "p").documents("p"))
    monkeypatch.setattr(made_rows, "MOST_LINE_BYTES", 99)
    with pytest.raises(IngestError, match="line 1: it is longer than 99 bytes"):
        list(made_of(file, "p").documents("p"))


async def test_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    some = rows(9)
    own = made_of(written(tmp_path / "own.jsonl", some), "p")
    await require_model(own, await own.check(), LocalEmbedder())

    turned = [row | {"embedding": row["embedding"][::-1]} for row in some]
    other = made_of(written(tmp_path / "other.jsonl", turned), "p")
    with pytest.raises(IngestError, match="are not those of wordllama-256"):
        await require_model(other, await other.check(), LocalEmbedder())
