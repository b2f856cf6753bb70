"""The graphs of other tools are searched as they are: cited from the right chunk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drift.auth.caller import EVERYBODY, Project
from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.cypher.schema import schema_named
from drift.graph.graph import Neo4jGraph
from drift.llm.local_embedder import LocalEmbedder
from drift.llm.local_embedding import DIMENSIONS, embed
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.foreign_questions import titles_cited
from tests.contract.foreign_shapes import SHAPES, TEXTS, write
from tests.contract.graph_backends import ask_followup
from tests.contract.v1_graphs import PROJECT, drop_schema
from tests.model_server_fixture import ModelServerControl

THEIRS = (
    """CREATE VECTOR INDEX vector FOR (n:Chunk) ON (n.embedding) OPTIONS {indexConfig:
  {`vector.dimensions`: 256, `vector.similarity_function`: 'cosine'}}""",
    "CREATE FULLTEXT INDEX keyword FOR (n:Chunk) ON EACH [n.text]",
)
"""Indexes that the tool has made itself, which stay and serve."""

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


@pytest.fixture(autouse=True)
async def _leaves_no_index(database: Connection) -> AsyncIterator[None]:
    """Leave the server to tests whose graphs have projects."""
    yield
    await drop_schema(database)


@pytest.mark.deep
@pytest.mark.parametrize("name", SHAPES)
async def test_a_known_shape_is_prepared_and_searched(
    whole_server: Neo4jServer,
    database: Connection,
    name: str,
    model_server: ModelServerControl,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape, preparer = SHAPES[name], Neo4jPreparer(database, schema=schema_named(name))
    await drop_schema(database)
    await write(database, shape)
    before = await _contents(database)
    found = await preparer.recognise()
    assert schema_named(found.value) == schema_named(name), found
    report = await preparer.prepare(DIMENSIONS)
    if shape.is_bare:
        await preparer.tend(PROJECT, DIMENSIONS, report, embedder=LocalEmbedder())
    assert before <= await _contents(database)  # nothing was renamed, nothing removed
    again = await preparer.prepare(DIMENSIONS)
    assert (again.changed, again.created) == ({}, [])

    graph = Neo4jGraph(database, schema=name, exact_limit=0)
    question = "Is quay four for a boat of ten metres?"
    vector = tuple(float(x) for x in (await asyncio.to_thread(embed, [question]))[0])
    found = await ask_followup(graph, PROJECT, question, vector)
    assert found.chunks[0].text == TEXTS[1]

    deadline, project = Deadline.after(60), Project(PROJECT, EVERYBODY)
    reader = graph.reader()
    held = await reader.overview(project, deadline)
    assert (held.documents, held.chunks, held.communities) == shape.counts
    chunk = await reader.chunk(project, found.chunks[0].id, deadline)
    assert chunk is not None
    assert chunk.text == TEXTS[1]
    assert await titles_cited(whole_server, name, model_server, monkeypatch)


async def test_the_function_answers_from_the_graph_of_another_tool(
    whole_server: Neo4jServer,
    database: Connection,
    model_server: ModelServerControl,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "llm-graph-builder"
    await drop_schema(database)
    await write(database, SHAPES[name])
    for text in THEIRS:
        await database.write(text, {})
    report = await Neo4jPreparer(database, schema=schema_named(name)).prepare(DIMENSIONS)
    assert [one for one in report.created if "chunk_" in one] == ["drift_chunk_id_v1"]
    vector = tuple(float(x) for x in (await asyncio.to_thread(embed, [TEXTS[0]]))[0])
    indexed = Neo4jGraph(database, schema=name, exact_limit=0)
    found = await ask_followup(indexed, PROJECT, "Who is the harbour master?", vector)
    assert (found.chunks[0].text, found.chunks[0].place) == (TEXTS[0], 1)
    mapping = schema_named(name).mapping
    assert mapping is not None
    titles = await titles_cited(whole_server, mapping.document_text(), model_server, monkeypatch)
    assert titles == {"harbour.pdf"}


async def _contents(database: Connection) -> set[str]:
    """Return everything that the graph says, as texts."""
    rows = await database.rows(
        """MATCH (n) UNWIND labels(n) AS label RETURN elementId(n) + ':' + label AS said
UNION MATCH (n) UNWIND keys(n) AS key RETURN elementId(n) + '.' + key AS said
UNION MATCH ()-[r]->() RETURN elementId(r) + type(r) AS said"""
    )
    return {row["said"] for row in rows}
