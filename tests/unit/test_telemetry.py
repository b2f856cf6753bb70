"""What a search leaves behind for its operator.

Log lines, spans and metrics, with and without OpenTelemetry.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drift.core.errors import DriftError, GraphUnavailableError, ModelUnavailableError
from drift.http.service import Service
from drift.model.graph import Evidence, PrimerEvidence
from drift.telemetry import otel, parts, servers
from tests.fake_service import fake_service
from tests.fakes import ScriptedChat, StubGraph, allowed, chunk, community, ports, request
from tests.telemetry_fixture import Recorded
from tests.unit.searching import FIRST, SECOND, aggregated, asked_in, local, primer

QUESTION = "canary question: who made alpha?"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
PHASES = ["expanding_query", "retrieving_communities", "executing_followup", "aggregating_results"]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Read the log lines so far: `lines()` all, `lines("phase_ended")` those of one event."""
    caplog.set_level(logging.INFO, "drift")

    def read(event: str = "") -> list[dict[str, Any]]:
        every = [json.loads(record.message) for record in caplog.records if record.name == "drift"]
        return [line for line in every if event in ("", line["event"])]

    return read


def failing_second(prompt: Any) -> Any:
    if asked_in(prompt) == SECOND:
        return ModelUnavailableError("The model is gone.")
    reply = local(cited=("K1", "nowhere"))
    reply["citations"][0] |= {"sentences": "2", "words": "Canary text"}
    return reply


def searching(followup: Any = failing_second, graph: Any = None, **settings: str) -> Service:
    """Return a service over fakes."""
    script = {
        "hypothesis": "canary hypothesis",
        "primer_reply": primer(FIRST, SECOND),
        "local_reply": followup,
        "aggregate_reply": aggregated(1),
    }
    found = PrimerEvidence((community(7), community("x")))
    graph = graph or StubGraph(
        found, lambda query: Evidence((chunk(f"of {query.question}", "canary text."),))
    )
    return fake_service(ports(graph, ScriptedChat(script)), **settings)


async def retrieved(service: Service, **call: Any) -> None:
    """Carry one call through, as the function does."""
    context = SimpleNamespace(
        invocation_id=call.pop("invocation_id", "i"), trace_context=call.pop("platform", None)
    )
    with otel.invocation(context, call.pop("headers", {})):
        await (await service.start(allowed(), request(QUESTION), call.pop("retrieval_id", "r")))


# -------------------------------------------------------------------------------------------- lines
async def test_each_phase_is_one_line_with_ids_time_tokens_and_counts(
    lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "clock", SimpleNamespace(seconds=count().__next__))
    await retrieved(searching())
    phases = lines("phase_ended")
    assert [line["phase"] for line in phases] == PHASES
    for line in phases:
        assert (line["retrieval_id"], line["invocation_id"], line["project_id"]) == ("r", "i", "p")
        assert line["outcome"] == "ok"
        assert line["duration_s"] >= 1  # a second for each look at the clock
        assert line["chat_calls"] >= 1
        assert line["prompt_tokens"] >= 10
        assert line["retries"] == 0
    assert phases[1]["communities"] == 2
    assert phases[3]["facts"] == 1
    counts = {
        name: value
        for name, value in phases[2].items()
        if name.startswith(("followups", "citations"))
    }
    assert counts == {
        "followups": 2,
        "followups_answered": 1,
        "followups_failed": 1,
        "followups_no_evidence": 0,
        "followups_skipped": 0,
        "citations": 2,
        "citations_kept": 1,
        "citations_repaired": 1,
        "citations_dropped": 1,
    }


async def test_the_last_line_sums_the_request_up(lines: Any) -> None:
    await retrieved(searching())
    last = lines()[-1]
    assert (last["event"], last["outcome"]) == ("retrieval_ended", "ok")
    assert last["chat_calls"] == sum(line["chat_calls"] for line in lines("phase_ended"))
    assert (last["communities"], last["followups_failed"], last["citations_dropped"]) == (2, 1, 1)


async def test_a_failed_followup_is_named_with_its_cause(lines: Any) -> None:
    await retrieved(searching())
    [failed] = lines("followup_failed")
    assert (failed["followup"], failed["code"], failed["retrieval_id"]) == (
        1,
        "model_unavailable",
        "r",
    )
    assert {line["state"] for line in lines("followup_ended")} == {
        "answered",
        "failed: model_unavailable",
    }
    assert {line["outcome"] for line in lines("followups_read")} == {"ok", "model_unavailable"}


@pytest.mark.parametrize(
    ("graph", "outcome"),
    [
        (StubGraph(PrimerEvidence()), "no_data_found"),
        (StubGraph(GraphUnavailableError("g")), "graph_unavailable"),
        (StubGraph(KeyError("canary")), "internal"),
    ],
    ids=["nothing found", "an error of ours", "an error nobody foresaw"],
)
async def test_the_outcome_is_in_the_last_line_and_in_the_counter(
    graph: StubGraph, outcome: str, lines: Any, recorded: Recorded
) -> None:
    with suppress(DriftError, KeyError):
        await retrieved(searching(graph=graph))
    [ended] = lines("retrieval_ended")
    assert ended["outcome"] == outcome
    assert recorded.points()["drift.retrievals"] == [({"outcome": outcome}, 1)]


