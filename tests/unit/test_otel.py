"""OpenTelemetry: its conventions, the trace context of callers, and a process without its SDK."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from drift.model.calls import Tokens
from drift.telemetry import otel, servers
from tests.telemetry_fixture import Recorded

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


def test_a_model_call_follows_the_conventions(recorded: Recorded) -> None:
    with servers.model_call("chat", "gpt", "azure.ai.openai") as call:
        call.tokens, call.model = Tokens(prompt=7, completion=3), "gpt-2026"
    span = recorded.span("chat gpt")
    assert span.kind.name == "CLIENT"
    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai",
        "gen_ai.request.model": "gpt",
    }
    assert dict(span.attributes or {}) == {
        **about,
        "gen_ai.response.model": "gpt-2026",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
    }
    points = recorded.points()
    assert [attributes for attributes, _ in points["gen_ai.client.operation.duration"]] == [about]
    assert sorted((a["gen_ai.token.type"], n) for a, n in points["gen_ai.client.token.usage"]) == [
        ("input", 7),
        ("output", 3),
    ]


def test_a_failed_statement_is_recorded_with_its_code_alone(recorded: Recorded) -> None:
    class ServerError(Exception):
        code = "Neo.TransientError.General.DatabaseUnavailable"

    with pytest.raises(ServerError), servers.graph_call("read", "neo4j"):
        raise ServerError("canary")
    about = {"db.system.name": "neo4j", "db.namespace": "neo4j", "db.operation.name": "read"}
    failed = {**about, "error.type": ServerError.code}
    assert dict(recorded.span("read neo4j").attributes or {}) == failed
    assert "canary" not in recorded.everything()
    with servers.graph_call("read", "neo4j"):
        pass
    assert [attributes for attributes, _ in recorded.points()["db.client.operation.duration"]] == [
        about
    ]


# ------------------------------------------------------------------------------------ trace context
def passed_on(parent: str, state: str = "") -> dict[str, str]:
    """The headers that a call with these goes on with."""
    headers = {"traceparent": parent, "tracestate": state}
    with otel.invocation(SimpleNamespace(invocation_id="i"), headers):
        return otel.outgoing()


@pytest.mark.parametrize(
    "given",
    ["", PARENT + "-more", PARENT.replace("00-", "ff-", 1), PARENT.replace(TRACE_ID, "0" * 32)],
)
def test_parent_that_is_not_valid_is_ignored(given: str) -> None:
    assert passed_on(given, "vendor=1") == {}


def test_parent_of_a_later_version_is_read_as_far_as_known() -> None:
    later = PARENT.replace("00-", "cc-", 1) + "-what-comes"
    assert passed_on(later, "a=1") == {"traceparent": PARENT, "tracestate": "a=1"}


@pytest.mark.parametrize("state", ["x" * 513, "a=1\r\nevil: 1"])
def test_state_that_is_not_valid_is_dropped_and_the_parent_kept(state: str) -> None:
    assert passed_on(PARENT, state) == {"traceparent": PARENT}


# ----------------------------------------------------------------------------------- without an SDK
WITHOUT = """
import logging, sys
from types import SimpleNamespace
from drift.contracts.progress import Phase
from drift.telemetry import otel, parts, servers
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
parent, state = sys.argv[1:]
headers = {"traceparent": parent, "tracestate": state}
with otel.invocation(SimpleNamespace(invocation_id="i"), headers), parts.retrieval("r", "p"):
    for phase in ("expanding_query", "aggregating_results"):
        with parts.phase(Phase(phase)), servers.model_call("chat", "m", "openai"):
            assert otel.outgoing() == headers, otel.outgoing()
assert otel.outgoing() == {}
"""


@pytest.mark.slow
def test_without_an_sdk_lines_are_written_and_the_trace_is_passed_on() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", WITHOUT, PARENT, "vendor=1"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert [line["phase"] for line in lines if line["event"] == "phase_ended"] == [
        "expanding_query",
        "aggregating_results",
    ]
    assert {line["trace_id"] for line in lines} == {TRACE_ID}
