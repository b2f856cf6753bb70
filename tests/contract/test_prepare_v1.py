"""What preparing promises for graphs without tenants.

Labels, keys and indexes are added, and nothing is taken away.
"""

from __future__ import annotations

import pytest

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.graph.graph import Neo4jGraph
from drift.local.prepare.preparer import Neo4jPreparer
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_entities_of_chunks,
    add_ferries,
    database,
    rows,
)
from tests.contract.graph_backends import ask_followup

__all__ = ["database"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

SIMPLE_KG = """
CREATE (d:Document {path: 'ferries.txt'})
WITH d UNWIND range(1, 3) AS i
CREATE (k:Chunk {
  id: 'k' + i, index: i, text: 'Ferry ' + i + ' leaves at noon.', embedding: [1.0, 0.0, 0.0, i]
})-[:FROM_DOCUMENT]->(d)
WITH collect(k) AS chunks
FOREACH (i IN [0, 1] |
  FOREACH (a IN [chunks[i]] | FOREACH (b IN [chunks[i + 1]] | CREATE (a)-[:NEXT_CHUNK]->(b))))
WITH chunks[0] AS first
CREATE (:__KGBuilder__:__Entity__:Ship {name: 'Ferry 1'})-[:FROM_CHUNK]->(first),
  (:__KGBuilder__:Ship {name: 'Pier'})-[:FROM_CHUNK]->(first)
"""
"""As neo4j-graphrag's SimpleKGPipeline writes a document; nothing was extracted from its last two
chunks."""


async def test_chunks_and_entities_get_their_labels_keys_and_indexes(database: Connection) -> None:
    await add_entities_of_chunks(database, "Passage")
    report = await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)
    assert report.document()["changed"] == {
        ":__Chunk__": 3,
        ":__Entity__": 6,
        "__Entity__.title_key": 6,
    }
    assert report.created == [
        "drift_entity_title_v1",
        "drift_chunk_id_v1",
        "drift_entity_id_v1",
        "drift_entity_names",
        "graphrag_chunk_fulltext",
        "graphrag_comm_index",
        "graphrag_chunk_index",
    ]
    assert report.document()["problems"] == []
    assert await rows(
        database, "MATCH (n:__Entity__) RETURN DISTINCT n.title_key AS key ORDER BY key"
    ) == [
        ["ferry 1"],
        ["ferry 2"],
        ["ferry 3"],
        ["pier"],
    ]
    found = await ask_followup(
        Neo4jGraph(database, schema=V1), "any", "What of ferry 3?", (1.0, 0.0, 0.0, 3.0)
    )
    assert found.chunks[0].text == "Ferry 3 leaves at noon."


async def test_a_graph_of_simple_kg_pipeline_keeps_its_own_index_and_every_chunk_is_found(
    database: Connection,
) -> None:
    await database.write(SIMPLE_KG, {})
    await database.write(
        "CREATE VECTOR INDEX own FOR (n:Chunk) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}",
        {},
    )
    report = await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)
    assert report.document()["changed"] == {
        ":__Chunk__": 3,
        ":__Entity__": 1,
        "__Entity__.title_key": 2,
    }
    assert report.document()["problems"] == []
    assert await rows(database, "MATCH (n:Chunk:__Chunk__) RETURN count(n)") == [[3]]
    graph = Neo4jGraph(database, schema=V1)
    found = await ask_followup(graph, "any", "?", (1.0, 0.0, 0.0, 1.0))
    assert {(c.id, c.document_name) for c in found.chunks} == {
        (k, "ferries.txt") for k in ("k1", "k2", "k3")
    }
    assert ["own"] in await rows(database, "SHOW VECTOR INDEXES YIELD name")


async def test_a_chunk_that_nothing_came_from_is_known_by_its_document_or_its_neighbour(
    database: Connection,
) -> None:
    await database.write(
        """CREATE (:Passage {text: 'x'})-[:FROM_DOCUMENT]->(:Document {path: 'p'}),
        (:Passage {text: 'x'})-[:NEXT_CHUNK]->(:Passage {text: 'y'}),
        (:Passage {text: 'x'})-[:SEE]->(:Passage {text: 'y'})""",
        {},
    )
    planned = await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS, dry_run=True)
    assert planned.changed[":__Chunk__"] == 3


async def test_a_graph_of_several_projects_is_refused(database: Connection) -> None:
    await add_ferries(database, "north", "south")
    with pytest.raises(
        GraphMisconfiguredError, match=r"2 __Project__ nodes.*leave GRAPH_SCHEMA out"
    ):
        await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)


async def test_chunks_without_text_and_graphs_without_chunks_are_named(
    database: Connection,
) -> None:
    preparer = Neo4jPreparer(database, schema=V1)
    await database.write(
        "CREATE (:A)-[:FROM_CHUNK]->(:Chunk {body: 'x', embedding: [1.0, 2.0, 3.0, 4.0]})", {}
    )
    lacks = r"All __Chunk__ nodes \(1\) lack `text`; the properties there: body, embedding.*changed"
    with pytest.raises(GraphMisconfiguredError, match=lacks):
        await preparer.prepare(DIMENSIONS)
    await database.write("MATCH (n) DETACH DELETE n CREATE (:Lonely)", {})
    expected = r"Expected \(document\)<-\[:`FROM_DOCUMENT`\]-\(chunk {text, embedding}\).*changed"
    with pytest.raises(GraphMisconfiguredError, match=expected):
        await preparer.prepare(DIMENSIONS)
