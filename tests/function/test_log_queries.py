"""The queries of documents and alerts read only what the service's log lines hold.

Real ones, of calls that work and fail.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from drift.auth.entra import TokenSource
from drift.contracts.progress import Phase
from drift.core.circuit_breaker import CircuitBreaker
from drift.core.errors import DriftError
from drift.local.hosts.local_host import serving
from drift.local.stack.loopback import free_port
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import calling
from tests.function.corpus import PROJECT, QUESTION, Corpus
from tests.model_server_fixture import ModelServerControl
from tests.queries.fields import Line, wrong
from tests.queries.kusto import of_alerts, of_documents, of_workbook

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True)]

QUERIES = {
    name: query
    for name, query in (of_documents() | of_alerts() | of_workbook()).items()
    if "parse_json" in query
}
PATIENCE_S = 120.0
"""A first call builds the service, which takes long on a busy machine."""
MODEL, EMBEDDING_MODEL = "drift-extractive", "wordllama-256"
FOR_EVERY_REQUEST = "observability.md 1"


def codes(kind: type[DriftError]) -> frozenset[str]:
    """Return the code of an error and of all that are kinds of it."""
    return frozenset({kind.code}).union(*(codes(child) for child in kind.__subclasses__()))


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Read the service's log so far."""
    caplog.set_level(logging.INFO, "drift")

    def read() -> list[Line]:
        texts = (record.getMessage() for record in caplog.records if record.name == "drift")
        return [Line(text, json.loads(text)) for text in texts]

    return read


class NoIdentity:
    """A credential of a machine that has none."""

    def get_token(self, *_scopes: str) -> Any:
        raise OSError("no identity")


async def ask(**headers: str) -> int:
    """Send one question to a function of its own, with the settings of this moment.

    Return the status.
    """
    async with serving() as url, calling(url) as caller:
        caller.client.headers.update(headers)
        caller.client.timeout = PATIENCE_S
        return (await caller.ask()).status_code


async def ask_with_all_that_is_counted(environment: pytest.MonkeyPatch) -> None:
    """Ask at a price with a filter, score the answer, and ask once more than the quota allows."""
    price = {"prompt": 1, "cached": 1, "cache_write": 1, "completion": 1}
    models = dict.fromkeys((MODEL, EMBEDDING_MODEL), price)
    key, opens = entry("counted", [PROJECT], requests_per_minute=2)
    with environment.context() as here:
        here.setenv(
            "PRICES", json.dumps({"currency": "EUR", "date": "2026-08-21", "models": models})
        )
        use_keys(here, opens)
        async with serving() as url, calling(url) as caller:
            caller.client.headers["x-api-key"] = key
            caller.client.timeout = PATIENCE_S
            id_ = str(uuid4())
            tide = {"type": "eq", "key": "document_id", "value": "Tide Table.md"}
            assert (await caller.ask(retrieval_id=id_, filter=tide)).status_code == 200
            marked = await caller.client.post("/feedback", json={"retrieval_id": id_, "score": 1})
            assert marked.status_code == 204
            assert (await caller.ask()).status_code == 429


async def ask_nodes() -> int:
    """Send one question to the nodes, as `ask` does."""
    async with serving() as url, calling(url) as caller:
        caller.client.timeout = PATIENCE_S
        body = {"question": QUESTION, "project_id": PROJECT}
        return (await caller.client.post("/api/rag/query", json=body)).status_code


@pytest.fixture
async def log(
    written: Any,
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,
) -> list[Line]:
    """Lines of a repeated call, a lost follow-up, a missing graph, and of who may not ask.

    Those of other queries as well.
    """
    nowhere = free_port()
    environment.setenv("MAX_FOLLOWUPS", "2")
    environment.setenv("MAX_FOLLOWUPS_PER_PROMPT", "1")
    model_server.fail(
        {"fault": "status", "status": 429, "kind": "primer_reply", "times": 1},
        {"fault": "status", "status": 403, "kind": "local_reply", "times": 1},
    )
    assert await ask() == 200
    assert await ask_nodes() == 200
    await ask_with_all_that_is_counted(environment)
    environment.setenv("CACHE", "off")
    model_server.fail({"fault": "status", "status": 401, "kind": "embedding", "times": 1})
    assert await ask_nodes() == 500
    environment.setenv("NEO4J_URI", f"bolt://127.0.0.1:{nowhere}")
    assert await ask() == 500
    environment.setenv("NEO4J_PASSWORD", "@Microsoft.KeyVault(SecretUri=https://v.example/s)")
    assert await ask() == 503
    key, opens = entry("other", ["other-project"])
    use_keys(environment, opens)
    assert await ask(authorization="Bearer wrong") == 401
    assert await ask(authorization=f"Bearer {key}") == 403

    for server in ("vector_store", "quota_counting", "embedding_cache", "answer_cache"):
        CircuitBreaker(server, time.monotonic).fail("it does not answer")
    with pytest.raises(OSError, match="no identity"):
        await TokenSource("https://one.example/.default", NoIdentity).get()
    sink = RedisProgress(RedisServer(f"redis://127.0.0.1:{nowhere}/0"))
    sink.send("{}", last=True)
    await sink.delivered()
    await sink.close()
    lines: list[Line] = written()
    return lines


@pytest.fixture
def known(log: list[Line]) -> dict[str, frozenset[str]]:
    """The values that fields can have."""
    failures = codes(DriftError)
    return {
        "event": frozenset(str(line.fields["event"]) for line in log),
        "phase": frozenset(phase.value for phase in Phase),
        "code": failures,
        "outcome": failures | {"ok", "no_data_found", "cancelled"},
    }


async def test_every_query_reads_fields_and_values_that_are_written(
    log: list[Line], known: dict[str, frozenset[str]]
) -> None:
    found = {name: wrong(query, log, known) for name, query in QUERIES.items()}
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(QUERIES) >= 5

    alert = QUERIES["embeddings-are-slow"]
    planted = {
        alert.replace("line.embedding_s", "line.embeding_s"): "has the field embeding_s",
        alert.replace("'expanding_query'", "'expand_query'"): "phase is never expand_query",
        alert.replace("has 'embedding_s'", "has 'embeding_s'"): "keep no line",
        QUERIES["graph-is-unreachable"].replace("line.outcome", "line.code"): "has the field code",
        QUERIES[FOR_EVERY_REQUEST].replace("line.retrieval_id", "line.request_id"): "request_id",
        QUERIES["graph-is-unreachable"].replace(
            "'graph_unavailable'", "'graph_down'"
        ): "graph_down",
    }
    for query, named in planted.items():
        assert any(named in fault for fault in wrong(query, log, known)), query
