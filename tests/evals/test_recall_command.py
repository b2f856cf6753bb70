"""`drift eval recall` as a program runs it: a real database, a small set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.local.evals.recall.measure import METHODS
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, drift

pytestmark = [pytest.mark.slow, pytest.mark.timeout(PATIENCE_S)]


def write_set(folder: Path) -> None:
    documents = [
        {"id": "p1", "title": "Old Mill", "text": "The old mill belongs to Ada."},
        {"id": "p2", "title": "Ada", "text": "Ada was born in Ulm."},
        *(
            {"id": f"x{i}", "title": f"Owl {i}", "text": f"Owl number {i} hoots."}
            for i in range(12)
        ),
    ]
    triples = [
        {
            "id": "p1",
            "entities": ["Old Mill", "Ada"],
            "triples": [["Old Mill", "belongs to", "Ada"], ["malformed"]],
        },
        {"id": "p2", "entities": ["Ada", "Ulm"], "triples": [["Ada", "born in", "Ulm"]]},
    ]
    steps = [
        {"question": "Who owns the old mill?", "answer": "Ada"},
        {"question": "Where was #1 born?", "answer": "Ulm"},
    ]
    question = {
        "id": "q1",
        "question": "Where was the owner of the old mill born?",
        "supporting_ids": ["p1", "p2"],
    }
    folder.mkdir()
    for name, lines in (
        ("documents", documents),
        ("triples", triples),
        ("questions", [question | {"decomposition": steps}]),
    ):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


@pytest.mark.neo4j
def test_a_set_is_loaded_measured_and_reported_and_the_second_run_loads_nothing(
    neo4j_2026: Neo4jServer, tmp_path: Path
) -> None:
    write_set(tmp_path / "mill")
    arguments = ("--data", str(tmp_path), "--data-dir", str(tmp_path / "state"), "--json")
    first, second = (drift("eval", "recall", *arguments, **neo4j_2026.env) for _ in range(2))
    assert first.returncode == 0, first.stderr
    document = json.loads(first.stdout)
    assert set(document) == {"sets", "pooled"}
    (own,) = document["sets"]
    assert (own["name"], own["questions"], set(own["methods"])) == ("mill", 1, set(METHODS))
    assert own["methods"]["ours"] == {"r2": 100.0, "r5": 100.0, "r10": 100.0}
    assert set(document["pooled"]["ours_minus_hybrid"]) == {"r5", "ci95"}
    assert "mill: loaded" in first.stderr
    assert "mill: loaded" not in second.stderr
    assert json.loads(second.stdout) == document


def test_a_folder_without_a_set_is_one_clear_line(tmp_path: Path) -> None:
    done = drift("eval", "recall", "--data", str(tmp_path))
    assert done.returncode == 1
    assert "holds no question set" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_configured_model_must_be_named(tmp_path: Path) -> None:
    write_set(tmp_path / "mill")
    done = drift("eval", "recall", "--data", str(tmp_path), "--embedder", "openai")
    assert done.returncode == 1
    assert "OAI_BASE_URL" in done.stderr
