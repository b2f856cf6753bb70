"""Every statement compiles on both servers, and no plan reads nodes of all projects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from drift.adapters import cypher, cypher_write
from drift.adapters.neo4j_connection import Connection
from drift.adapters.neo4j_indexes import IndexNames
from drift.adapters.neo4j_writer import Neo4jWriter
from drift.errors import GraphMisconfiguredError
from drift.local.neo4j_server import Neo4jServer
from tests.contract.graph_backends import DIMENSIONS

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

SCANS = {
    "AllNodesScan",
    "NodeByLabelScan",
    "UnionNodeByLabelsScan",
    "DirectedAllRelationshipsScan",
    "UndirectedAllRelationshipsScan",
}
LINKED = [("__Chunk__", "id"), ("__Entity__", "id"), ("__Community__", "community")]

STATEMENTS = {
    "primer": cypher.primer(None),
    "followup": cypher.followup(None),
    **{
        name: text
        for name, text in vars(cypher_write).items()
        if name.isupper() and isinstance(text, str) and "$project_id" in text
    },
    **{f"link {a[0]} {b[0]}": cypher_write.link(a, "IN_COMMUNITY", b) for a in LINKED for b in LINKED[1:]},
    **{f"vectors {label}": cypher_write.store_vectors(label, key) for label, key in LINKED},
    **{f"stale {label}": cypher_write.drop_stale_nodes(label) for label, _ in LINKED},
    **{f"stale edges {label}": cypher_write.drop_stale_edges(label, "IN_COMMUNITY") for label, _ in LINKED},
}
"""By name; the forms with SEARCH have a test of their own."""


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the names of a plan's operators, without the runtime's suffix."""
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


async def explained(connection: Connection, text: str) -> set[str]:
    """Return the operators of a statement's plan; parameters need no value to be planned."""
    names = dict.fromkeys(_parameters(text))
    result = await connection.read(f"EXPLAIN {text}", names)
    assert result.summary.plan is not None
    return set(operators(result.summary.plan))


def _parameters(text: str) -> set[str]:
    return {
        word.split("$", 1)[1]
        for word in "".join(c if c.isalnum() or c in "_$" else " " for c in text).split()
        if "$" in word
    }


@pytest.fixture(params=["neo4j_2026", "neo4j_5"])
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    """Each real server in turn, started outside of any event loop."""
    started: Neo4jServer = request.getfixturevalue(request.param)
    return started


@pytest.fixture
async def connection(server: Neo4jServer) -> AsyncIterator[Connection]:
    """A connection to a database with all constraints and indexes."""
    async with Connection(server.uri, server.user, server.password, server.database) as opened:
        await Neo4jWriter(opened, IndexNames()).prepare(DIMENSIONS)
        yield opened


@pytest.mark.parametrize("name", STATEMENTS)
async def test_a_statement_compiles_and_reads_no_other_project(connection: Connection, name: str) -> None:
    assert not await explained(connection, STATEMENTS[name]) & SCANS


async def test_a_scan_would_be_seen(connection: Connection) -> None:
    assert "NodeByLabelScan" in await explained(connection, "MATCH (n:__Chunk__) RETURN count(n.text)")


async def test_the_searching_forms_compile_where_the_server_has_them(
    connection: Connection, server: Neo4jServer
) -> None:
    index = IndexNames().chunk
    for text in (cypher.primer(index), cypher.followup(index)):
        if server.version.startswith("5."):
            with pytest.raises(GraphMisconfiguredError):
                await explained(connection, text)
        else:
            assert not await explained(connection, text) & SCANS
