"""The arithmetic that figures of `tests/bench` stand on; what a bench starts is tried once."""

from __future__ import annotations

import json
import time

import httpx2
import pytest

from drift.http import http
from drift.local.evals.questions import LabelledPassage, QuestionSet
from drift.local.stack.neo4j.server import Neo4jServer
from tests.bench.command import percentile
from tests.bench.graph import Row, db_hits, ratios
from tests.bench.load_process import Held, Target
from tests.bench.names import measure_names
from tests.bench.streams import measure_streams
from tests.bench.synthetic import TENANTS
from tests.command_line import PATIENCE_S, bench
from tests.evals.test_recall import labelled


def test_the_95th_percentile_is_a_value_that_was_measured() -> None:
    assert percentile(range(1, 101), 95) == 95
    assert percentile([7.0], 95) == 7.0


# -------------------------------------------------------------------------------------------- graph
def test_growth_counts_from_ten_thousand_chunks_and_others_from_their_largest_size() -> None:
    def row(chunks: int, statement: str, p50: float, p95: float, tenant: str = "large") -> Row:
        return Row(chunks, 256, tenant, 0.9, statement, p50, p95)

    rows = [
        row(1000, "primer", 1, 1),
        row(10_000, "primer", 2, 10),
        row(100_000, "primer", 3, 15),
        row(10_000, "followup", 4, 10),
        row(100_000, "followup", 5, 22),
        row(100_000, "followup", 99, 99, tenant="small"),
        row(10_000, "nodes", 40, 50),
        Row(100_000, 256, "large", 0.9, "nodes", error="too slow"),
    ]
    growth = {"primer": 1.5, "followup": 2.2}
    assert ratios(rows) == {"256": {"growth_p95": growth, "others_p50": {"nodes": 10.0}}}


def test_database_hits_are_those_of_all_operators() -> None:
    assert db_hits({"dbHits": 1, "children": [{"dbHits": 2, "children": [{"dbHits": 4}]}, {}]}) == 7


@pytest.mark.neo4j
@pytest.mark.deep
@pytest.mark.timeout(PATIENCE_S)
async def test_every_statement_of_every_tenant_is_reported(neo4j_2026: Neo4jServer) -> None:
    small = ("--chunks", "100", "--dims", "256", "--repeat", "1", "--json")
    done = bench("graph", *small, **neo4j_2026.env)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    by_statement = {(row["tenant"], row["statement"]): row for row in rows}
    for tenant in TENANTS:
        for ours in ("primer", "followup", "followup_indexed", "followup_exact"):
            own = by_statement[tenant, ours]
            assert own["trips"] in {1, 2}  # the second is of documents that are named
            assert (own["recall30"], "error" in own) == (1.0, False)
            assert own["db_hits"] > 0


# ------------------------------------------------------------------------------------------ streams
REPLY = '{"evidence": ["K1.1"], "sentences": [["Marley was dead.", 1], ["Nobody knew it.", 1]], '
KNOWN, ENDED = 3.0, 4.0
"""Seconds before its arrival: when the first sentence could be told, and when it had ended."""


async def test_a_sentence_is_late_by_the_models_own_clock() -> None:
    async def held() -> Held:
        return {}

    def answer(_: httpx2.Request) -> httpx2.Response:
        told = ["Marley was dead.", " Nobody knew it."]
        deltas = [http.event("answer_delta", json.dumps({"text": text}), "r-1") for text in told]
        events = b"".join([http.OPEN, *deltas, http.event("result", "{}", "r-2")])
        return httpx2.Response(200, content=events, headers={"content-type": "text/event-stream"})

    def noted(request: httpx2.Request) -> httpx2.Response:
        """Tell that each question's reply was written some seconds ago."""
        if request.method == "DELETE":
            return httpx2.Response(204)
        now, ended = time.monotonic(), REPLY.index(", 1]")
        times = [(ended, now - ENDED), (ended + 4, now - KNOWN), (len(REPLY), now)]
        replies = [{"question": f"Who? ({n})", "text": REPLY, "times": times} for n in range(4)]
        return httpx2.Response(200, json={"written": replies})

    async with (
        httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="http://f") as function,
        httpx2.AsyncClient(transport=httpx2.MockTransport(noted), base_url="http://m") as model,
    ):
        target = Target(function, "p", ("Who?",), held, "quick")
        (level,) = await measure_streams(target, model, (2,), 4)

    counts = ("answers", "failed", "replaced", "sentences")
    assert [level[name] for name in counts] == [4, 0, 0, 8]
    assert level["relayed_p99_ms"] == pytest.approx(1000 * KNOWN, abs=900)
    assert level["ended_p99_ms"] == pytest.approx(1000 * ENDED, abs=900)


# -------------------------------------------------------------------------------------------- names
def test_questions_are_counted_with_their_passages_and_without() -> None:
    texts = {
        "a": "The novel of the lighthouse was written by Ada Kestrel.",
        "b": "The novel of the harbour was written by somebody else.",
        "c": "Nothing is known about the mill.",
    }
    asked = {
        "Which novel was written by Kestrel?": "a",
        "Which novel of the harbour was written?": "b",
        "Which novel was written by Zuckmayer?": "b",
    }
    passages = tuple(LabelledPassage(name, name, text, (), ()) for name, text in texts.items())
    questions = tuple(labelled(q, q, gold) for q, gold in asked.items())
    figures = measure_names(QuestionSet("mills", passages, questions))
    assert (figures.shown, figures.misspelt, figures.withheld) == (1, 1, 2)
    assert figures.false_alarms == ("Zuckmayer: Which novel was written by Zuckmayer?",)
