"""A search over recorded exchanges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drift.core.errors import IngestError
from drift.local.evals.replay import read_exchanges, replay

COMMUNITIES = [{"id": "C1", "level": 0, "summary": "s"}]
LONG = "This sentence is one of very many. " * 200


def exchange(schema: str, reply: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Return an exchange as it was recorded, when prompts carried their data in blocks of JSON."""
    labels = {"User question": "What is asked?", **given}
    user = "\n\n".join(
        f"{label}:\n```json\n{json.dumps(value)}\n```" for label, value in labels.items()
    )
    return {"schema": schema, "user": user, "reply": f"Here: {json.dumps(reply)}"}


def recorded(*questions: str, chunks: list[str], cited: str) -> list[dict[str, Any]]:
    """Return one search whose follow-ups were shown the same chunks and cited one of them."""
    rows = [{"id": f"K{n}", "document": "d", "text": t} for n, t in enumerate(chunks, start=1)]
    proposed = [{"question": q, "target_communities": []} for q in questions]
    answer = {"answer": "So.", "citations": [{"chunk_id": cited, "span": "Second."}]}
    return [
        exchange(
            "primer_reply",
            {"initial_answer": "", "followups": proposed},
            **{
                "Community details": [{"id": "C1", "level": 0, "summary": "s"}],
                "Sample chunks": [],
            },
        ),
        *(
            exchange(
                "local_reply",
                {**answer, "new_followups": [], "confidence": 1, "should_continue": False},
                **{"Retrieved chunks": rows, "Follow-up question": question},
            )
            for question in questions
        ),
        exchange("aggregate_reply", {"final_answer": "So.", "key_facts": []}),
    ]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "exchanges.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


async def test_follow_ups_that_share_chunks_cost_less_together(tmp_path: Path) -> None:
    lines = recorded(
        "Who is it?", "Where was that?", chunks=[f"One. {LONG}", "Second."], cited="K2"
    )
    [search] = read_exchanges(written(tmp_path, lines))
    together = await replay(search)
    alone = await replay(search, max_followups_per_prompt=1)
    assert (together.followup_calls, alone.followup_calls) == (1, 2)
    assert together.followup_tokens < 0.7 * alone.followup_tokens
    assert (together.shown, together.cited, together.skipped) == (2, 2, 0)


async def test_a_span_whose_chunk_does_not_fit_is_not_shown(tmp_path: Path) -> None:
    lines = recorded("Who is it?", chunks=[f"One. {LONG}", "Second."], cited="K2")
    [search] = read_exchanges(written(tmp_path, lines))
    assert (await replay(search, max_chunks_for_prompt=1)).shown == 0
    assert (await replay(search)).shown == 1


@pytest.mark.parametrize("text", ["", "[", '{"schema": "x"}', "[1]", '{"user": 1, "schema": "a"}'])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(text, encoding="utf-8")
    if not text:
        assert read_exchanges(path) == []
        return
    with pytest.raises(IngestError, match="recorded exchanges"):
        read_exchanges(path)
