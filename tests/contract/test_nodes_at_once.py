"""A node of people's own is found by the next question, whatever a process has seen before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, GraphMisconfiguredError, GraphUnavailableError
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import NODE_INDEX, IndexNames
from drift.graph.node_store import Neo4jNodeStore
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.found_nodes import NodesQuery
from drift.model.nodes import Embedded, OwnNode
from tests.contract.graph_backends import (
    DIMENSIONS,
    INDEXED,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    fill,
)
from tests.contract.v1_graphs import database, drop_schema
from tests.servers import on_whole_servers_of_both_versions

__all__ = ["database"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, on_whole_servers_of_both_versions]

INDEXES = "SHOW INDEXES YIELD name WHERE name IN $names RETURN count(*) AS there"

PROJECT = EVERYBODY.project("p", "write")
KEY = "drift_own_node_key"
NAMES = IndexNames()
CHUNKS = [
    chunk("k1", "alpha", axis(0)),
    chunk("k2", "beta", axis(1)),
    chunk("k3", "the zephyr", ()),
]
COMMUNITIES = [community(1, 0, None, axis(0), ["k1", "k2"])]


async def write(
    store: Neo4jNodeStore, node_id: str, label: str = "Person", seconds: float = 60
) -> None:
    node = OwnNode(node_id, label, {"name": node_id, "description": "x"})
    embedded = Embedded(axis(0), "m", f"hash of {node_id}")
    await store.create_node(PROJECT, node, embedded, Deadline.after(seconds))


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
@pytest.mark.parametrize("between", [nothing, unindexed, made_anew], ids=lambda work: work.__name__)
async def test_the_next_question_finds_a_node_here_and_elsewhere(
    database: Connection, before: Change, between: Change, exact_limit: int | None
) -> None:
    await before(database)
    here, elsewhere = graphs = [Neo4jGraph(database, exact_limit=exact_limit) for _ in range(2)]

    async def seen(expected: Sequence[str], *labels: str) -> None:
        assert [await found(graph, *labels) for graph in graphs] == [expected] * 2

    await seen([])
    await write(here.node_store(), "ada")
    await seen(["ada"])
    await between(database)
    await seen(["ada"])
    store = elsewhere.node_store()
    await write(store, "bo")
    await write(store, "mill", "Works")
    await seen(["ada", "bo"])
    await seen(["ada", "bo", "mill"], "Person", "Works")


async def test_a_first_write_that_fails_leaves_the_index_to_the_next_and_keeps_to_its_time(
    database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await unprepared(database)
    graph, run = Neo4jGraph(database), Connection.write

    async def fails(*_: object) -> None:
        raise GraphUnavailableError("down")

    async def hangs(*_: object) -> None:
        await asyncio.sleep(600)

    store = graph.node_store()
    for trouble, error in ((fails, GraphUnavailableError), (hangs, DeadlineError)):
        monkeypatch.setattr(Connection, "write", trouble)
        with pytest.raises(error):
            await write(store, "ada", seconds=2)
    monkeypatch.setattr(Connection, "write", run)
    await write(store, "ada")
    [row] = (await database.read(INDEXES, {"names": [NODE_INDEX, KEY]})).records
    assert row["there"] == 2
    assert await found(graph) == ["ada"]


async def test_a_login_that_may_make_no_index_writes_nodes_that_are_found(
    database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await unprepared(database)

    async def refused(*_: object) -> None:
        raise GraphMisconfiguredError("no right")

    monkeypatch.setattr(Connection, "write", refused)
    graph = Neo4jGraph(database)
    await write(graph.node_store(), "ada")
    assert await found(graph) == await found(Neo4jGraph(database)) == ["ada"]


async def test_indexes_that_go_or_come_back_while_they_are_known_cost_no_question(
    database: Connection, whole_server: Neo4jServer
) -> None:
    """The vector index of chunks and the one of their words, of a project that has few."""
    backend = Neo4jBackend(database, NAMES, whole_server)
    await backend.writer.prepare(DIMENSIONS)
    await fill(backend, PROJECT.id, CHUNKS, communities=COMMUNITIES)
    graph = Neo4jGraph(database)

    async def asked() -> set[str]:
        primed = await ask_primer(graph, PROJECT.id, axis(0))
        candidates = await ask_followup(graph, PROJECT.id, "what of the zephyr?", axis(0))
        assert primed
        return {one.id for one in candidates.chunks}

    assert await asked() == {"k1", "k2", "k3"}
    assert await found(graph) == ["1", "k1", "k2"]
    for name in (NAMES.chunk, NAMES.community, NAMES.fulltext, NAMES.entity):
        await database.write(f"DROP INDEX {name}", {})
        assert {"k1", "k2"} <= await asked(), name
        assert await found(graph) == ["1", "k1", "k2"], name
    await backend.writer.prepare(DIMENSIONS)
    assert {"k1", "k2"} <= await asked()
