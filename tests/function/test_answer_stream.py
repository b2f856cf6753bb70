"""The answer as it is written: over HTTP, from the model's own stream, for each depth."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.function.calling import Caller, told
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.timeout(180)

Event = tuple[str, dict[str, Any]]
TWO_SENTENCES = json.dumps(
    {
        "evidence": ["K1.1"],
        "sentences": [
            ["It is said there.", 1],
            ["It is said there again.", 1],
            ["Nobody says this."],
            *[["And so it goes on.", 1]] * 40,
        ],
        "verdict": "answered",
        "confidence": 1,
        "residual_uncertainty": "",
    }
)


async def asked(function: Caller, **fields: Any) -> list[Event]:
    async with function.streaming(**fields) as reader:
        return await reader.all()


def named(events: list[Event]) -> list[str]:
    return [name for name, _ in events if name != "progress"]


@pytest.mark.parametrize("depth", ["quick", "drift", "auto"])
async def test_what_is_told_is_the_answer_then_come_citations_then_the_result(
    function: Caller, depth: str
) -> None:
    events = await asked(function, depth=depth)
    *deltas, citations, result = named(events)
    document = events[-1][1]

    assert deltas
    assert set(deltas) == {"answer_delta"}
    assert (citations, result) == ("citations", "result")
    assert told(events) == document["final_answer"]
    assert not re.search(r"\[\d+\]", told(events))
    facts = next(data for name, data in events if name == "citations")["key_facts"]
    assert facts == document["key_facts"]
    assert events[-2][1]["phase"] == "completed"
    if depth == "quick":
        phases = [data["phase"] for name, data in events if name == "progress"]
        assert phases == ["initializing", "expanding_query", "aggregating_results", "completed"]


async def test_sentences_come_while_the_model_writes_and_who_leaves_ends_its_call(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "stream_stalls", "kind": "quick_reply", "text": TWO_SENTENCES})
    async with function.streaming(depth="quick") as reader:
        texts = []
        async for name, data in reader:
            texts += [data["text"]] if name == "answer_delta" else []
            if len(texts) == 3:
                break
        assert texts[0] == "It is said there."
        assert "Nobody" not in "".join(texts)
        assert model_server.ask("GET", "/requests")[1]["in_flight"] == 1

    await model_server.until(lambda seen: seen["abandoned"] == 1 and not seen["in_flight"])


async def test_auto_tells_nothing_of_a_look_that_is_not_the_answer(
    function: Caller, model_server: ModelServerControl
) -> None:
    doubtful = TWO_SENTENCES.replace('"answered"', '"partly"')
    model_server.fail({"fault": "says", "kind": "quick_reply", "text": doubtful})
    events = await asked(function, depth="auto", include=["trace"])

    assert events[-1][1]["trace"]["depth"]["used"] == "drift"
    assert told(events) == events[-1][1]["final_answer"]
    assert named(events).count("answer_replaced") == 0
    first = next(at for at, (name, _) in enumerate(events) if name == "answer_delta")
    assert any(data.get("phase") == "executing_followup" for _, data in events[:first])


async def test_a_stream_that_breaks_off_is_told_once(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "stream_cut", "kind": "aggregate_reply"})
    events = await asked(function, depth="drift")

    assert events[-1][0] == "result"
    assert told(events) == events[-1][1]["final_answer"] != ""
    assert "answer_replaced" not in named(events)


async def test_an_answer_written_anew_takes_back_what_was_told(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail(
        {"fault": "stream_cut", "kind": "quick_reply", "text": TWO_SENTENCES},
        {"fault": "stream_cut", "kind": "quick_reply"},
    )
    events = await asked(function, depth="quick")

    assert named(events).count("answer_replaced") == 1
    assert told(events) == events[-1][1]["final_answer"]
    assert "It is said there" not in told(events)


async def test_a_model_that_streams_nothing_or_without_end_is_an_error_at_the_end(
    function: Caller, model_server: ModelServerControl
) -> None:
    for fault in ("stream_empty", "stream_endless"):
        model_server.reset()
        model_server.fail({"fault": fault, "kind": "quick_reply", "times": None})
        events = await asked(function, depth="quick")

        assert events[-1][0] == "error", fault
        assert events[-1][1]["code"] == "model_unavailable"
        assert "citations" not in named(events)


async def test_nothing_found_tells_no_answer(function: Caller) -> None:
    events = await asked(function, depth="quick", project_id="unknown")
    assert named(events) == ["result"]


async def test_a_buffered_answer_is_not_streamed_by_the_model(
    function: Caller, model_server: ModelServerControl
) -> None:
    await function.answer(depth="quick")
    bodies = [one["body"] for one in model_server.requests()]
    assert bodies
    assert not any("stream" in body for body in bodies)


async def test_who_asks_for_the_trace_sees_the_tree_grow(function: Caller) -> None:
    events = await asked(function, depth="drift", include=["trace"])
    told_of = [data for name, data in events if name == "followup"]
    trace = events[-1][1]["trace"]["followups"]

    assert trace
    for node in trace:
        *before, last = [one for one in told_of if one["id"] == node["id"]]
        assert last == node
        assert [one["state"] for one in before] in (["asked"], [])
        assert before or node["state"] != "answered"
        assert all(one["question"] == node["question"] for one in before)
        assert all(one["parent"] == node["parent"] for one in before)
    assert "answered" in {node["state"] for node in trace}


async def test_who_does_not_ask_for_the_trace_hears_of_no_followup(function: Caller) -> None:
    assert "followup" not in named(await asked(function, depth="drift", include=["usage"]))
