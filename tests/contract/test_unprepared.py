"""A graph that nobody prepared, or that grew since, is named as such and never called empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from neo4j import EagerResult

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher.schema import V1
from drift.graph.graph import Neo4jGraph
from drift.graph.unprepared import prepare_project
from drift.local.prepare import unseen
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.prepare.unseen import whole_health
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.health import Level
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_entities_of_chunks,
    add_ferries,
    preparer,
)
from tests.contract.foreign_graphs import (
    prepared as database,
)
from tests.contract.graph_backends import ask_followup, ask_primer
from tests.contract.v1_graphs import drop_schema

__all__ = ["database", "preparer"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

VECTOR = (1.0, 0.0, 0.0, 2.0)

SEED_INDEX = """CREATE VECTOR INDEX graphrag_comm_index IF NOT EXISTS
FOR (c:__Community__) ON (c.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: 4, `vector.similarity_function`: 'COSINE'}}"""


class Counting(Connection):
    """Counts the statements that read."""

    reads = 0

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        self.reads += 1
        return await super().read(text, parameters, timeout_s)


async def assert_names(graph: Neo4jGraph, project: str, says: str) -> None:
    """Assert that a search is refused with what to run."""
    with pytest.raises(GraphMisconfiguredError) as refused:
        await ask_primer(graph, project, VECTOR)
    assert says in refused.value.detail, refused.value.detail


async def test_vectors_of_zeros_are_counted(database: Connection) -> None:
    await add_ferries(database, "north")
    graph = Neo4jGraph(database)
    assert "zeros" not in (await whole_health(graph)).readiness(DIMENSIONS).reason
    for zeros, number in (([0.0] * DIMENSIONS, 1), ([1e-38] * DIMENSIONS, 1)):
        await database.write(
            "MATCH (ch:__Chunk__) WITH ch LIMIT 1 SET ch.embedding = $zeros", {"zeros": zeros}
        )
        said = (await whole_health(graph)).readiness(DIMENSIONS)
        assert f"{number} chunks or more have a vector of zeros alone" in said.reason


# ----------------------------------------------------------------------------------------- searches
async def test_a_project_that_came_by_edges_alone_is_named_until_it_is_prepared(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    asked = "south of it's end"
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    await add_ferries(database, asked)
    graph = Neo4jGraph(database)
    command = prepare_project(asked)

    assert await ask_primer(graph, "north", VECTOR)
    assert await ask_primer(graph, "nobody", VECTOR) == ()
    assert command.startswith("run `python -m drift prepare --project ")
    await assert_names(graph, asked, command)

    await preparer.prepare(DIMENSIONS)
    assert await ask_primer(graph, asked, VECTOR)


async def test_a_project_in_which_nothing_has_an_embedding_is_told_to_embed(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north", "south")
    await preparer.prepare(DIMENSIONS)
    await database.write(
        """MATCH (n) REMOVE n.embedding WITH n
        WHERE n.project_id = 'north' AND n:__Community__ OR n.project_id = 'south' AND n:__Chunk__
        DETACH DELETE n""",
        {},
    )
    for project in ("north", "south"):
        await assert_names(Neo4jGraph(database), project, f"prepare --project {project}`")
        await assert_names(Neo4jGraph(database), project, "with `--embed` it gives vectors")


async def test_only_a_search_that_found_nothing_asks_twice(
    database: Connection, preparer: Neo4jPreparer, whole_server: Neo4jServer
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    server = whole_server
    async with Counting(server.uri, server.user, server.password, server.database) as counting:
        graph = Neo4jGraph(counting)
        await ask_primer(graph, "north", VECTOR)
        counting.reads = 0
        await ask_primer(graph, "north", VECTOR)
        assert counting.reads == 1
        await ask_primer(graph, "nobody", VECTOR)
        assert counting.reads == 3, "the search, and what is there instead"


async def test_without_projects_what_has_no_label_is_named_and_an_empty_graph_is_empty(
    database: Connection,
) -> None:
    await drop_schema(database)
    graph = Neo4jGraph(database, schema=V1)
    assert await ask_primer(graph, "any", VECTOR) == ()
    await add_entities_of_chunks(database, chunk="Chunk")
    await assert_names(graph, "any", "run `python -m drift prepare`")
    await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)
    assert (await ask_followup(graph, "any", "?", VECTOR)).chunks


# ------------------------------------------------------------------------------------------- health
async def test_readiness_counts_nothing_and_doctor_says_how_many_nodes_no_search_sees(
    database: Connection, preparer: Neo4jPreparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    graph = Neo4jGraph(database)
    assert (await whole_health(graph)).readiness(DIMENSIONS).is_ok
    await add_ferries(database, "south")
    assert (await graph.health()).readiness(DIMENSIONS).is_ok
    readiness = (await whole_health(graph)).readiness(DIMENSIONS)
    assert readiness.level is Level.DEGRADED
    assert readiness.reason == (
        "3 of the __Document__ nodes have no `project_id`, so that no request finds them; "
        "3 of the __Chunk__ nodes have no `project_id`, so that no request finds them; "
        "3 of the __Entity__ nodes have no `project_id`, so that no request finds them; "
        "4 of the __Community__ nodes have no `project_id`, so that no request finds them: "
        "run `python -m drift prepare`"
    )

    monkeypatch.setattr(unseen, "COUNTED_NODES", 7)
    some = (await whole_health(graph)).lacking
    assert [lack.name for lack in some] == ["__Document__", "__Chunk__", "__Entity__"]
    await preparer.prepare(DIMENSIONS)
    assert (await whole_health(graph)).readiness(DIMENSIONS).is_ok


# ------------------------------------------------------------------------------- graphs of others
async def test_communities_that_carry_an_id_alone_are_asked(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    text = "MATCH (c:__Community__) SET c.id = 'c' + c.community REMOVE c.community"
    await database.write(text, {})
    found = await ask_primer(Neo4jGraph(database), "north", VECTOR)
    assert found
    assert {str(community.id)[:1] for community in found} == {"c"}


async def test_a_question_of_another_embedding_model_is_refused_by_both_names(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    stored, other = "text-embedding-3-small", "nomic-embed-text"
    text = "MERGE (p:__Project__ {id: 'north'}) SET p.embedding_models = [$model]"
    await database.write(text, {"model": stored})
    same = Neo4jGraph(database, embedding_model="Text-Embedding-3-Small")
    assert await ask_primer(same, "north", VECTOR)

    graph = Neo4jGraph(database, embedding_model=other)
    await assert_names(graph, "north", f"made by {stored}, and the question's by {other}")
    ready = str((await whole_health(graph)).readiness(DIMENSIONS))
    assert f"not by the questions' {other}" in ready
