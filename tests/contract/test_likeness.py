"""What `prepare --like auto` finds out about graphs, and what it refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from drift.auth.caller import EVERYBODY, Project
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.nearest import COSINE, comparable
from drift.graph.cypher.schema import schema_named
from drift.graph.graph import Neo4jGraph
from drift.graph.mapping import read_mapping
from drift.llm.local_embedding import DIMENSIONS, embed
from drift.local.prepare import looking_statements as looking
from drift.local.prepare.findings import Survey
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.prepare.survey import Surveyor
from tests.contract.foreign_shapes import SHAPES, write
from tests.contract.graph_backends import ask_followup
from tests.contract.statements.plans import scans
from tests.contract.statements.profiling import planned
from tests.contract.v1_graphs import PROJECT, drop_schema

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


@pytest.fixture(autouse=True)
async def _leaves_no_index(database: Connection) -> AsyncIterator[None]:
    """Leave the server to tests whose graphs have projects."""
    yield
    await drop_schema(database)


REPEATED = """UNWIND [['one', 1], ['two', 2]] AS pair UNWIND range(0, 2) AS n
WITH pair[0] AS doc, pair[1] AS d, n
CREATE (c:Chunk {id: ':' + n, index: n, text: 'In document ' + doc + ' part ' + n + ' says that '
  + 'berth ' + n + ' costs ' + (n * 7 + d * 100) + ' pounds.', embedding: $vectors[n * 2 + d - 1]})
CREATE (:__Entity__:Berth {id: doc + n, name: ['berth ' + n, 'Berth No. ' + n]})-[:FROM_CHUNK]->(c)
MERGE (h:Document {path: doc + '.md'})
CREATE (c)-[:FROM_DOCUMENT]->(h)"""
TEXTS = [
    f"In document {doc} part {n} says that berth {n} costs {n * 7 + d * 100} pounds."
    for n in range(3)
    for d, doc in ((1, "one"), (2, "two"))
]
ODD = """UNWIND range(0, 1) AS n
CREATE (c:`My Passage` {uuid: 'u' + n, body: 'Quay ' + n + ' is for boats over nine metres.',
  vec: [1.0, n, 0.5]})-[:`is in`]->(d:`A File` {name: 'a.txt'}),
  (t:`A Topic Entity` {uuid: 't' + n, name: 'Quay ' + n})-[:SEEN_IN]->(c),
  (t)-[:BESIDE]->(:`A Topic Entity` {uuid: 'o' + n})"""
NAMES_THAT_MISLEAD = """UNWIND range(0, 3) AS n
MERGE (d:Document {name: 'a.txt', text: 'All of the four parts of the document, and more.'})
MERGE (f:Profile:SourceFile {name: 'main.py'})
CREATE (c:Chunk {id: 'c' + n, text: 'Doctor Ott has cabin ' + n + '.'})-[:PART_OF]->(d),
  (c)-[:MENTIONS]->(:Doctor {name: 'Ott ' + n}), (c)-[:MENTIONS]->(:Identity {name: 'Quay ' + n}),
  (c)-[:MENTIONS]->(f), (c)-[:MENTIONS]->(:SourceFile {name: 'b.py'}),
  (:Identity {name: 'Berth ' + n}), (:Identity {name: 'Boat ' + n})"""
LIGHT_RAG = """CREATE (a:base {entity_id: 'FALK', entity_type: 'person',
  description: 'Harbour master of Nessel, since long', source_id: 'chunk-1'})
  -[:DIRECTED]->(:base {entity_id: 'NESSEL', source_id: 'chunk-1'})"""


@pytest.mark.deep
async def test_ids_that_repeat_between_documents_never_show_anothers_text(
    database: Connection,
) -> None:
    await drop_schema(database)
    vectors = await asyncio.to_thread(embed, TEXTS)
    values = {"vectors": [[float(x) for x in one] for one in vectors]}
    await database.write(REPEATED, values)
    preparer = Neo4jPreparer(database)
    found = await preparer.recognise()
    assert "6 chunks have 3 ids" in found.lines[-1]
    mapping = read_mapping(found.value)
    assert mapping is not None
    assert mapping.id == ""
    assert (await preparer.prepare(DIMENSIONS)).problems == []

    graph = Neo4jGraph(database, schema=found.value)
    vector = tuple(float(x) for x in vectors[3])
    asked = "What does berth 1 of document two cost?"
    chunks = (await ask_followup(graph, PROJECT, asked, vector)).chunks
    assert chunks[0].text == TEXTS[3]
    assert chunks[0].document_name == "two.md"
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    reader, deadline, project = graph.reader(), Deadline.after(60), Project(PROJECT, EVERYBODY)
    for chunk in chunks:
        read = await reader.chunk(project, chunk.id, deadline)
        assert read is not None
        assert read.text == chunk.text
    with pytest.raises(GraphMisconfiguredError, match=r"only 3 different `id`.*--like auto"):
        await Neo4jPreparer(database, schema=schema_named("simple-kg-pipeline")).prepare(DIMENSIONS)
    # By an id that two chunks have, none is found.
    assert await Neo4jGraph(database, schema="v1").reader().chunk(project, ":1", deadline) is None


@pytest.mark.deep
async def test_an_unknown_shape_is_read_by_a_mapping_of_its_own(database: Connection) -> None:
    await drop_schema(database)
    await database.write(ODD, {})
    await database.write("UNWIND range(1, 100) AS n CREATE (:$('L' + n) {x: n})", {})
    preparer = Neo4jPreparer(database)
    found = await preparer.recognise()
    mapping = read_mapping(found.value)
    assert mapping is not None
    assert (mapping.chunk, mapping.text, mapping.id) == ("My Passage", "body", "uuid")
    assert (mapping.embedding, mapping.document, mapping.part_of) == ("vec", "A File", "is in")
    assert (mapping.entity, mapping.mention) == ("A Topic Entity", "<SEEN_IN")
    assert ":My Passage (2), `body`, `vec`" in "\n".join(found.lines)
    await preparer.prepare(3)
    graph = Neo4jGraph(database, schema=found.value)
    [best, *_] = (await ask_followup(graph, PROJECT, "?", (1.0, 1.0, 0.5))).chunks
    assert best.text.startswith("Quay 1")
    assert best.document_name == "a.txt"


async def test_documents_are_told_by_whole_words_and_edges_and_chunks_by_name(
    database: Connection,
) -> None:
    await drop_schema(database)
    await database.write(NAMES_THAT_MISLEAD, {})
    mapping = read_mapping((await Neo4jPreparer(database).recognise()).value)
    assert mapping is not None
    assert (mapping.chunk, mapping.document, mapping.part_of) == ("Chunk", "Document", "PART_OF")
    assert (mapping.entity, mapping.mention) == ("", "MENTIONS")
    await database.write("MATCH (d:Document) DETACH DELETE d", {})
    mapping = read_mapping((await Neo4jPreparer(database).recognise()).value)
    assert mapping is not None
    assert mapping.is_own_document, "what each chunk mentions several of is no document"


async def test_communities_are_told_as_they_are_searched(database: Connection) -> None:
    await drop_schema(database)
    await write(database, SHAPES["langchain"])
    preparer = Neo4jPreparer(database)
    line = "community  none"
    assert (await preparer.recognise()).lines[-1] == line
    await database.write("CREATE (c:__Community__ {id: '1', text: 'Boats'})", {})
    assert "(1), none that is looked at has a `summary`" in (await preparer.recognise()).lines[-1]
    await database.write("MATCH (c:__Community__) SET c.summary = 'Boats of Nessel'", {})
    line = "community  :__Community__ (1), `summary`, by IN_COMMUNITY, nested by IN_COMMUNITY"
    assert (await preparer.recognise()).lines[-1] == line


async def test_documents_of_one_chunk_that_no_edge_tells_are_named(database: Connection) -> None:
    await drop_schema(database)
    await write(database, SHAPES["llm-graph-builder"])
    alone = """CREATE (:Chunk {id: 'alone', text: 'The lamp is electric.', embedding: $vector})
