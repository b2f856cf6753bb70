"""What a real model answered to the recorded questions: nothing is answered from imagination."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from drift.answer.conclusion import Conclusion
from drift.answer.streaming import Telling
from tests.fakes import Heard, ScriptedChat
from tests.unit.reading_chunks import read_chunks

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


REPLIES = {row["id"]: row["replies"] for row in rows("unanswerable_replies.jsonl")}
QUESTIONS = rows("unanswerable.jsonl")


def test_the_evidence_stands_in_the_chunks_of_controls_alone() -> None:
    kinds = Counter(row["id"].partition("-")[0] for row in QUESTIONS)
    assert kinds == {"withheld": 10, "near": 10, "control": 10}
    assert len({row["question"] for row in QUESTIONS}) == len(QUESTIONS)

    for row in QUESTIONS:
        chunks = row["chunks"]
        words = " ".join(
            " ".join(f"{c['document']} {c['heading']}\n{c['text']}" for c in chunks).split()
        )
        assert row["answerable"] is (row["id"].partition("-")[0] == "control")
        assert len({chunk["id"] for chunk in chunks}) == len(chunks) > 1
        assert bool(row["evidence"] and row["evidence"] in words) is row["answerable"]


async def concluded(row: dict[str, Any], **changed: Any) -> Conclusion:
    chat = ScriptedChat({**REPLIES[row["id"]], **changed})
    return await read_chunks(row, chat)


@pytest.mark.parametrize(
    "row", [row for row in QUESTIONS if not row["answerable"]], ids=lambda row: row["id"]
)
async def test_what_the_chunks_do_not_say_is_not_found(row: dict[str, Any]) -> None:
    found = await concluded(row)
    assert (found.verdict, found.confidence) == ("not_found", 0.0)
    if row["expected"]:
        assert row["expected"].casefold() not in found.text.casefold()


@pytest.mark.parametrize(
    "row", [row for row in QUESTIONS if not row["answerable"]][::6], ids=lambda row: row["id"]
)
async def test_a_part_that_its_own_confidence_takes_back_does_not_outweigh_the_last_call(
    row: dict[str, Any],
) -> None:
    partly = {**REPLIES[row["id"]]["local_reply"], "verdict": "partly"}
    found = await concluded(row, local_reply=partly)
    assert (found.verdict, found.statements) == ("not_found", ())


@pytest.mark.parametrize(
    "row", [row for row in QUESTIONS if row["answerable"]], ids=lambda row: row["id"]
)
async def test_what_the_chunks_say_is_answered_over_spans_of_them(row: dict[str, Any]) -> None:
    found = await concluded(row)
    assert found.verdict == "answered"
    assert found.confidence >= 0.5
    assert found.left_out == 0
    texts = {chunk["id"]: chunk["text"] for chunk in row["chunks"]}
    for statement in found.statements:
        assert statement.facts
        assert all(f.citation.span in texts[f.citation.chunk_id] for f in statement.facts)


async def test_of_what_a_real_model_wrote_nothing_that_was_told_is_taken_back() -> None:
    told = []
    for row in QUESTIONS:
        heard = Heard()
        found = await read_chunks(row, ScriptedChat(REPLIES[row["id"]]), Telling(heard))
        if heard.text:
            told.append(heard)
            assert heard.text == found.text
    assert len(told) >= 15
    assert sum(heard.replaced for heard in told) == 0


async def test_an_answer_that_claims_more_than_its_evidence_is_overruled() -> None:
    row = next(row for row in QUESTIONS if row["id"] == "withheld-01")
    claimed = {"verdict": "answered", "sentences": [["His first name is Fred.", 9]]}
    found = await concluded(row, aggregate_reply=claimed)
    assert found.verdict == "not_found"
    assert "Fred" not in found.text
