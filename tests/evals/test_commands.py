"""`drift eval` on a real database, with a small set and a small folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.local.evals.evidence_figures import AT_TEN_CHUNKS, CEILINGS, METHODS
from drift.local.evals.recall import METHODS as RECALL_METHODS
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(PATIENCE_S)]

SAID = "The lighthouse of Ulm burned down in 1889 after a storm."


def write_set(folder: Path) -> None:
    texts = {"Old Mill": "The old mill belongs to Ada.", "Ada": "Ada was born in Ulm."}
    texts |= {f"Owl {n}": f"Owl number {n} hoots." for n in range(12)}
    mill, born = ["Old Mill", "belongs to", "Ada"], ["Ada", "born in", "Ulm"]
    steps = {"Who owns the old mill?": "Ada", "Where was #1 born?": "Ulm"}
    question = {
        "id": "q1",
        "question": "Where was the owner of the old mill born?",
        "supporting_ids": ["Old Mill", "Ada"],
        "decomposition": [{"question": q, "answer": a} for q, a in steps.items()],
    }
    files = {
        "documents": [{"id": title, "title": title, "text": text} for title, text in texts.items()],
        "triples": [
            {"id": "Old Mill", "entities": ["Old Mill", "Ada"], "triples": [mill]},
            {"id": "Ada", "entities": ["Ada", "Ulm"], "triples": [born]},
        ],
        "questions": [question],
    }
    folder.mkdir()
    for name, lines in files.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def write_topic(folder: Path) -> tuple[str, ...]:
    documents = folder / "harbour" / "documents"
    documents.mkdir(parents=True)
    (documents / "lighthouse.md").write_text(f"# Lighthouse\n\n{SAID}\n", encoding="utf-8")
    for n in range(12):
        text = f"# Owl {n}\n\nOwl number {n} hoots at night in its own wood.\n"
        (documents / f"owl{n}.md").write_text(text, encoding="utf-8")

    question = {"id": "q1", "question": "What became of the lighthouse?", "type": "single-fact"}
    question |= {"answer": SAID, "documents": ["lighthouse.md"]}
    questions = folder / "harbour" / "questions.jsonl"
    questions.write_text(json.dumps(question), encoding="utf-8")
    return ("--documents", str(documents), "--questions", str(questions))


@pytest.mark.neo4j
def test_a_set_is_loaded_measured_and_reported_and_the_second_run_loads_nothing(
    neo4j_2026: Neo4jServer, tmp_path: Path
) -> None:
    write_set(tmp_path / "mill")
    arguments = ("--data", str(tmp_path), "--data-dir", str(tmp_path / "state"), "--json")
    first, second = (command("eval", "recall", *arguments, **neo4j_2026.env) for _ in range(2))
    assert first.returncode == 0, first.stderr
    document = json.loads(first.stdout)
    assert (set(document), document["unmeasured"]) == ({"sets", "pooled", "unmeasured"}, {})
    (own,) = document["sets"]
    assert (own["name"], own["questions"], set(own["methods"])) == ("mill", 1, set(RECALL_METHODS))
    assert own["methods"]["ours"] == {"r2": 100.0, "r5": 100.0, "r10": 100.0}
    assert set(document["pooled"]["ours_minus_hybrid"]) == {"r5", "ci95"}
    assert "mill: loaded" in first.stderr
    assert "mill: loaded" not in second.stderr
    assert json.loads(second.stdout) == document


@pytest.mark.neo4j
def test_a_folder_is_ingested_asked_and_reported(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    arguments = (*write_topic(tmp_path), "--data-dir", str(tmp_path / "state"), "--json")
    done = command("eval", "evidence", *arguments, **neo4j_2026.env)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document["methods"]) == set(document["types"]["single-fact"]) == set(METHODS)
    assert set(document["ceilings"]) == set(CEILINGS)
    assert document["methods"]["ours"] == dict.fromkeys(AT_TEN_CHUNKS, 100.0)
    assert document["questions_with_passages"] == 1
    assert "13 documents" in done.stderr

    again = command("eval", "evidence", *arguments, "--ingested", **neo4j_2026.env)
    assert json.loads(again.stdout) == document


def test_each_folder_needs_its_questions(tmp_path: Path) -> None:
    arguments = write_topic(tmp_path)
    done = command("eval", "evidence", *arguments, *arguments[:2])
    assert done.returncode == 2
    assert "each folder needs its file" in " ".join(done.stderr.replace("│", " ").split())


def test_the_configured_model_must_be_named(tmp_path: Path) -> None:
    write_set(tmp_path / "mill")
    done = command("eval", "recall", "--data", str(tmp_path), "--embedder", "openai")
    assert done.returncode == 1
    assert "OAI_BASE_URL" in done.stderr
