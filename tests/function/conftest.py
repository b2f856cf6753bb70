"""The function on real servers.

Settings in the environment, its routes on loopback, a graph that holds a small corpus.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis import Redis

from drift.http.dispatcher import Dispatcher
from drift.http.settings import Settings, load
from drift.llm.local_embedding import DIMENSIONS
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, calling
from tests.function.corpus import Corpus, fill
from tests.model_server_fixture import ModelServerControl

MODEL_KEY = "canary-model-key-7f3a91"

Environment = dict[str, str]


@pytest.fixture(scope="session")
def graph_server(neo4j_2026: Neo4jServer) -> Neo4jServer:
    """The server that holds the corpus: others use it too, with vectors of the same length."""
    return neo4j_2026


@pytest.fixture(scope="session")
def base_settings(
    graph_server: Neo4jServer, model_server_process: ModelServerControl
) -> Environment:
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
        "HYDE": "always",  # so that a search makes calls of every kind
    }


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
    """The settings of a function that works; a test changes them before its first request.

    Redis keeps no embedding of another test.
    """
    with Redis.from_url(valkey.url, protocol=2) as redis:
        for key in redis.scan_iter("embed:*", count=1000):
            redis.delete(key)
    for name, value in {**base_settings, "REDIS_URL": valkey.url}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def dispatcher() -> Dispatcher:
    """What answers the calls of `function`."""
    return build_dispatcher()


@pytest.fixture
async def function(
    environment: pytest.MonkeyPatch,  # noqa: ARG001 - set before the first request
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
    dispatcher: Dispatcher,
) -> AsyncIterator[Caller]:
    """A client of the function with working servers behind it."""
    async with serving(dispatcher=dispatcher) as url, calling(url) as caller:
        yield caller
