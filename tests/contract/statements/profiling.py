"""Every statement run with PROFILE, with the parameters that the adapters really send.

The database is emptied first, schema and all: the first plans are those of a first ingestion.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pytest
from neo4j import AsyncManagedTransaction, EagerResult

from drift.auth.caller import EVERYBODY
from drift.contracts.filter import Filter
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph import inventory
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher.legs import EARLIER
from drift.graph.cypher.node_writing import LABELLED, MARKED
from drift.graph.cypher.schema import DEFAULT, V1, Schema
from drift.graph.cypher.vector_copy import ALL_ROWS, ROWS_OF
from drift.graph.graph import Neo4jGraph
from drift.graph.node_finder import LABELS
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.reader import Neo4jReader
from drift.graph.writing import documents as neo4j_project
from drift.graph.writing.records import ModelReply, RelationRecord
from drift.indexing.indexer import Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.exchange import facts, transfer
from drift.local.exchange.differences import ProjectDifferences
from drift.local.ingest.neo4j.knowledge_statements import DOCUMENT_EDGES
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.retrieval.documents import DocumentFinder
from drift.local.retrieval.held_passages import saying
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.found_nodes import NodesQuery, ScoreThreshold
from drift.model.graph import Beside, FollowupQuery, Position, PrimerQuery, WholeQuery
from drift.model.nodes import Embedded, OwnNode
from drift.model.passages import PassagesQuery
from drift.model.reading import PageQuery
from drift.nodes.threshold import pairs
from tests.contract import v1_graphs
from tests.contract.bulk_load import load, remove
from tests.contract.graph_backends import DIMENSIONS, context
from tests.contract.random_projects import VECTORS, Contents, Shape, pair
from tests.contract.statements.catalogue import NAMES, STATEMENTS, is_schema, is_search
from tests.contract.statements.plans import Plan, hits
from tests.fakes_vectors import InMemoryVectors

PATIENCE_S = 60.0
MINE, BESIDE = "mine", "mine-b"
SIZE = Shape(seed=5, chunks=300, entities=120, levels=3, hub=True)
TENFOLD = Shape(seed=6, chunks=3000, entities=40, levels=3, hub=True)
TARGETS = (0, 1, 2, 3)
"""Communities of a tree from its top on: some are inside others."""
ASKED = (
    ("what has the alder birch to do with the hub, cedar and name 3?", TARGETS),
    ("zephyr or basalt, by Title of d0?", TARGETS),
    ("what?", ()),
)

WISH = (Beside(pair(SIZE)[0].documents.chunks[0].id, "after"),)

Way = tuple[Literal["soft", "hard"], int | None]
"""The scope of follow-ups, and the limit up to which a project is scored exactly."""
EXACT: tuple[Way, ...] = (("soft", None), ("hard", None))
WAYS: tuple[Way, ...] = (*EXACT, ("soft", 0))


@dataclass
class Measured:
    """What one server says: plans on the empty database, and profiles.

    `growth` holds costs before and after the project beside grew.
    """

    planned: dict[str, Plan] = field(default_factory=dict)
    profiled: dict[str, list[Plan]] = field(default_factory=dict)
    growth: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)

    def keep(self, profiler: Profiler) -> None:
        """Sort what was profiled by the statements' names, and begin anew."""
        self.sent |= profiler.profiles.keys()
        for name, text in STATEMENTS.items():
            if text in profiler.profiles:
                self.profiled.setdefault(name, []).extend(profiler.profiles[text])
        profiler.profiles.clear()
        profiler.parameters.clear()


class Profiler(Connection):
    """Runs every statement with PROFILE, but those about the schema.

    It keeps their parameters and profiles.
    """

    def __init__(self, server: Neo4jServer) -> None:
        super().__init__(server.uri, server.user, server.password, server.database)
        self.profiles: defaultdict[str, list[Plan]] = defaultdict(list)
        self.parameters: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        result = await super().read(_profiling(text), parameters, max(timeout_s, PATIENCE_S))
        return self._kept(text, parameters, result)

    async def write(self, text: str, parameters: Mapping[str, Any]) -> EagerResult:
        return self._kept(text, parameters, await super().write(_profiling(text), parameters))

    async def _statement(
        self, transaction: AsyncManagedTransaction, text: str, parameters: Mapping[str, Any]
    ) -> EagerResult:
        return self._kept(
            text, parameters, await super()._statement(transaction, _profiling(text), parameters)
        )

    def _kept(self, text: str, parameters: Mapping[str, Any], result: EagerResult) -> EagerResult:
        if result.summary.profile is not None:
            self.profiles[text].append(result.summary.profile)
            self.parameters[text].append(parameters)
        return result


