"""What preparing a graph from elsewhere refuses before anything is changed.

And what it reports, and leaves as it is.
"""

from __future__ import annotations

import re

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.local.prepare.preparer import Neo4jPreparer
from drift.model.found_nodes import NodesQuery
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_ferries,
    cut_edges,
    database,
    everything,
    preparer,
    rows,
)

__all__ = ["database", "preparer"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


# ----------------------------------------------------------------------------------------- refusals
REFUSED = {
    "contradiction": (
        "MATCH (n {id: 'k1'}) SET n.project_id = 'south'",
        (
            r"The `project_id` of some __Chunk__ nodes \(1\) contradicts .*'k1' "
            r"\(property 'south', edge to 'north'\)"
        ),
    ),
    "two chunks of one id": (
        "MATCH (n {id: 'k2'}) SET n.id = 'k1'",
        (
            r"Two or more __Chunk__ nodes of one project have the same `id` "
            r"\(1 of them, on 2 nodes\): 'k1' in 'north'\. Remove or rename"
        ),
    ),
    "two projects of one id": (
        "CREATE (:__Project__ {id: 'north'})",
        r"Two or more __Project__ nodes have the same `id`",
    ),
    "embeddings of another length": (
        "MATCH (n:__Chunk__) SET n.embedding = [1.0, 2.0]",
        (
            r"all __Chunk__ nodes that have one \(3\) are of 2 floats, but "
            r"VECTOR_INDEX_DIMENSIONS is 4"
        ),
    ),
    "a vector index of another length": (
        (
            "CREATE VECTOR INDEX graphrag_chunk_index FOR (n:__Chunk__) ON (n.embedding) OPTIONS "
            "{indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"
        ),
        r"graphrag_chunk_index has 8 dimensions, but 4 are wanted",
    ),
    "a vector index of another measure": (
        (
            "CREATE VECTOR INDEX graphrag_comm_index FOR (n:__Community__) ON (n.embedding) "
            "OPTIONS {indexConfig: {`vector.dimensions`: 4, "
            "`vector.similarity_function`: 'euclidean'}}"
        ),
        r"(?i)graphrag_comm_index compares by euclidean",
    ),
    "a vector index of another name": (
        (
            "CREATE VECTOR INDEX theirs FOR (n:__Chunk__) ON (n.embedding) OPTIONS {indexConfig: "
            "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}"
        ),
        (
            r"graphrag_chunk_index does not exist, and theirs stands in its place .* set "
            r"CHUNK_VECTOR_INDEX_NAME to theirs"
        ),
    ),
    "a full-text index of another name": (
        (
            "CREATE FULLTEXT INDEX texts FOR (n:__Chunk__) "
            "ON EACH [n.text, n.project_key, n.heading, n.name_words]"
        ),
        (
            r"graphrag_chunk_fulltext does not exist, and texts stands in its place .* set "
            r"CHUNK_FULLTEXT_INDEX_NAME"
        ),
    ),
    "a full-text index that lacks the tenant": (
        "CREATE FULLTEXT INDEX graphrag_chunk_fulltext FOR (n:__Chunk__) ON EACH [n.text]",
        (
            r"graphrag_chunk_fulltext is the name of a FULLTEXT index on :__Chunk__\(text\), where "
            r"a FULLTEXT index on :__Chunk__\(text, project_key\)"
        ),
    ),
    "our name on another place": (
        "CREATE INDEX drift_chunk_project FOR (n:Other) ON (n.name)",
        r"drift_chunk_project is the name of a RANGE index on :Other\(name\)",
    ),
    "an index where a key is needed": (
        "CREATE INDEX plain FOR (n:__Chunk__) ON (n.project_id, n.id)",
        (
            r"The index plain stands where a key on :__Chunk__\(project_id, id\) is needed: drop "
            r"that index"
        ),
    ),
}

CLASHING = ("a vector index of another name", "a full-text index that lacks the tenant")
"""What cannot stand beside the others."""


@pytest.mark.parametrize("apart", [("two chunks of one id",), CLASHING, ()])
async def test_what_forbids_preparing_is_all_named_before_anything_is_changed(
    database: Connection, preparer: Neo4jPreparer, apart: tuple[str, ...]
) -> None:
    cases = apart or [case for case in REFUSED if case not in {"two chunks of one id", *CLASHING}]
    await add_ferries(database, "north")
    for case in cases:
        await database.write(REFUSED[case][0], {})
    await database.write("CALL db.awaitIndexes(60)", {})
    before = await everything(database)
    for dry_run in (True, False):
        with pytest.raises(GraphMisconfiguredError) as refused:
            await preparer.prepare(DIMENSIONS, dry_run=dry_run)
        assert refused.value.detail.endswith("Nothing was changed.")
        for case in cases:
            assert re.search(REFUSED[case][1], refused.value.detail), case
    assert await everything(database) == before


async def test_a_key_that_comes_twice_only_by_derived_projects_is_named_too(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north")
    await cut_edges(database, "__Entity__")
    await database.write("MATCH (n:__Entity__) SET n.id = 'same'", {})
    with pytest.raises(
        GraphMisconfiguredError,
        match=r"__Entity__ nodes .*'same' in 'north'.*nothing but `project_id`",
    ):
        await preparer.prepare(DIMENSIONS)


# ----------------------------------------------------------------------------------------- problems
ODD_VECTORS = """
MATCH (n:__Chunk__)-[:IN_PROJECT]->(p) SET n.key = p.id + ' ' + n.id WITH collect(n) AS chunks
UNWIND chunks AS n
SET n.embedding = CASE n.key
  WHEN 'north k1' THEN null
  WHEN 'north k2' THEN [1.0]
  WHEN 'south k1' THEN [0.0 / 0.0, 1.0, 1.0, 1.0]
  WHEN 'south k2' THEN [1.0, 1.0, 1.0, -1e300]
  WHEN 'south k3' THEN '[1, 2, 3, 4]'
  ELSE n.embedding
END
WITH DISTINCT 1 AS one
MATCH (:__Project__ {id: 'north'})<-[:IN_PROJECT]-(c:__Community__ {community: 1})
SET c.embedding = [0.0, 0.0, 0.0, 0.0]
WITH DISTINCT 1 AS one
MATCH (c:__Community__ {project_id: 'south', community: 1})
SET c.embedding = null, c.says = false"""
ODD_GRAPH = (
    "MATCH (n:__Chunk__) SET n.body = n.text REMOVE n.text",
    "MATCH ()-[r:HAS_ENTITY]->() DELETE r",
    "CREATE (:__Project__)",
    "MATCH (n {id: 'k1'})-[r:IN_PROJECT]->() SET n.project_id = 7 DELETE r",
    "CREATE CONSTRAINT theirs FOR (n:__Chunk__) REQUIRE n.id IS UNIQUE",
)
PROBLEMS = {
    ("north", "south"): (
        (ODD_VECTORS,),
        (
            r"Some __Chunk__ nodes \(1 of 6\) have no embedding: 'k1'\.",
            r"Some __Chunk__ nodes \(1 of 6\) have an embedding of 1 floats instead of 4: 'k2'",
            r"Some __Community__ nodes \(1 of 8\) have an embedding of zeros alone: '1'",
            r"Some __Chunk__ nodes \(2 of 6\) have an embedding with NaN, infinity or .* in it",
            r"Some __Chunk__ nodes \(1 of 6\) have an embedding that is no list of numbers: 'k3'",
        ),
    ),
    ("north",): (
        ODD_GRAPH,
        (
            r"All __Chunk__ nodes \(3\) lack `text`; the properties there: body, embedding, id",
            r"There are __Entity__ nodes \(3\), but no HAS_ENTITY edge",
            r"Some __Project__ nodes \(1 of 2\) lack `id`",
            r"The `project_id` of some __Chunk__ nodes \(1\) is no text.*'k1' \(property '7'\)",
            r"The constraint behind theirs makes `id` of __Chunk__ unique over all projects",
        ),
    ),
}


@pytest.mark.parametrize("projects", PROBLEMS)
async def test_what_the_searches_will_miss_is_counted_with_examples(
    database: Connection, preparer: Neo4jPreparer, projects: tuple[str, ...]
) -> None:
    changes, says = PROBLEMS[projects]
    await add_ferries(database, *projects)
    for text in changes:
        await database.write(text, {})
    problems = (await preparer.prepare(DIMENSIONS, dry_run=True)).document()["problems"]
    for said in says:
        assert len([one for one in problems if re.search(said, one)]) == 1, problems
    assert len(problems) == len(says)


async def test_a_graph_without_chunks_is_told_what_was_expected_and_what_is_there(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await database.write("CREATE (:Chunk {body: 'x'})-[:PART_OF]->(:Book)", {})
    with pytest.raises(GraphMisconfiguredError) as refused:
        await preparer.prepare(DIMENSIONS)
    said = refused.value.detail
    assert "Expected (document:__Document__)-[:`HAS_CHUNK`]->(chunk:__Chunk__ {text," in said
    assert "Chunk (1)" in said
    assert "prepare --like auto` tells how it is read; else check NEO4J_DATABASE" in said
    assert said.endswith("Nothing was changed.")


async def test_a_vector_index_of_entities_that_others_made_stays_as_it_is(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await database.write(
        "CREATE VECTOR INDEX theirs FOR (n:__Entity__) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}",
        {},
    )
    report = await preparer.prepare(DIMENSIONS)
    assert report.document()["problems"] == []
    assert "drift_entity_index" not in report.created
    listed = "SHOW INDEXES YIELD name, labelsOrTypes WHERE labelsOrTypes = ['__Entity__']"
    names = {name for (name,) in await rows(database, f"{listed} RETURN name")}
    assert "theirs" in names
    assert "drift_entity_index" not in names

    # It has another length than the questions' vectors, so the entities are scored without it.
    finder = Neo4jGraph(database).finder()
    await database.write(
        "CREATE (:__Entity__ {project_id: 'p', id: 'e', title: 'E', embedding: $v})",
        {"v": [1.0] + [0.0] * (DIMENSIONS - 1)},
    )
    query = NodesQuery("p", (1.0,) + (0.0,) * (DIMENSIONS - 1), ("Entity",))
    found = await finder.nearest_nodes(query, Deadline.after(120))
    assert [node.id for node in found.nodes] == ["e"]
    await database.write("DROP INDEX theirs", {})
