"""Shapes that cross the border: strict towards callers, lenient towards models."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from drift.contracts.answer import (
    CitationCountsOut,
    DepthOut,
    RetrieveResponse,
    TraceNode,
    TraceOut,
)
from drift.contracts.final_replies import AggregateReply, QuickReply
from drift.contracts.replies import JointReply, LastJointReply, LastReply, LocalReply, PrimerReply
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


def test_a_node_of_a_trace_says_pass() -> None:
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
    response = RetrieveResponse(
        final_answer="A", key_facts=[], residual_uncertainty="", trace=trace
    )
    body = json.loads(response.to_json())
    assert set(body) == {"final_answer", "key_facts", "residual_uncertainty", "trace"}
    [said] = body["trace"]["followups"]
    assert (said["pass"], said["target_communities"], said["verdict"]) == (1, [1, "x"], None)


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
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert "$ref" not in json.dumps(strict_schema(shape))


@pytest.mark.parametrize("shape", [LocalReply, LastReply, AggregateReply])
def test_a_schema_lists_the_verdicts(shape: type[BaseModel]) -> None:
    verdict = strict_schema(shape)["properties"]["verdict"]
    assert verdict["enum"] == ["answered", "partly", "not_found"]
