"""Questions about places: the files that are shipped, an index, and what counts as shown."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.local.evals.place.measure import PlaceResult, ranks_of
from drift.local.evals.place.novellas import PlaceQuestion, read_index, read_questions
from drift.model.graph import Candidate, Candidates, Chunk

QUESTIONS = files("drift.local.evals.place") / "questions"


@pytest.mark.parametrize("name", ["christmas_carol", "dulce"])
def test_ten_questions_ask_about_every_kind_of_place(name: str) -> None:
    questions = read_questions(Path(str(QUESTIONS / f"{name}.jsonl")))
    assert len(questions) == 10
    assert set(Counter(q.place for q in questions)) == {
        "beginning", "end", "part", "before", "after",
    }  # fmt: skip
    assert all(question.quotes for question in questions)


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_chunks_are_numbered_within_their_document(tmp_path: Path) -> None:
    write(tmp_path / "documents.jsonl", {"id": "a", "title": "A"}, {"id": "b", "title": "B"})
    rows = [("1", "b"), ("2", "a"), ("3", "b"), ("4", "gone")]
    write(tmp_path / "chunks.jsonl", *({"id": k, "document_id": d, "text": k} for k, d in rows))
    batch = read_index(tmp_path)
    assert [(c.id, c.document_id, c.ordinal) for c in batch.chunks] == [
        ("1", "b", 0),
        ("2", "a", 0),
        ("3", "b", 1),
    ]


def test_what_is_no_index_and_no_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="cannot be read"):
        read_index(tmp_path)
    write(tmp_path / "documents.jsonl", {"id": "a"})
    write(tmp_path / "chunks.jsonl", {"id": "1", "document_id": "a", "text": "t"})
    with pytest.raises(IngestError, match="holds no index"):
        read_index(tmp_path)
    with pytest.raises(IngestError, match="no questions"):
        read_questions(write(tmp_path / "q.jsonl", {"question": "Who?"}))


def test_a_chunk_counts_when_it_holds_a_quote_whatever_its_lines() -> None:
    question = PlaceQuestion("How does it end?", "end", ("all went home",))
    shown = [Candidate(Chunk(f"k{n}", "rain", "d"), 1 - n / 100) for n in range(9)]
    last = Chunk("last", "And ALL\n went home.", "d")
    ranks = ranks_of(question, Candidates(tuple(shown), pinned=(last,)))
    assert ranks == {"ours": 2, "without": None}
    result = PlaceResult(question, ranks)
    assert result.shown("ours", 5)
    assert not result.shown("ours", 1)
    assert not result.shown("without", 10)