def _profiling(text: str) -> str:
    return text if is_schema(text) else f"PROFILE {text}"


async def measure(server: Neo4jServer) -> Measured:
    """Return what the server says about every statement of the catalogue that it understands."""
    measured = Measured()
    plain = Connection(server.uri, server.user, server.password, server.database)
    async with plain, Profiler(server) as profiler:
        await clear(plain)
        await Neo4jWriter(profiler, NAMES).prepare(DIMENSIONS)
        await Neo4jNodeStore(profiler).prepare(DIMENSIONS)
        await _plan(plain, measured)
        await _write(profiler)
        await load(plain, {BESIDE: pair(SIZE)[1]})
        await _index(profiler)
        await _write_own_nodes(profiler)
        await _exchange(plain, profiler)
        await _read(profiler, DEFAULT)
        await Neo4jGraph(profiler, NAMES).primer(
            PrimerQuery("nobody", (), VECTORS[0], 1), Deadline.after(PATIENCE_S)
        )
        await _read_within(profiler)
        await _read_other_forms(profiler)
        await _find_documents(profiler)
        await _follow(profiler)
        await _look_around(profiler, DEFAULT)
        measured.keep(profiler)
        measured.growth = await _grown(plain, profiler)
        await clear(plain)
        await _load_v1(plain)
        await plain.write(
            "CREATE (d:Document {title: 'Title of d0'}) WITH d MATCH (ch:__Chunk__) "
            "CREATE (ch)-[:FROM_DOCUMENT]->(d)",
            {},
        )
        # A server knows the types of what was there before too; the catalogue has them unnamed.
        with pytest.MonkeyPatch.context() as unnamed:
            unnamed.setattr(inventory, "MOST_TYPES", -1)
            await _read(profiler, V1)
            await _look_around(profiler, V1)
        measured.keep(profiler)
        await clear(plain)
    return measured


async def clear(connection: Connection) -> None:
    """Empty the database, schema and all."""
    await connection.write("MATCH (n) CALL (n) { DETACH DELETE n }", {})
    for kind, which in (
        ("CONSTRAINT", "SHOW CONSTRAINTS YIELD *"),
        ("INDEX", "SHOW INDEXES YIELD * WHERE type <> 'LOOKUP'"),
    ):
        listed = await connection.read(f"{which} RETURN name", {})
        for record in listed.records:
            await connection.write(f"DROP {kind} `{record['name']}`", {})


async def _plan(connection: Connection, measured: Measured) -> None:
    """Plan everything but what only searches, which finds no empty database worth a plan."""
    for name, text in STATEMENTS.items():
        if is_schema(text) or is_search(name):
            continue
        try:
            measured.planned[name] = await planned(connection, text)
        except GraphMisconfiguredError as error:
            measured.refused[name] = str(error.__cause__)


async def planned(connection: Connection, text: str) -> Plan:
    """Return the plan of a statement; its parameters need no value to be planned."""
    result = await connection.read(
        f"EXPLAIN {text}", dict.fromkeys(re.findall(r"\$(\w+)", text)), PATIENCE_S
    )
    assert result.summary.plan is not None
    return result.summary.plan


async def _write(profiler: Profiler) -> None:
    """Ingest, ingest again with fewer chunks and less knowledge, and remove a document."""
    writer, contents = Neo4jWriter(profiler, NAMES), _with_embedded_entities(pair(SIZE)[0])
    for part in (contents, _less(contents)):
        await writer.write_documents(MINE, part.documents)
        members, _ = await writer.read_members(MINE)
        await writer.read_chunks(MINE, members, DIMENSIONS)
        await writer.held_chunks(MINE, [d.id for d in part.documents.documents], "")
        await writer.read_topics(MINE, "")
        await writer.write_knowledge(MINE, part.knowledge)
        await writer.project_state(MINE)
    with pytest.MonkeyPatch.context() as small:
        small.setattr(neo4j_project, "CHUNKS_AT_ONCE", 1)
        await writer.write_documents(MINE, contents.documents)
    await writer.remove_documents(MINE, [contents.documents.documents[0].id])
    await writer.write_documents(MINE, contents.documents)
    await writer.write_knowledge(MINE, contents.knowledge)
    replies = [ModelReply("report/1", "m", (str(n),), "{}") for n in range(SIZE.chunks)]
    async with writer.writing(MINE) as own:
        await own.keep_replies(replies)
        await own.drop_replies([reply.key for reply in await writer.read_replies(MINE)])
        first, second = (document.id for document in contents.documents.documents[:2])
        await own.relocate({first: ("renamed", "another source")})
        await own.switch([second], on=False)
        await writer.read_texts_off(MINE)
        await own.switch([second], on=True)
        await own.keep_skipped([])
        await own.compare(contents.knowledge)
    await writer.read_entity_vectors(MINE, "")
    await writer.keep_threshold(MINE, ScoreThreshold(0.5, 500, DIMENSIONS))
    await writer.kept_threshold(MINE)


