"""Shapes that cross the border: strict towards callers, lenient towards models."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from drift.contracts.answer import (
    CitationCountsOut,
    CitationOut,
    DepthOut,
    KeyFact,
    PhaseUsage,
    RetrieveResponse,
    TraceNode,
    TraceOut,
    UsageOut,
    VerdictOut,
)
from drift.contracts.progress import Phase, ProgressMessage
from drift.contracts.replies import (
    AggregateReply,
    JointReply,
    LastJointReply,
    LastReply,
    LocalReply,
    PrimerReply,
    QuickReply,
)
from drift.contracts.strict_schema import strict_schema

REPLIES = [
    PrimerReply,
    LocalReply,
    JointReply,
    LastReply,
    LastJointReply,
    QuickReply,
    AggregateReply,
]


# ---------------------------------------------------------------------------------------- responses
def test_an_answer_has_exactly_the_three_fields() -> None:
    cited = CitationOut(chunk_id="c", span="text", document_name="doc")
    response = RetrieveResponse(
        final_answer="A",
        key_facts=[KeyFact(fact="F", citations=[cited, "other"])],
        residual_uncertainty="",
    )
    assert json.loads(response.to_json()) == {
        "final_answer": "A",
        "key_facts": [
            {
                "fact": "F",
                "citations": [{"chunk_id": "c", "span": "text", "document_name": "doc"}, "other"],
            }
        ],
        "residual_uncertainty": "",
    }


def test_nothing_found_has_exactly_the_four_fields() -> None:
    response = RetrieveResponse(
        final_answer="", key_facts=[], residual_uncertainty="", no_data_found=True
    )
    assert (
        response.to_json()
        == '{"final_answer":"","key_facts":[],"residual_uncertainty":"","no_data_found":true}'
    )


def test_usage_and_trace_appear_when_they_are_set_and_a_trace_says_pass() -> None:
    node = TraceNode(
        id=0,
        parent=None,
        question="q",
        target_communities=[1, "x"],
        pass_=1,
        verdict=None,
        confidence=None,
        state="no_evidence",
        chunk_ids=[],
        seconds=0.5,
    )
    trace = TraceOut(
        depth=DepthOut(asked="drift", used="drift"),
        initial_answer="i",
        rationale="r",
        communities=[1],
        followups=[node],
        citations=CitationCountsOut(total=1, kept=0, repaired=0, dropped={"span_mismatch": 1}),
    )
    usage = UsageOut(chat_calls=1, phases={"expanding_query": PhaseUsage(chat_calls=1)})
    response = RetrieveResponse(
        final_answer="A", key_facts=[], residual_uncertainty="", usage=usage, trace=trace
    )
    body = json.loads(response.to_json())
    assert set(body) == {"final_answer", "key_facts", "residual_uncertainty", "usage", "trace"}
    assert body["trace"]["followups"][0] == {
        "id": 0,
        "parent": None,
        "question": "q",
        "target_communities": [1, "x"],
        "pass": 1,
        "verdict": None,
        "confidence": None,
        "state": "no_evidence",
        "chunk_ids": [],
        "seconds": 0.5,
    }
    assert (body["trace"]["initial_answer"], body["trace"]["rationale"]) == ("i", "r")
    assert body["usage"]["phases"]["expanding_query"]["chat_calls"] == 1


def test_a_verdict_appears_when_it_is_set_with_its_confidence() -> None:
    response = RetrieveResponse(
        final_answer="A",
        key_facts=[],
        residual_uncertainty="",
        verdict=VerdictOut(verdict="partly", confidence=0.5),
    )
    body = json.loads(response.to_json())
    assert set(body) == {"final_answer", "key_facts", "residual_uncertainty", "verdict"}
    assert body["verdict"] == {"verdict": "partly", "confidence": 0.5}


def test_a_progress_message_leaves_details_out_when_there_are_none() -> None:
    message = ProgressMessage(
        project_id="p",
        retrieval_id="r",
        phase=Phase.INITIALIZING,
        progress_pct=0,
        thought_summary="s",
        message_id="m",
        timestamp="t",
    )
    assert json.loads(message.to_json()) == {
        "message_type": "retrieval_progress",
        "project_id": "p",
        "retrieval_id": "r",
        "phase": "initializing",
        "progress_pct": 0,
        "thought_summary": "s",
        "message_id": "m",
        "timestamp": "t",
    }


# ----------------------------------------------------------------------------------- strict schemas
SUPPORTED = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "description",
    "enum",
    "const",
    "anyOf",
}


def schema_nodes(node: Any) -> list[dict[str, Any]]:
    """Return every schema in a schema; names of properties are no keywords."""
    found = [node]
    for child in [
        *node.get("properties", {}).values(),
        *node.get("anyOf", []),
        *filter(None, [node.get("items")]),
    ]:
        found += schema_nodes(child)
    return found


@pytest.mark.parametrize("shape", REPLIES)
def test_a_schema_is_what_strict_mode_takes(shape: type[BaseModel]) -> None:
    for node in schema_nodes(strict_schema(shape)):
        assert set(node) <= SUPPORTED, node
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert "$ref" not in json.dumps(strict_schema(shape))


def test_the_schemas_ask_for_the_fields_of_the_contract() -> None:
    def shape_of(node: dict[str, Any]) -> Any:
        if node["type"] == "object":
            return {name: shape_of(child) for name, child in node["properties"].items()}
        return [shape_of(node["items"])] if node["type"] == "array" else node["type"]

    followups = [{"question": "string", "target_communities": ["string"]}]
    assert shape_of(strict_schema(PrimerReply)) == {
        "about_whole": "boolean",
        "initial_answer": "string",
        "followups": [{**followups[0], "position": "string", "document": "string"}],
        "rationale": "string",
    }
    assert shape_of(strict_schema(LocalReply)) == {
        "citations": [{"chunk_id": "string", "sentences": "string", "words": "string"}],
        "verdict": "string",
        "answer": "string",
        "confidence": "number",
        "new_followups": [{**followups[0], "beside": "string"}],
        "should_continue": "boolean",
    }
    assert shape_of(strict_schema(AggregateReply)) == {
        "verdict": "string",
        "final_answer": "string",
        "residual_uncertainty": "string",
    }


@pytest.mark.parametrize("shape", [LocalReply, LastReply, AggregateReply])
def test_a_schema_lists_the_verdicts(shape: type[BaseModel]) -> None:
    verdict = strict_schema(shape)["properties"]["verdict"]
    assert verdict["enum"] == ["answered", "partly", "not_found"]
