"""The service over servers in memory, with complete settings."""

from __future__ import annotations

from typing import Any

from drift.http.auth import Authentication
from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.service import Service, WholeGraph
from drift.http.settings import load, load_access
from drift.ports import Ports
from tests.fakes_nodes import FakeNodeFinder
from tests.fakes_reading import FakeReader

LOCAL = {
    "OAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OAI_MODEL": "m",
    "OAI_KEY": "k",
    "OAI_EMBED_MODEL_NAME": "e",
    "VECTOR_INDEX_DIMENSIONS": "4",
    "NEO4J_URI": "bolt://127.0.0.1:9",
    "NEO4J_PASSWORD": "p",
    "REDIS_URL": "redis://127.0.0.1:9",
}
MANY = {"MAX_INFLIGHT": "100"}


def fake_service(servers: Ports, sink: Any = None, **settings: object) -> Service:
    """Return a service that searches with these servers."""
    given = {name: str(value) for name, value in settings.items()}
    graph = WholeGraph(FakeReader(), FakeNodeFinder())
    return Service(load({**LOCAL, **MANY, **given}), servers, graph, sink)


def put_behind(dispatcher: Dispatcher, service: Service, **access: str) -> None:
    """Have a dispatcher answer by this service, and tell callers apart by these settings."""
    dispatcher.provider = ServiceProvider(lambda: service.settings, build=lambda _: service)
    dispatcher.authentication = Authentication(
        platform_asks_for_keys=not access, read_settings=lambda: load_access(access)
    )