async def _index(profiler: Profiler) -> None:
    """Add, change and remove one document, as a program does."""
    model = LocalEmbedder()
    index = Indexer(profiler, MINE, model, "wordllama-256", DIMENSIONS, NAMES)
    for text in ("# Ferry\n\nIt leaves at noon.", "# Ferry\n\nIt leaves at one."):
        await index.add("ferry.md", text)
    await index.remove("ferry.md")


async def _write_own_nodes(profiler: Profiler) -> None:
    """Make, change, embed and remove a node of people's own."""
    store, deadline = Neo4jNodeStore(profiler), Deadline.after(PATIENCE_S)
    mine, vector = EVERYBODY.project(MINE, "write"), Embedded(VECTORS[0], "wordllama-256", "h")
    node = OwnNode("ada", "Person", {"name": "Ada", "description": "Wrote the first program."})
    await store.create_node(mine, node, vector, deadline)
    await store.replace_node(mine, node, vector, "", deadline)
    await store.require_free(MINE)
    marked = [one async for one in store.labelled(MINE, node.label, "marked")]
    await store.put(MINE, [(one, vector) for one in marked], deadline)
    about = {"project_id": MINE, "label": node.label, "adopts": True, "vector": "embedding"}
    for text in (MARKED, LABELLED):  # what is streamed is not profiled
        await profiler.read(text, {**about, "text_hash": "embedding_hash"})
    await store.remove_node(mine, node.id, deadline)


async def _exchange(plain: Connection, profiler: Profiler) -> None:
    """Look at a project as a whole, copy it by a folder, mend the copy, and delete that."""
    writer, copy = Neo4jWriter(profiler, NAMES), f"{MINE}-c"
    off = [document.id for document in pair(SIZE)[0].documents.documents[::2]]
    earlier = {"project_id": MINE, "id": "e", "embedding_hash": "h", "embedding_model": "m"}
    await plain.write(f"CREATE (n:{EARLIER}) SET n = $earlier", {"earlier": earlier})
    async with writer.writing(MINE) as own:
        await own.switch(off, on=False)
        await own.keep_replies([ModelReply("report/1", "m", (str(n),), "{}") for n in range(9)])
    await writer.held_projects()
    await facts.project_facts(MINE, writer)
    await facts.held_documents(MINE, profiler)
    await facts.would_go(MINE, None, profiler)
    with TemporaryDirectory() as place:
        folder = Path(place) / "out"
        await transfer.export_project(MINE, folder, writer, str)
        await transfer.restore_project(folder, copy, writer, DIMENSIONS, str)
    await plain.write(
        "MATCH (d:__Document__ {project_id: $p})-[r:HAS_CHUNK]->() DELETE r", {"p": copy}
    )
    await ProjectDifferences(copy, context(writer, "m")).found()
    await transfer.delete_project(copy, writer, str)
    async with writer.writing(MINE) as own:
        await own.switch(off, on=True)


def _with_embedded_entities(contents: Contents) -> Contents:
    """No search needs their vectors, but a writer stores them, as of what documents define."""
    labels = cycle(DOCUMENT_EDGES)
    embedded = tuple(
        replace(e, embedding=VECTORS[0], label=next(labels)) for e in contents.knowledge.entities
    )
    return replace(contents, knowledge=replace(contents.knowledge, entities=embedded))


def _less(contents: Contents) -> Contents:
    """The same documents with fewer chunks, entities and relations.

    What is stale then has to go.
    """
    documents, knowledge = contents.documents, contents.knowledge
    return Contents(
        replace(documents, chunks=documents.chunks[::2]),
        replace(knowledge, entities=knowledge.entities[::2], communities=knowledge.communities[:4]),
    )


