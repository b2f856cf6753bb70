"""Values that others wrote and no index can hold: they are left out, and the rest is searched."""

from __future__ import annotations

import pytest

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.graph.graph import Neo4jGraph
from drift.local.prepare.kinds import KEYED
from drift.local.prepare.preparer import Neo4jPreparer
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_entities_of_chunks,
    add_ferries,
    preparer,
)
from tests.contract.foreign_graphs import (
    prepared as database,
)
from tests.contract.graph_backends import ask_primer
from tests.contract.v1_graphs import drop_schema

__all__ = ["database", "preparer"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

VECTOR = (1.0, 0.0, 0.0, 2.0)
LONG = "reduce(s = '', i IN range(1, 9000) | s + 'x')"


async def test_nodes_of_too_long_a_key_are_named_left_out_and_come_back_when_it_is_shortened(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await drop_schema(database)
    await add_ferries(database, "north", "south")
    await database.write(
        "MATCH (n)-[r:IN_PROJECT]->(p {id: 'south'}) SET n.project_id = p.id DELETE r", {}
    )
    for label, key in KEYED.items():
        text = f"MATCH (n:{label}) WHERE n.{key} IN ['e1', 'k1', 'd1', 1] SET n.{key} = CASE "
        text += f"n.project_id WHEN 'south' THEN [i IN range(1, 9000) | 'x'] ELSE {LONG} END"
        await database.write(text, {})
    report = await preparer.prepare(DIMENSIONS)
    named = [one for one in report.problems if "too long for an index" in one]
    for label, key in KEYED.items():
        (said,) = (one for one in named if f" {label} nodes (2 of " in one)
        assert f"have a `{key}` or a project too long for an index: " in said
    for project in ("north", "south"):
        assert await ask_primer(Neo4jGraph(database), project, VECTOR)
    again = await preparer.prepare(DIMENSIONS)
    assert set(named) <= set(again.problems)
    assert not +again.changed
    for label, key in KEYED.items():
        text = f"MATCH (n:{label}) WHERE n.left_out_of IS NOT NULL SET n.{key} = 'z'"
        await database.write(text, {})
    mended = await preparer.prepare(DIMENSIONS)
    assert not [one for one in mended.problems if "too long" in one]
    for label, key in KEYED.items():
        text = f"MATCH (n:{label} {{{key}: 'z'}}) RETURN n.project_id AS p ORDER BY p"
        assert await database.rows(text) == [{"p": "north"}, {"p": "south"}], label


async def test_without_projects_nodes_of_too_long_an_id_are_found_without_an_index(
    database: Connection,
) -> None:
    await drop_schema(database)
    await add_entities_of_chunks(database)
    await database.write(f"MATCH (k:__Chunk__ {{index: 1}}) SET k.id = {LONG}", {})
    report = await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)
    assert "drift_chunk_id_v1" not in report.created
    assert "drift_entity_id_v1" in report.created
    assert any("too long for an index" in one for one in report.problems)


async def test_a_step_that_fails_names_the_index_and_what_the_server_said(
    database: Connection, preparer: Neo4jPreparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drop_schema(database)
    await add_ferries(database, "north")
    await database.write(f"MATCH (k:__Chunk__ {{id: 'k1'}}) SET k.id = {LONG}", {})
    monkeypatch.setattr("drift.local.prepare.survey_nodes.MOST_BYTES", 100_000)
    with pytest.raises(GraphMisconfiguredError) as refused:
        await preparer.prepare(DIMENSIONS)
    said = refused.value.detail
    assert "drift_chunk_key, a key on :__Chunk__(project_id, id), could not be created." in said
    assert "The server said: " in said


async def test_a_failed_index_is_named_with_its_state_and_how_to_mend_it(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    for text in (
        "DROP INDEX drift_entity_title",
        f"MATCH (e:__Entity__ {{id: 'e1'}}) SET e.title_key = {LONG}",
        "CREATE INDEX drift_entity_title FOR (n:__Entity__) ON (n.project_id, n.title_key)",
    ):
        await database.write(text, {})
    with pytest.raises(GraphMisconfiguredError):
        await database.rows("CALL db.awaitIndexes(60)")
    says = (
        "drift_entity_title (RANGE index on :__Entity__(project_id, title_key)) is in state FAILED "
        "and will never answer: drop it (`DROP INDEX drift_entity_title`), then run `python -m "
        "drift prepare`"
    )
    with pytest.raises(GraphMisconfiguredError) as refused:
        await preparer.prepare(DIMENSIONS)
    assert says in refused.value.detail
    readiness = (await Neo4jGraph(database).health()).readiness(DIMENSIONS)
    assert (readiness.serves, says in readiness.reason) == (False, True)
    await database.write("DROP INDEX drift_entity_title", {})
    await preparer.prepare(DIMENSIONS)
    assert (await Neo4jGraph(database).health()).readiness(DIMENSIONS).is_ok
