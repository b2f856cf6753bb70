"""The timer in the real worker: it mends nodes of a real graph, whatever goes on beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from neo4j import AsyncGraphDatabase

from drift.graph.cypher.legs import PERSONAL
from drift.http.settings import load
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.corpus import Corpus
from tests.model_server_fixture import ModelServerControl
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON, WorkerHost, worker_host

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON),
]

SCHEDULE = "0 0 3 * * *"
LABEL = "Skipper"
"""No other test's nodes: the timer looks at every project."""
SLOW = {"fault": "latency", "kind": "embedding", "seconds": 0.5}


@pytest.fixture(scope="module")
def worker(base_settings: dict[str, str], valkey: ValkeyServer) -> Iterator[WorkerHost]:
    """The function in the real worker, with a schedule and working servers."""
    ours = {
        "REDIS_URL": valkey.url,
        "RAG_LABELS": f"Chunk,{LABEL}",
        "RECONCILE_SCHEDULE": SCHEDULE,
        "RETRY_MAX_ATTEMPTS": "1",
    }
    with worker_host({**base_settings, **ours}) as host:
        yield host


class Graph:
    """The test's own projects, `a` before `b`, read and changed by statements."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        one = uuid4()
        self.a, self.b = f"timer-{one}-a", f"timer-{one}-b"

    async def __call__(self, text: str, **values: Any) -> list[dict[str, Any]]:
        values = {"a": self.a, "b": self.b, **values}
        return [dict(r) for r in (await self._driver.execute_query(text, values)).records]

    async def add(self, project: str, *names: str) -> None:
        """Add nodes that are marked as people's own, without a vector or a hash."""
        await self(
            f"UNWIND $names AS name CREATE (:{LABEL}:{PERSONAL} {{project_id: $p, id: name, "
            "name: name, description: 'Sails with ' + name})",
            p=project,
            names=list(names),
        )

    async def vectors(self, project: str) -> dict[str, int | None]:
        """Return how many floats the vector of each node has."""
        rows = await self(
            f"MATCH (n:{LABEL} {{project_id: $p}}) RETURN n.id AS id, size(n.embedding) AS floats",
            p=project,
        )
        return {row["id"]: row["floats"] for row in rows}


@pytest.fixture
async def graph(
    environment: pytest.MonkeyPatch,  # noqa: ARG001 - says where the graph is
    corpus: Corpus,  # noqa: ARG001 - a graph that is searched too
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Graph]:
    """A graph in which no other nodes have the label."""
    values = load()
    auth = (values.neo4j_username, values.neo4j_password.get_secret_value())
    async with AsyncGraphDatabase.driver(values.neo4j_uri, auth=auth) as driver:
        own = Graph(driver)
        yield own
        await own(f"MATCH (n:{LABEL}) DETACH DELETE n")


def lines(host: WorkerHost, event: str, project: str | None = None) -> list[dict[str, Any]]:
    """Return the log lines of an event; of one project, or all."""
    own = [json.loads(line["message"]) for line in host.log_lines() if line["logger"] == "drift"]
    found = [line for line in own if line["event"] == event]
    return [line for line in found if project is None or line.get("project_id") == project]


def test_it_is_registered_beside_the_routes(worker: WorkerHost) -> None:
    [(name, binding)] = worker.told["timers"].items()
    assert (name, binding["type"], binding["schedule"]) == ("reconcile", "timerTrigger", SCHEDULE)
    assert not binding.get("runOnStartup")
    assert "health_live" in worker.told["triggers"]


async def test_it_names_and_mends_what_differs_and_a_second_run_finds_nothing(
    worker: WorkerHost, graph: Graph
) -> None:
    await graph.add(graph.a, "ada", "bo")
    await graph(f"CREATE (:{LABEL}:{PERSONAL} {{project_id: $a, id: 'mute', name: 'Mute'}})")
    await worker.fire("reconcile")
    assert await graph.vectors(graph.a) == {"ada": 256, "bo": 256, "mute": None}

    await graph(f"MATCH (n:{LABEL} {{project_id: $a, id: 'bo'}}) SET n.description = 'Ashore'")
    await worker.fire("reconcile")
    await worker.fire("reconcile")

    told = lines(worker, "nodes_reconciled", graph.a)
    counts = ("seen", "missing", "stale", "without_text", "mended", "outcome")
    assert [tuple(line[name] for name in counts) for line in told] == [
        (3, 2, 0, 1, 2, "ok"),
        (3, 0, 1, 1, 1, "ok"),
        (3, 0, 0, 1, 0, "ok"),
    ]
    assert [sorted(line["examples"]) for line in told] == [["ada", "bo"], ["bo"], []]
    assert all(line["label"] == LABEL and line["invocation_id"] for line in told)
    assert told[0]["prompt_tokens"] > 0
    assert "Sails" not in worker.log_text()
    assert "Ashore" not in worker.log_text()
    assert set((await worker.state())["outcomes"]) == {"success"}

    async with worker.client() as client:
        asked = {"question": "Who sails with ada?", "project_id": graph.a}
        found = (await client.post("/api/rag/query", json=asked)).json()["sources"]
        ready = (await client.get("/health/ready")).json()
    assert "ada" in [source["node_id"] for source in found]
    assert ready["reconcile"] == "ok"


async def test_a_node_changed_or_removed_while_it_is_embedded_keeps_what_was_done_to_it(
    worker: WorkerHost, graph: Graph, model_server: ModelServerControl
) -> None:
    await graph.add(graph.a, "ada", "bo", "cy")
    model_server.fail(SLOW)
    running = asyncio.create_task(worker.fire("reconcile"))
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    await graph(f"MATCH (n:{LABEL} {{project_id: $a, id: 'ada'}}) DETACH DELETE n")
    await graph(f"MATCH (n:{LABEL} {{project_id: $a, id: 'bo'}}) SET n.description = 'Ashore'")
    await running
    assert await graph.vectors(graph.a) == {"bo": None, "cy": 256}

    await worker.fire("reconcile")
    assert await graph.vectors(graph.a) == {"bo": 256, "cy": 256}