async def _read(profiler: Profiler, schema: Schema, ways: tuple[Way, ...] = WAYS) -> None:
    """Ask in each of these ways; how a follow-up is scoped changes no primer."""
    voters = tuple(chunk.id for chunk in pair(SIZE)[0].documents.chunks[:30])
    for scope, limit in ways:
        store = Neo4jGraph(profiler, NAMES, scope, limit, schema)
        for vector, top_k in ((VECTORS[0], 1), (VECTORS[9], 8)) if scope == "soft" else ():
            primed = PrimerQuery(MINE, voters, vector, top_k)
            await store.primer(primed, Deadline.after(PATIENCE_S))
        for question, targets in ASKED:
            query = FollowupQuery(
                MINE, question, VECTORS[0], targets, WISH, position=Position("end")
            )
            for asked in (query, replace(query, beside=(), position=None)):
                await store.followup(asked, Deadline.after(PATIENCE_S))

    if schema.has_projects:
        await store.has_topics(MINE, Deadline.after(PATIENCE_S))
        await store.topics(PrimerQuery(MINE, voters, VECTORS[0], 5), Deadline.after(PATIENCE_S))


async def _read_within(profiler: Profiler) -> None:
    """Read what a filter leaves: all but one document."""
    deadline, mine, contents = Deadline.after(PATIENCE_S), EVERYBODY.project(MINE), pair(SIZE)[0]
    documents, chunks = contents.documents.documents, contents.documents.chunks
    reader, ids = Neo4jReader(profiler, DEFAULT), tuple(chunk.id for chunk in chunks[:30])
    only = Filter(type="ne", key="document_id", value=documents[0].id)
    allowed = await reader.allowed(MINE, only, deadline)
    for limit in (None, 0):
        store = Neo4jGraph(profiler, NAMES, "soft", limit).within(allowed)
        await store.primer(PrimerQuery(MINE, ids, VECTORS[0], 8), deadline)
        for question, targets in ASKED:
            query = FollowupQuery(MINE, question, VECTORS[0], targets, WISH)
            await store.followup(replace(query, position=Position("end")), deadline)
        finder = Neo4jGraph(profiler, NAMES, exact_limit=limit).finder().within(allowed)
        await finder.nearest_nodes(NodesQuery(MINE, VECTORS[0]), deadline)

    await store.topics(PrimerQuery(MINE, ids, VECTORS[0], 5), deadline)
    passages = Neo4jGraph(profiler, NAMES).passages().within(allowed)
    await passages.passages(PassagesQuery(MINE, ids, VECTORS[0]), deadline)
    await passages.around(PassagesQuery(MINE, ids, VECTORS[0]), deadline)
    await passages.whole(WholeQuery(MINE, VECTORS[0]), deadline)
    reader = reader.within(allowed)
    await reader.overview(mine, deadline)
    await reader.filter_keys(mine, deadline)
    await reader.largest(mine, deadline)
    await reader.about(MINE, deadline)
    await reader.version(mine, deadline)
    await reader.documents(mine, PageQuery(2), deadline)
    await reader.communities(mine, 0, PageQuery(2), deadline)
    await reader.document(mine, documents[1].id, PageQuery(2), deadline)
    await reader.chunk(mine, ids[1], deadline)
    await reader.entity(mine, contents.knowledge.entities[0].id, 5, deadline)


async def _find_nodes(profiler: Profiler, schema: Schema) -> None:
    """Find nodes of every kind, near and nowhere, and sample them."""
    deadline = Deadline.after(PATIENCE_S)
    for limit in (None, 0):
        graph = Neo4jGraph(profiler, NAMES, exact_limit=limit, schema=schema)
        query = NodesQuery(MINE, VECTORS[0], (*LABELS, "Person"))
        await graph.finder().nearest_nodes(query, deadline)
    await graph.finder().nearest_nodes(replace(query, project_id="nobody"), deadline)
    for parameters in profiler.parameters[STATEMENTS["nodes.nearest_nodes searching"]]:
        await profiler.read(STATEMENTS["nodes.nearest_nodes"], parameters)
    await graph.finder().sample(MINE, DIMENSIONS, pairs(50), 2, deadline)


async def _find_documents(profiler: Profiler) -> None:
    """Find whole documents, scored exactly and by the index, in both forms."""
    deadline = Deadline.after(PATIENCE_S)
    for limit in (None, 0):
        finder = DocumentFinder(profiler, NAMES, "", DIMENSIONS, limit)
        await finder.nearest(MINE, "zephyr or basalt?", VECTORS[0], 5, deadline)
    for parameters in profiler.parameters[STATEMENTS["retrieval.nearest_documents searching"]]:
        await profiler.read(STATEMENTS["retrieval.nearest_documents"], parameters)
    await saying("zephyr or basalt", MINE, profiler, NAMES.fulltext)


