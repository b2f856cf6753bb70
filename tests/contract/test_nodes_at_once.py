"""A node of people's own is found by the next question, whatever a process has seen before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import NODE_INDEX
from drift.model.found_nodes import NodesQuery
from drift.model.nodes import Embedded, OwnNode
from tests.contract.graph_backends import DIMENSIONS, INDEXED, axis
from tests.contract.v1_graphs import database, drop_schema
from tests.servers import on_whole_servers_of_both_versions

__all__ = ["database"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, on_whole_servers_of_both_versions]

PROJECT = EVERYBODY.project("p", "write")
KEY = "drift_own_node_key"


async def write(graph: Neo4jGraph, node_id: str, label: str = "Person") -> None:
    node = OwnNode(node_id, label, {"name": node_id, "description": "x"})
    embedded = Embedded(axis(0), "m", f"hash of {node_id}")
    await graph.node_store().create_node(PROJECT, node, embedded, Deadline.after(60))


async def found(graph: Neo4jGraph, *labels: str) -> list[str]:
    asked = ("Chunk", "Entity", "Community", *(labels or ("Person",)))
    query = NodesQuery(PROJECT.id, axis(0), asked, 5)
    nodes = (await graph.finder().nearest_nodes(query, Deadline.after(120))).nodes
    return sorted(node.id for node in nodes)


Change = Callable[[Connection], Awaitable[None]]


async def nothing(_: Connection) -> None:
    """Leave the schema as it is."""


async def unindexed(connection: Connection) -> None:
    await connection.write(f"DROP INDEX {NODE_INDEX} IF EXISTS", {})


async def unprepared(connection: Connection) -> None:
    await drop_schema(connection)


async def made_anew(connection: Connection) -> None:
    await unindexed(connection)
    config = f"`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine'"
    await connection.write(
        f"CREATE VECTOR INDEX {NODE_INDEX} FOR (n:__DriftNode__) ON (n.embedding) "
        f"OPTIONS {{indexConfig: {{{config}}}}}",
        {},
    )


@pytest.mark.parametrize("exact_limit", [None, INDEXED], ids=["exact", "indexed"])
@pytest.mark.parametrize("before", [unprepared, nothing], ids=["no schema", "schema"])
@pytest.mark.parametrize("between", [nothing, unindexed, made_anew], ids=str)
async def test_the_next_question_finds_a_node_here_and_elsewhere(
    database: Connection, before: Change, between: Change, exact_limit: int | None
) -> None:
    await before(database)
    here, elsewhere = graphs = [Neo4jGraph(database, exact_limit=exact_limit) for _ in range(2)]

    async def seen(expected: Sequence[str], *labels: str) -> None:
        assert [await found(graph, *labels) for graph in graphs] == [expected] * 2

    await seen([])
    await write(here, "ada")
    await seen(["ada"])
    await between(database)
    await seen(["ada"])
    await write(elsewhere, "bo")
    await write(elsewhere, "mill", "Works")
    await seen(["ada", "bo"])
    await seen(["ada", "bo", "mill"], "Person", "Works")