-[:PART_OF]->(:Document {fileName: 'lamp.pdf'}), (:Document {fileName: 'note.pdf', text: 'No.'})"""
    vector = [float(x) for x in (await asyncio.to_thread(embed, TEXTS))[0]]
    await database.write(alone, {"vector": vector})
    report = await Neo4jPreparer(database, schema=schema_named("v1")).prepare(DIMENSIONS)
    (told,) = [one for one in report.document()["problems"] if "alone" in one]
    assert "1 :Chunk nodes with a text are not searched, since no FROM_CHUNK or FROM" in told
    assert "--like auto" in told
    await drop_schema(database)
    report = await Neo4jPreparer(database, schema=schema_named("llm-graph-builder")).prepare(
        DIMENSIONS
    )
    assert not [one for one in report.document()["problems"] if "alone" in one]


async def test_what_cannot_be_read_is_refused_in_a_sentence(database: Connection) -> None:
    preparer = Neo4jPreparer(database)
    await database.write(LIGHT_RAG, {})
    with pytest.raises(GraphMisconfiguredError, match=r"a graph of LightRAG.*drift ingest"):
        await preparer.recognise()
    await write(database, SHAPES["langchain"])
    await write(database, SHAPES["graphiti"])
    with pytest.raises(GraphMisconfiguredError, match="as of graphiti and langchain: set"):
        await preparer.recognise()
    await database.write("MATCH (n) DETACH DELETE n", {})
    for name in ("llama-index", "llm-graph-builder"):  # both call their chunks Chunk
        await write(database, SHAPES[name])
    with pytest.raises(GraphMisconfiguredError, match="llama-index and llm-graph-builder: set"):
        await preparer.recognise()
    await database.write("MATCH (n) DETACH DELETE n", {})
    with pytest.raises(GraphMisconfiguredError, match="labels there: none"):
        await preparer.recognise()


async def test_a_mapping_of_what_is_not_there_is_refused_and_makes_no_index(
    database: Connection,
) -> None:
    await drop_schema(database)
    await write(database, SHAPES["llm-graph-builder"])
    for value, said in {
        '{"chunk": "Nope"}': "chunk 'Nope'",
        '{"chunk": "Chunk", "document": "Tome", "mention": "IN"}': "document 'Tome', mention 'IN'",
        '{"chunk": "Chunk", "text": "body"}': r"All Chunk nodes \(3\) lack `body`",
        "graphiti": "No chunk was found. Expected .chunk:Episodic",
        "default": "No chunk was found.*--like auto",
    }.items():
        with pytest.raises(GraphMisconfiguredError, match=f"{said}.*Nothing was changed"):
            await Neo4jPreparer(database, schema=schema_named(value)).prepare(DIMENSIONS)
    assert not await database.rows("SHOW INDEXES YIELD type WHERE type <> 'LOOKUP' RETURN type")


@pytest.mark.deep
async def test_a_graph_that_changes_meanwhile_and_ids_that_repeat_are_named(
    database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drop_schema(database)
    await write(database, SHAPES["llm-graph-builder"])
    await database.write(
        """MATCH (q:Place {id: 'Quay Four'}), (c:Chunk {id: 'c3'}) SET q.id = 'Crane'
