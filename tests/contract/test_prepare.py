"""What preparing a graph from elsewhere promises.

It adds what the searches need, names what it cannot, and guesses nothing.
"""

from __future__ import annotations

import pytest

from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import NAMES_INDEX, IndexNames, project_key
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import FollowupQuery
from drift.model.health import Level
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_ferries,
    cut_edges,
    database,
    everything,
    prepared,
    preparer,
    rows,
)
from tests.contract.graph_backends import ask_followup, ask_primer
from tests.contract.known_names import OWN_LABEL
from tests.servers import on_whole_servers_of_both_versions

__all__ = ["database", "prepared", "preparer"]
pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.slow,
]

PROJECT_IDS = f"""MATCH (n) WHERE NOT n:__Project__|__DriftFormat__
WITH {OWN_LABEL} AS label, n.project_id AS project
RETURN label, project, count(*) ORDER BY label, project"""
OF_ONE = [["__Chunk__", 3], ["__Community__", 4], ["__Document__", 3], ["__Entity__", 3]]
OF_BOTH = [[label, project, count] for label, count in OF_ONE for project in ("north", "south")]
SOME = {
    "chunks": ["__Document__", "__Entity__", "__Community__"],
    "communities": ["__Document__", "__Chunk__", "__Entity__"],
}
"""By what alone keeps its IN_PROJECT edges: what loses them."""


