"""The recorded questions that their chunks do not answer, and those that they do."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from drift.evidence.names import unseen_name

FILE = Path(__file__).parents[1] / "data" / "unanswerable.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def shown(row: dict[str, Any]) -> list[str]:
    return [f"{c['document']} {c['heading']}\n{c['text']}" for c in row["chunks"]]


def test_there_are_twenty_unanswerable_questions_and_ten_controls() -> None:
    kinds = Counter(row["id"].partition("-")[0] for row in ROWS)

    assert kinds == {"withheld": 10, "near": 10, "control": 10}
    assert [row["answerable"] for row in ROWS].count(True) == kinds["control"]
    assert len({row["question"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_evidence_stands_in_the_chunks_of_controls_alone(row: dict[str, Any]) -> None:
    words = " ".join(" ".join(shown(row)).split())

    assert len({chunk["id"] for chunk in row["chunks"]}) == len(row["chunks"]) > 1
    if row["evidence"]:
        assert (row["evidence"] in words) is row["answerable"]
    else:
        assert not row["answerable"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["answerable"]], ids=lambda r: r["id"])
def test_no_control_is_refused_for_a_name(row: dict[str, Any]) -> None:
    assert unseen_name(row["question"], shown(row)) == ""
