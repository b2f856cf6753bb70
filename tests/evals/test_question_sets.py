"""Question sets from disk, as values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drift.core.errors import IngestError
from drift.local.evals.questions import read_question_sets

DOCUMENTS = [
    {"id": "p1", "title": "The Mill", "text": "It stands."},
    {"id": "p2", "title": "Ada", "text": "She mills."},
]
QUESTIONS = [{"id": "q1", "question": "Who mills?", "supporting_ids": ["p1", "p2"]}]
ENTITIES = [{"id": "p1", "entities": ["the mill", "Danube"]}]


def write(folder: Path, **files: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def test_sets_are_read_by_name_and_other_folders_left_alone(tmp_path: Path) -> None:
    for name in ("b", "a"):
        folder = write(tmp_path / name, documents=DOCUMENTS, questions=QUESTIONS)
        write(folder, heuristic_entities=ENTITIES)
    (tmp_path / "notes").mkdir()
    first, second = read_question_sets(tmp_path)
    assert (first.name, second.name) == ("a", "b")
    assert first.questions[0].supporting == {"p1", "p2"}
    assert first.questions[0].steps == []

    # without triples a passage is about its title
    mill, ada = first.passages
    assert [(s, o) for s, _, o in mill.triples] == [("The Mill", "Danube")]
    assert mill.entities == ("The Mill", "Danube")
    assert (ada.entities, ada.triples) == ((), ())


def test_triples_are_taken_as_stated_and_malformed_ones_left_out(tmp_path: Path) -> None:
    triples = [["Mill", "at", "Danube"], ["a", "b"], ["a", "b", "c", "d"], ["a", "", "c"]]
    stated = [{"id": "p1", "entities": ["Rhine"], "triples": triples}]
    folder = write(tmp_path / "a", documents=DOCUMENTS, questions=QUESTIONS, triples=stated)
    write(folder, heuristic_entities=ENTITIES)
    passage = read_question_sets(tmp_path)[0].passages[0]
    assert passage.triples == (("Mill", "at", "Danube"),)
    assert set(passage.entities) == {"Mill", "Danube", "Rhine"}


def test_answers_of_earlier_steps_are_filled_into_later_ones(tmp_path: Path) -> None:
    steps = [
        {"question": "Who owns it?", "answer": "Ada"},
        {"question": "Where was #1 born, and #9?", "answer": "Ulm"},
    ]
    asked = [QUESTIONS[0] | {"decomposition": steps}]
    write(tmp_path / "a", documents=DOCUMENTS, questions=asked, triples=[])
    filled = ["Who owns it?", "Where was Ada born, and #9?"]
    assert read_question_sets(tmp_path)[0].questions[0].steps == filled


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], r"questions\.jsonl, line 1: .*JSON"),
        ([json.dumps(QUESTIONS[0]), '{"id": "q", "question": "?"}'], "line 2: .*supporting_ids"),
        ([], "heuristic_entities\\.jsonl cannot be read"),
    ],
)
def test_a_wrong_line_and_a_missing_file_are_named(
    tmp_path: Path, lines: list[str], said: str
) -> None:
    mentioned = {"heuristic_entities": []} if lines else {}
    folder = write(tmp_path / "a", documents=DOCUMENTS, **mentioned)
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(IngestError, match=said):
        read_question_sets(tmp_path)


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="holds no question set"):
        read_question_sets(tmp_path)