# --------------------------------------------------------------------------------------- project_id
async def test_every_node_gets_the_project_of_its_edge_once_and_both_are_searched_apart(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north", "south")
    told: list[str] = []
    report = await preparer.prepare(DIMENSIONS, say=told.append)
    assert told[0] == "Looking at 6 __Document__ nodes ..."
    assert any(line.startswith("Creating ") and "drift_project_key" in line for line in told)
    assert await rows(database, PROJECT_IDS) == OF_BOTH
    keys = await rows(
        database, "MATCH (n:__Chunk__) RETURN DISTINCT n.project_id AS p, n.project_key ORDER BY p"
    )
    assert keys == [["north", project_key("north")], ["south", project_key("south")]]
    assert await rows(database, "MATCH (n:__Entity__ {id: 'e1'}) RETURN DISTINCT n.title_key") == [
        ["ferry 1"]
    ]
    assert (report.document()["problems"], report.changed) == (
        [],
        {
            "__Document__.project_id": 6,
            "__Chunk__.project_id": 6,
            "__Entity__.project_id": 6,
            "__Community__.project_id": 8,
            "__Chunk__.project_key": 6,
            "__Entity__.project_key": 6,
            "__Entity__.title_key": 6,
            "__Document__.title_key": 6,
            "__Document__.embedding": 6,
        },
    )

    before = await everything(database)
    again = (await preparer.prepare(DIMENSIONS)).document()
    assert (again["changed"], again["created"], again["cypher"]) == ({}, [], [])
    assert await everything(database) == before
    assert len(again["indexes"]) == 20
    assert {index["state"] for index in again["indexes"]} == {"ONLINE"}

    graph = Neo4jGraph(database)
    found = await ask_followup(graph, "north", "When does ferry 2 leave?", (1.0, 0.0, 0.0, 2.0))
    assert found.chunks[0].text == "Ferry 2 leaves at noon."
    assert {c.document_name for c in found.chunks} == {"Timetable 1", "Timetable 2", "Timetable 3"}
    assert len(found.chunks) == 3
    voters = [chunk.id for chunk in found.chunks]
    [best] = await ask_primer(graph, "south", (1.0, 1.0, 1.0, 1.0), 1, voters)
    assert (best.id, len(best.members)) == (100, 3)
    await Neo4jWriter(database, IndexNames()).prepare(DIMENSIONS)


@pytest.mark.parametrize("whole", SOME)
async def test_nodes_without_an_edge_belong_where_all_their_neighbours_do(
    prepared: Connection, whole: str
) -> None:
    await add_ferries(prepared, "north", "south")
    await cut_edges(prepared, *SOME[whole])
    assert (await Neo4jPreparer(prepared).prepare(DIMENSIONS)).document()["problems"] == []
    assert await rows(prepared, PROJECT_IDS) == OF_BOTH


async def test_what_stands_between_two_projects_or_alone_is_named_and_left_as_it_is(
    prepared: Connection,
) -> None:
    await add_ferries(prepared, "north", "south")
    await cut_edges(prepared, "__Entity__")
    await prepared.write(
        "MATCH (e:__Entity__ {id: 'e1'})<-[:HAS_ENTITY]-(k:__Chunk__)-[:IN_PROJECT]->({id: "
        "'north'}), (other:__Chunk__)-[:IN_PROJECT]->({id: 'south'}) "
        "WITH e, other LIMIT 1 SET e.id = 'between' CREATE (other)-[:HAS_ENTITY]->(e)",
        {},
    )
    await prepared.write("CREATE (:__Document__ {id: 'alone'})", {})
    await prepared.write(
        "MATCH (d:__Document__ {id: 'd3'}), (p:__Project__) CREATE (d)-[:IN_PROJECT]->(p) WITH "
        "DISTINCT d SET d.id = 'both'",
        {},
    )
    await prepared.write(
        "MATCH (k:__Chunk__ {id: 'k2'})-[:IN_PROJECT]->({id: 'north'}) CREATE "
        "(k)-[:HAS_ENTITY]->(:__Entity__ {id: 'e9'})<-[:HAS_ENTITY]-(:__Chunk__ {id: 'k9'})",
        {},
    )
    report = await Neo4jPreparer(prepared).prepare(DIMENSIONS)
    told = "\n".join(report.document()["problems"])
    assert "Some __Document__ nodes (2) are in more than one project" in told
    assert "'both' (edge to 'north', edge to 'south')" in told
    assert "Some __Document__ nodes (1: 'alone') have neither an IN_PROJECT edge" in told
    assert "Some __Entity__ nodes (2: 'between', 'e9') have neither an IN_PROJECT edge" in told
    left = await rows(
        prepared,
        "MATCH (n) WHERE n.project_id IS NULL AND NOT n:__Project__|__DriftFormat__ "
        "RETURN n.id ORDER BY n.id",
    )
    assert left == [["alone"], ["between"], ["both"], ["both"], ["e9"], ["k9"]]


async def test_a_number_as_a_project_s_id_is_its_text_and_keys_that_do_not_fit_are_corrected(
    prepared: Connection,
) -> None:
    await add_ferries(prepared, 7)
    assert (await Neo4jPreparer(prepared).prepare(DIMENSIONS)).document()["problems"] == []
    assert (await ask_followup(Neo4jGraph(prepared), "7", "ferry", (1.0, 0.0, 0.0, 1.0))).chunks

    await prepared.write("MATCH (n {id: 'k1'}) SET n.project_key = 'old'", {})
    await prepared.write("MATCH (n {id: 'e1'}) SET n.title = 'Boat'", {})
    assert (await Neo4jPreparer(prepared).prepare(DIMENSIONS)).changed == {
        "__Chunk__.project_key": 1,
        "__Entity__.title_key": 1,
    }
    assert await rows(prepared, "MATCH (n {id: 'e1'}) RETURN n.title_key") == [["boat"]]


async def test_a_graph_without_the_index_of_titles_serves_on_until_it_is_prepared(
    prepared: Connection,
) -> None:
    preparer = Neo4jPreparer(prepared)
    await add_ferries(prepared, "north")
    await preparer.prepare(DIMENSIONS)
    await prepared.write("MATCH (e:__Entity__ {id: 'e1'}) SET e.title = 'Star of Ulm'", {})
    await prepared.write("MATCH (e:__Entity__) REMOVE e.project_key, e.title_key", {})
    await prepared.write(f"DROP INDEX {NAMES_INDEX}", {})
    question = ("north", "Who sails Ulm?", (1.0, 0.0, 0.0, 3.0))

    older = Neo4jGraph(prepared)
    found = await ask_followup(older, *question)
    health = await older.health()
    assert len(found.chunks) == 3
    assert [lack.name for lack in health.lacking] == [NAMES_INDEX]
    assert health.readiness(DIMENSIONS).level is Level.DEGRADED
    assert "drift prepare" in str(health.readiness(DIMENSIONS))

    assert (await preparer.prepare(DIMENSIONS)).created == [NAMES_INDEX]
    newer = Neo4jGraph(prepared)
    candidates = await newer.followup(FollowupQuery(*question, ()), Deadline.after(120))
    assert (await newer.health()).lacking == ()
    assert [c.chunk.id for c in candidates.chunks if c.graph > 0] == ["k1"]


async def test_more_nodes_than_a_batch_holds_are_all_prepared(prepared: Connection) -> None:
    await prepared.write(
        "CREATE (p:__Project__ {id: 'big'}) WITH p UNWIND range(1, 4500) AS i "
        "CREATE (:__Chunk__ {id: i, text: 't', embedding: [1.0, 2.0, 3.0, "
        "4.0]})-[:IN_PROJECT]->(p), (:__Entity__ {id: i, title: 'T' + i})-[:IN_PROJECT]->(p)",
        {},
    )
    changed = (await Neo4jPreparer(prepared).prepare(DIMENSIONS)).changed
    assert set(changed.values()) == {4500}
    assert set(changed) == {
        "__Chunk__.project_id",
        "__Chunk__.project_key",
        "__Entity__.project_id",
        "__Entity__.project_key",
        "__Entity__.title_key",
    }


# ------------------------------------------------------------------------------------------ dry run
@on_whole_servers_of_both_versions
async def test_a_dry_run_changes_nothing_and_its_cypher_does_what_preparing_does(
    database: Connection, preparer: Neo4jPreparer, whole_server: Neo4jServer
) -> None:
    await add_ferries(database, "north", "south")
    before = await everything(database)
    planned = await preparer.prepare(DIMENSIONS, dry_run=True)
    assert await everything(database) == before
    is_newer = any("CYPHER 25" in text for text in planned.cypher)
    assert is_newer == (not whole_server.version.startswith("5."))
    assert any(
        text.startswith(":param {dimensions: 4}\n") or "\n:param {dimensions: 4}\n" in text
        for text in planned.cypher
    )
    for text in planned.cypher:
        await _type(database, text)
    left = (await preparer.prepare(DIMENSIONS)).document()
    keys = {"__Entity__.title_key": 6, "__Document__.title_key": 6}
    assert (left["changed"], left["created"]) == (keys, [])
    assert (
        planned.changed["__Community__.project_id"],
        planned.changed["__Entity__.title_key"],
    ) == (8, 6)


async def _type(database: Connection, text: str) -> None:
    """Run a printed statement as a shell would; the one that Python makes rows for is left out."""
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    given = next(
        (line.removeprefix(":param ") for line in lines if line.startswith(":param ")), "{}"
    )
    parameters = (await rows(database, f"RETURN {given} AS p"))[0][0]
    statement = "\n".join(line for line in lines if not line.startswith(":param")).removesuffix(";")
    if "$rows" not in statement or parameters:
        await database.write_in_batches(statement, parameters)
