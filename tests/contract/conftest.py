"""Fixtures that several contract tests share.

Those about preparing have a `database` of their own.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import pytest
from neo4j import EagerResult

from drift.graph.connection import READ_TIMEOUT_S, Connection
from tests.contract.graph_backends import backend, graph_server, project
from tests.contract.v1_graphs import database

__all__ = ["backend", "database", "graph_server", "project"]

# `make test-deep` makes an environment with Milvus Lite for it
collect_ignore = [] if find_spec("milvus_lite") else ["test_vector_copy_killed.py"]

PATIENCE_S = 120.0
"""A statement is compiled again after each change of the schema, on a machine that may be busy."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give tests ten minutes, for the same reason; what else waits for a server has its own end."""
    if item.get_closest_marker("timeout") is None:
        item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(autouse=True)
def _reads_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no read fail by the machine's load; one that a test wants to be ended has no second."""
    read = Connection.read

    async def patiently(
        self: Connection,
        text: str,
        parameters: Mapping[str, Any],
        timeout_s: float = READ_TIMEOUT_S,
    ) -> EagerResult:
        wanted = timeout_s if timeout_s < 1 else max(timeout_s, PATIENCE_S)
        return await read(self, text, parameters, wanted)

    monkeypatch.setattr(Connection, "read", patiently)