WITH c UNWIND [1, 2] AS n CREATE (c)-[:PART_OF]->(:Document {id: 'same'})""",
        {},
    )
    preparer = Neo4jPreparer(database, schema=schema_named("llm-graph-builder"))
    told = "\n".join((await preparer.prepare(DIMENSIONS)).problems)
    assert "3 __Entity__ nodes have only 2 different `id`: read by such an id, none" in told
    assert "2 Document nodes have only 1 different `id`" in told
    found = await preparer.recognise()
    assert "3 entities have 2 ids" in found.lines[-1]
    assert (await preparer.prepare(DIMENSIONS)).problems == []

    look = Surveyor.look

    async def meanwhile(surveyor: Surveyor) -> Survey:
        survey = await look(surveyor)
        await database.write("MATCH (n:Chunk) REMOVE n:Chunk", {})
        return survey

    monkeypatch.setattr(Surveyor, "look", meanwhile)
    told = (await preparer.prepare(DIMENSIONS)).problems[-1]
    assert told.startswith("The graph changed meanwhile: of 3 Chunk nodes none is left.")
    with pytest.raises(GraphMisconfiguredError, match=r"not there: chunk|No chunk was found"):
        await preparer.prepare(DIMENSIONS)


async def test_vectors_of_the_type_vector_are_compared(database: Connection) -> None:
    # A server of the Community Edition knows the type and stores none of it.
    text = f"""CYPHER 25 WITH [vector($vector, 3, FLOAT32), 1][0] AS embedding
RETURN {comparable()} AS is_one, {COSINE} AS cosine"""
    for dimensions, is_one in ((3, True), (4, False)):
        values = {"vector": [1.0, 2.0, 3.0], "dimensions": dimensions, "careful": True}
        try:
            (row,) = await database.rows(text, values)
        except GraphMisconfiguredError:
            pytest.skip("this server has no type VECTOR")
        assert row["is_one"] is is_one
        assert row["cosine"] == pytest.approx(1.0)


async def test_a_title_of_any_length_and_a_list_of_names_keep_no_index_from_coming(
    database: Connection,
) -> None:
    await drop_schema(database)
    await write(database, SHAPES["ms-graphrag-neo4j"])
    await database.write(
        """UNWIND [100, 8000, 8164, 8165, 20000] AS n MATCH (c:__Chunk__ {id: 'a1'})
CREATE (c)-[:MENTIONS]->(:__Entity__ {name: reduce(s = '', i IN range(1, n) | s + "a")})
CREATE (c)-[:MENTIONS]->(:__Entity__ {name: ['abc ' + n, 'x']})""",
        {},
    )
    preparer = Neo4jPreparer(database, schema=schema_named("ms-graphrag-neo4j"))
    report = await preparer.prepare(DIMENSIONS)
    assert "drift_entity_title_v1" in report.created
    assert await database.rows("MATCH (e:__Entity__ {title_key: 'abc 20000'}) RETURN e.name")
    again = await preparer.prepare(DIMENSIONS)
    assert (again.changed, again.created) == ({}, [])
    bare = [one for one in again.document()["problems"] if "no embedding" in one]
    assert len(bare) == 2, again.document()["problems"]
    assert "__Chunk__ nodes (3)" in bare[0]
    assert "--embed" in bare[0]


@pytest.mark.parametrize("count", [looking.count_labels, looking.count_types])
async def test_counts_are_those_that_the_server_keeps(
    database: Connection, count: Callable[[list[str]], str]
) -> None:
    assert not scans(await planned(database, count(["A", "B"])))