async def _follow(profiler: Profiler) -> None:
    """Have a store of vectors follow all of a project and one document, and give candidates."""
    model, deadline = LocalEmbedder(), Deadline.after(PATIENCE_S)
    graph = Neo4jGraph(profiler, NAMES, dimensions=DIMENSIONS, store=InMemoryVectors())
    assert graph.copy is not None
    await graph.copy.mend(MINE)
    index = Indexer(profiler, MINE, model, "wordllama-256", DIMENSIONS, NAMES, copy=graph.copy)
    await index.add("ferry.md", "# Ferry\n\nIt leaves at noon.")
    await index.remove("ferry.md")
    assert MINE not in await graph.copy.behind()
    for question, targets in ASKED:
        await graph.followup(FollowupQuery(MINE, question, VECTORS[0], targets), deadline)
    await graph.finder().nearest_nodes(NodesQuery(MINE, VECTORS[0], (*LABELS, "Person")), deadline)
    rows = {"project_id": MINE, "vector": "embedding", "ids": ["c1", "c2"]}
    for text in (ALL_ROWS, ROWS_OF):  # what is streamed is not profiled
        await profiler.read(text, rows)


async def _read_passages(profiler: Profiler, schema: Schema) -> None:
    """Read of chunks that are there, of one that is not, and without a vector."""
    reader = Neo4jGraph(profiler, NAMES, schema=schema).passages()
    chunks = tuple(chunk.id for chunk in pair(SIZE)[0].documents.chunks[:20])
    for vector in (VECTORS[0], ()):
        query = PassagesQuery(MINE, (*chunks, "absent"), vector)
        await reader.passages(query, Deadline.after(PATIENCE_S))
        await reader.around(query, Deadline.after(PATIENCE_S))
    await reader.whole(WholeQuery(MINE, VECTORS[0]), Deadline.after(PATIENCE_S))


async def _look_around(profiler: Profiler, schema: Schema) -> None:
    """Read what the routes read, each list up to its end."""
    await _find_nodes(profiler, schema)
    await _read_passages(profiler, schema)
    reader, mine = Neo4jReader(profiler, schema), EVERYBODY.project(MINE)
    deadline = Deadline.after(PATIENCE_S)
    await reader.overview(mine, deadline)
    await reader.about(mine.id, deadline)
    await reader.largest(mine, deadline)
    await reader.version(mine, deadline)
    if schema.has_projects:
        await reader.projects(EVERYBODY, PageQuery(1), deadline)
        await reader.filter_keys(mine, deadline)
        await reader.sizes([MINE], deadline)
    for after in (None, ("c1",), (2,)):
        await reader.documents(mine, PageQuery(2, after), deadline)
        await reader.communities(mine, 0, PageQuery(2, after), deadline)
    contents = pair(SIZE)[0]
    for document in contents.documents.documents[:1]:
        await reader.document(mine, document.id, PageQuery(2), deadline)
    for chunk in contents.documents.chunks[:2]:
        await reader.chunk(mine, chunk.id, deadline)
    for entity in contents.knowledge.entities[:2]:
        await reader.entity(mine, entity.id, 5, deadline)


async def _read_other_forms(profiler: Profiler) -> None:
    """Run the plain form where the adapter took the searching one.

    The adapter takes it where an index has no filter properties.
    """
    for name in ("search.followup", "search.followup filtered", "nodes.nearest_nodes filtered"):
        for parameters in profiler.parameters[STATEMENTS[f"{name} searching"]][::2]:
            await profiler.read(STATEMENTS[name], parameters)


async def _grown(plain: Connection, profiler: Profiler) -> dict[str, list[tuple[int, int]]]:
    """Return what each exact search costs before and after the project beside grew tenfold."""
    costs: list[dict[str, list[int]]] = []
    for beside in (pair(SIZE)[1], pair(TENFOLD)[1]):
        await remove(plain, [BESIDE])
        await load(plain, {BESIDE: beside})
        await _read(profiler, DEFAULT, EXACT)
        costs.append(
            {text: [hits(p) for p in profiles] for text, profiles in profiler.profiles.items()}
        )
        profiler.profiles.clear()
    return {
        name: list(zip(costs[0][text], costs[1][text], strict=True))
        for name, text in STATEMENTS.items()
        if text in costs[0]
    }


async def _load_v1(connection: Connection) -> None:
    contents = pair(SIZE)[0]
    relations = [
        RelationRecord(r.source_id, r.target_id, "TOUCHES", r.weight)
        for r in contents.knowledge.relations
    ]
    chunks = {c.id: c for c in contents.documents.chunks}.values()
    await v1_graphs.fill(
        connection,
        tuple(chunks),
        contents.knowledge.entities,
        relations,
        contents.knowledge.communities,
    )
