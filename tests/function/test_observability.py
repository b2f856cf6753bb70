"""What calls of the routes leave behind, with a real graph and a model server that can fail."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl
from tests.telemetry_fixture import Recorded
from tests.unit.test_telemetry import lines

__all__ = ["lines"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


async def ended(lines: Any, event: str = "retrieval_ended") -> list[dict[str, Any]]:
    """Wait for the last line of a retrieval, which may follow its answer."""
    async with asyncio.timeout(60):
        while not (found := lines(event)):  # noqa: ASYNC110 - the log has no event to wait for
            await asyncio.sleep(0.01)
    return found


async def test_every_line_of_a_call_names_its_retrieval_invocation_project_and_trace(
    function: Caller, lines: Any
) -> None:
    headers = {"traceparent": PARENT, "x-request-id": "job 7"}
    body = {"query": QUESTION, "project_id": PROJECT}
    response = await function.client.post("/retrieve", json=body, headers=headers)
    assert response.status_code == 200
    [last] = await ended(lines)
    own = [line for line in lines() if "retrieval_id" in line]
    assert {line["retrieval_id"] for line in own} == {response.headers["x-retrieval-id"]}
    assert {line["request_id"] for line in own} == {response.headers["x-request-id"]} == {"job 7"}
    assert {(line["project_id"], line["trace_id"], line["invocation_id"]) for line in own} == {
        (PROJECT, TRACE_ID, last["invocation_id"])
    }
    assert [line["phase"] for line in lines("phase_ended")] == [
        "expanding_query",
        "retrieving_communities",
        "executing_followup",
        "aggregating_results",
    ]
    assert all(
        last[name] > 0
        for name in ("chat_s", "embedding_s", "graph_s", "prompt_tokens", "citations_kept")
    )


async def test_the_trace_reaches_the_model_and_a_wrong_one_does_not(
    function: Caller, model_server: ModelServerControl, recorded: Recorded
) -> None:
    body = {"query": QUESTION, "project_id": PROJECT}
    await function.client.post(
        "/retrieve", json=body, headers={"traceparent": PARENT, "tracestate": "vendor=1"}
    )
    sent = [request["headers"] for request in model_server.requests()]
    assert {headers["traceparent"][3:35] for headers in sent} == {TRACE_ID}
    assert {headers["tracestate"] for headers in sent} == {"vendor=1"}
    calls = {
        f"{span.context.span_id:016x}"
        for span in recorded.spans("chat") + recorded.spans("embeddings")
    }
    assert {headers["traceparent"][36:52] for headers in sent} == calls
    model_server.reset()
    await function.client.post(
        "/retrieve", json=body, headers={"traceparent": PARENT.replace("00-", "ff-", 1)}
    )
    assert TRACE_ID not in json.dumps([request["headers"] for request in model_server.requests()])


async def test_spans_of_model_and_graph_stand_below_their_phases(
    function: Caller, recorded: Recorded
) -> None:
    await function.answer()
    name_of = {span.context.span_id: span.name for span in recorded.spans()}
    below = {(name_of[s.parent.span_id], s.name) for s in recorded.spans() if s.parent}
    chat, embeddings = "chat drift-extractive", "embeddings wordllama-256"
    assert {
        ("retrieve", "expand query"),
        ("expand query", chat),
        ("expand query", embeddings),
        ("primer", "read neo4j"),
        ("primer", chat),
        ("followups", "followup"),
        ("followups", embeddings),
        ("followup", "read neo4j"),
        ("followups", "executor"),
        ("executor", chat),
        ("aggregate", chat),
    } <= below
    points = recorded.points()
    assert {a["gen_ai.operation.name"] for a, _ in points["gen_ai.client.operation.duration"]} == {
        "chat",
        "embeddings",
    }
    assert {a["db.operation.name"] for a, _ in points["db.client.operation.duration"]} == {"read"}
    assert points["drift.retrievals"] == [({"outcome": "ok"}, 1)]


async def test_a_repeated_call_is_logged_with_its_cause_and_counted(
    function: Caller, model_server: ModelServerControl, recorded: Recorded, lines: Any
) -> None:
    model_server.fail({"fault": "status", "status": 503, "kind": "primer_reply", "times": 2})
    await function.answer()
    retries = lines("retrying")
    assert [line["attempt"] for line in retries] == [1, 2]
    assert all(line["cause"].startswith("InternalServerError 503") for line in retries)
    assert recorded.points()["drift.retries"] == [({"error.type": "503"}, 2)]
    [last] = await ended(lines)
    assert last["retries"] == 2