async def test_a_cancelled_request_ends_as_cancelled(lines: Any) -> None:
    async def hang() -> str:
        await asyncio.Event().wait()
        return ""

    task = await searching(lambda _prompt: hang()).start(allowed(), request(QUESTION), "r")
    while not lines("phase_ended"):  # noqa: ASYNC110 - the log has no event to wait for
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert lines("retrieval_ended")[0]["outcome"] == "cancelled"


# -------------------------------------------------------------------------------------------- spans
async def test_spans_nest_below_the_callers_trace(recorded: Recorded) -> None:
    await retrieved(searching(), headers={"traceparent": PARENT, "tracestate": "vendor=1"})
    whole = recorded.span("retrieve")
    assert (f"{whole.parent.trace_id:032x}", f"{whole.parent.span_id:016x}") == (
        TRACE_ID,
        PARENT[36:52],
    )
    phases = [recorded.span(name) for name in ("expand query", "primer", "followups", "aggregate")]
    assert {s.parent.span_id for s in phases if s.parent} == {whole.context.span_id}
    followups = [s for s in recorded.spans("followup") if s.name == "followup"]
    assert [s.parent.span_id for s in followups if s.parent] == [
        recorded.span("followups").context.span_id
    ] * 2
    assert {s.attributes["drift.followup"] for s in followups if s.attributes} == {0, 1}
    assert {s.context.trace_id for s in recorded.spans()} == {int(TRACE_ID, 16)}


async def test_without_a_caller_each_request_is_a_trace_of_its_own_and_the_log_names_it(
    recorded: Recorded, lines: Any
) -> None:
    await retrieved(searching())
    assert (
        lines("retrieval_ended")[0]["trace_id"]
        == f"{recorded.span('retrieve').context.trace_id:032x}"
    )


async def test_a_failed_part_is_marked_with_its_code_and_no_words(recorded: Recorded) -> None:
    await retrieved(searching())
    [failed] = [s for s in recorded.spans("executor") if "error.type" in (s.attributes or {})]
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "model_unavailable"
    assert (failed.status.is_ok, failed.status.description, failed.events) == (False, None, ())


async def test_words_that_may_be_logged_are_in_no_span_or_metric(
    lines: Any, recorded: Recorded
) -> None:
    await retrieved(searching(LOG_QUESTIONS="true"))
    assert lines("retrieval_started")[0]["query"] == QUESTION
    assert recorded.spans()
    assert "canary" not in recorded.everything()


async def test_metrics_count_phases_tokens_failures_and_dropped_citations(
    recorded: Recorded,
) -> None:
    service = searching()
    await retrieved(service)
    service.admission.most = 0
    with pytest.raises(DriftError):
        await service.start(allowed(), request(QUESTION), "r")
    points = recorded.points()
    assert {a["phase"] for a, _ in points["drift.phase.duration"]} == set(PHASES)
    assert ({"phase": "retrieving_communities", "kind": "prompt"}, 10) in points["drift.tokens"]
    assert points["drift.followups.failed"] == [({"code": "model_unavailable"}, 1)]
    assert points["drift.citations.dropped"] == [({"reason": "unmatched_chunk_id"}, 1)]
    assert sorted(a["outcome"] for a, _ in points["drift.retrievals"]) == ["busy", "ok"]


async def test_client_calls_add_their_seconds_to_the_parts_around_them(lines: Any) -> None:
    ended: list[parts.Part] = []

    async def asking() -> None:
        with parts.followup(0, 1) as part:
            ended.append(part)
            with (
                servers.graph_call("read", "neo4j"),
                servers.model_call("embeddings", "e", "openai"),
            ):
                await asyncio.sleep(0)

    with parts.retrieval("r", "p") as whole, parts.phase(parts.Phase.EXECUTING_FOLLOWUP):
        await asyncio.gather(*(asyncio.create_task(asking()) for _ in range(3)))
    assert whole.client_s["graph_s"] == pytest.approx(
        sum(part.client_s["graph_s"] for part in ended)
    )
    assert {"graph_s", "embedding_s"} <= set(lines("retrieval_ended")[0])


async def test_the_platforms_trace_comes_before_the_header(lines: Any) -> None:
    platform = SimpleNamespace(trace_parent=PARENT, trace_state="")
    await retrieved(
        searching(), platform=platform, headers={"traceparent": PARENT.replace("4bf9", "0000")}
    )
    assert {line["trace_id"] for line in lines()} == {TRACE_ID}


# ------------------------------------------------------------------------------------ documentation
def test_the_document_lists_every_metric_and_every_event() -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "observability.md").read_text()
    assert set(re.findall(r"^\| `([a-z_.]+)` \| (?:counter|histogram)", text, re.MULTILINE)) == {
        *otel.COUNTERS,
        *otel.HISTOGRAMS,
    }
    local = root / "drift" / "local"
    sources = [path for path in (root / "drift").rglob("*.py") if local not in path.parents]
    sources.append(root / "function_app.py")
    said = re.compile(r'(?:log\.\w+\(\s*|_part\("[a-z]+", )"([a-z_]+)"')
    events = {event for source in sources for event in said.findall(source.read_text())}
    events |= set(
        re.findall(r'"([a-z]+_ended)"', (root / "drift" / "telemetry" / "parts.py").read_text())
    )
    assert len(events) > 15
    assert not [event for event in sorted(events) if f"`{event}`" not in text]
