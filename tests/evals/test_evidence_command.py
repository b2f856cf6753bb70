"""`drift eval evidence` as a program runs it: a real database, a small folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.local.evals.evidence.ceiling import CEILINGS
from drift.local.evals.evidence.figures import AT_TEN_CHUNKS, METHODS
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, drift

pytestmark = [pytest.mark.slow, pytest.mark.timeout(PATIENCE_S)]

SAID = "The lighthouse of Ulm burned down in 1889 after a storm."


def write_topic(folder: Path) -> tuple[str, ...]:
    documents = folder / "harbour" / "documents"
    documents.mkdir(parents=True)
    (documents / "lighthouse.md").write_text(f"# Lighthouse\n\n{SAID}\n", encoding="utf-8")
    for number in range(12):
        text = f"# Owl {number}\n\nOwl number {number} hoots at night in its own wood.\n"
        (documents / f"owl{number}.md").write_text(text, encoding="utf-8")

    question = {
        "id": "q1",
        "question": "What became of the lighthouse?",
        "type": "single-fact",
        "answer": SAID,
        "documents": ["lighthouse.md"],
    }
    questions = folder / "harbour" / "questions.jsonl"
    questions.write_text(json.dumps(question), encoding="utf-8")
    return ("--documents", str(documents), "--questions", str(questions))


@pytest.mark.neo4j
def test_a_folder_is_ingested_asked_and_reported(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    arguments = (*write_topic(tmp_path), "--data-dir", str(tmp_path / "state"), "--json")
    done = drift("eval", "evidence", *arguments, **neo4j_2026.env)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document["methods"]) == set(document["types"]["single-fact"]) == set(METHODS)
    assert set(document["ceilings"]) == set(CEILINGS)
    assert document["methods"]["ours"] == dict.fromkeys(AT_TEN_CHUNKS, 100.0)
    assert document["questions_with_passages"] == 1
    assert "13 documents" in done.stderr

    again = drift("eval", "evidence", *arguments, "--ingested", **neo4j_2026.env)
    assert json.loads(again.stdout) == document


def test_each_folder_needs_its_questions(tmp_path: Path) -> None:
    arguments = write_topic(tmp_path)
    done = drift("eval", "evidence", *arguments, *arguments[:2])
    assert done.returncode == 2
    assert "each folder needs its file" in " ".join(done.stderr.replace("│", " ").split())


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    _, documents, *questions = write_topic(tmp_path)
    done = drift("eval", "evidence", "--documents", f"{documents}-absent", *questions)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
