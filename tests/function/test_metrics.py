"""What Prometheus reads of a process that has answered, and what the dashboard asks of it."""

from __future__ import annotations

import re
import sys
from typing import Any, cast
from uuid import uuid4

import pytest
from neo4j import AsyncGraphDatabase
from prometheus_client.parser import text_string_to_metric_families

from drift.graph.cypher.legs import PERSONAL
from drift.http.dispatcher import Dispatcher
from drift.http.settings import load
from drift.http.timer import NodeTimer
from drift.telemetry import prometheus
from tests.function.calling import Caller, assert_is_problem
from tests.function.corpus import PROJECT, QUESTION
from tests.infra.test_dashboards import queries
from tests.model_server_fixture import ModelServerControl
from tests.telemetry_fixture import Recorded

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LABEL = "Buoy"
"""No other test's nodes: what is reconciled is looked at in every project."""
BOUNDED = re.compile(
    r"code|error_type|kind|le|near|outcome|phase|reason|db_(namespace|operation_name|system_name)"
    r"|gen_ai_(operation_name|provider_name|request_model|token_type)"
)
"""Labels whose values are ours, a server's codes or an operator's settings."""


async def mend_a_node(dispatcher: Dispatcher) -> None:
    """Have the timer find a node of somebody's own that has no vector."""
    values = load()
    auth = (values.neo4j_username, values.neo4j_password.get_secret_value())
    texts = "id: 'a', name: 'A red buoy', description: 'It marks the channel'"
    node = f"(n:{LABEL}:{PERSONAL} {{project_id: $project, {texts}}})"
    async with AsyncGraphDatabase.driver(values.neo4j_uri, auth=auth) as driver:
        await driver.execute_query(f"CREATE {node}", project=f"metrics-{uuid4()}")
        await NodeTimer(dispatcher.provider).fire()
        await driver.execute_query(f"MATCH (n:{LABEL}) DETACH DELETE n")


async def test_what_the_dashboard_asks_for_is_counted_and_no_label_grows_with_callers(
    environment: pytest.MonkeyPatch,
    function: Caller,
    dispatcher: Dispatcher,
    model_server: ModelServerControl,
    recorded: Recorded,
) -> None:
    own = f"PROGRESS_CHANNEL=test:{uuid4()}"  # so that no other test's answers are found
    few = "MAX_FOLLOWUPS=2 MAX_FOLLOWUPS_PER_PROMPT=1"
    opened = f"ENABLE_METRICS=true CACHE_ANSWERS=true RAG_LABELS=Chunk,{LABEL}"
    for setting in f"{own} {few} {opened}".split():
        environment.setenv(*setting.split("="))
    for _ in range(2):
        await function.answer(depth="quick")
    asked = {"question": QUESTION, "project_id": PROJECT}
    assert (await function.client.post("/api/rag/query", json=asked)).status_code == 200
    for top_k, fault in ((5, "invented_ids"), (4, "status")):
        model_server.reset()
        model_server.fail({"fault": fault, "status": 503, "kind": "local_reply", "times": None})
        await function.ask(depth="drift", top_k=top_k)
    model_server.reset()
    await mend_a_node(dispatcher)

    response = await function.client.get("/metrics")
    assert response.headers["content-type"] == prometheus.MEDIA_TYPE, response.text
    samples = [one for f in text_string_to_metric_families(response.text) for one in f.samples]
    metrics = r"\b(?:drift|gen_ai_client|db_client)_\w+"
    named = {name for query in queries() for name in re.findall(metrics, query)}
    assert len(named) > 10
    assert named <= {sample.name for sample in samples if sample.value}
    assert all(BOUNDED.fullmatch(label) for sample in samples for label in sample.labels)
    values = " ".join(text for sample in samples for text in sample.labels.values())
    assert not [text for text in (PROJECT, QUESTION, "127.0.0.1") if text in values]
    assert recorded.points()["drift.retrievals"], "what read the metrics before still does"


async def test_metrics_are_hidden_unless_a_setting_opens_them(function: Caller) -> None:
    problem = assert_is_problem(await function.client.get("/metrics"), 404, "not_found")
    assert "ENABLE_METRICS" in problem["detail"]


async def test_without_the_extra_it_says_what_to_install(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    environment.setenv("ENABLE_METRICS", "true")
    environment.setattr(prometheus, "begin", cast("Any", prometheus.begin).__wrapped__)
    environment.setitem(sys.modules, "opentelemetry.exporter.prometheus", None)
    problem = assert_is_problem(await function.client.get("/metrics"), 404, "not_found")
    assert "pip install 'drift-neo4j[metrics]'" in problem["detail"]
