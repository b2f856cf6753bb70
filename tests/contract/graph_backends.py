"""The graphs that the contract tests run on, and small projects, each with a twin beside it.

The twin is another tenant with the same ids, texts and vectors; only its document titles differ.
Its id begins with the first tenant's id, so that an index that cuts ids into words would mix them
up.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from neo4j import AsyncGraphDatabase

from drift.core.deadline import Deadline
from drift.graph.connection import READS, Connection
from drift.graph.cypher.schema import DEFAULT
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.reader import Neo4jReader
from drift.graph.versions import VectorVersion
from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.ddl import vector_indexes
from drift.local.ingest.neo4j.schema import create_missing, wait_until_online
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import (
    Community,
    CommunityId,
    Evidence,
    FollowupQuery,
    PrimerQuery,
    Vector,
)
from drift.nodes.ports import NodeFinder
from drift.ports import GraphReader, GraphStore, PassageReader
from drift.search.ranking import ranked
from tests.contract.known_names import OWN_LABEL, TYPES, know_names

DIMENSIONS = 256
TWIN = "twin of "


@dataclass
class Neo4jBackend:
    """A real server; `connection` is opened by the test that uses it."""

    connection: Connection
    names: IndexNames
    server: Neo4jServer

    def __post_init__(self) -> None:
        self.writer = Neo4jWriter(self.connection, self.names)

    def store(
        self, scope: Literal["soft", "hard"] = "soft", exact_limit: int | None = None
    ) -> GraphStore:
        """A store; `exact_limit` 0 makes it use the vector index where there is one."""
        return Neo4jGraph(self.connection, self.names, scope, exact_limit)

    def reader(self) -> GraphReader:
        return Neo4jReader(self.connection)

    def finder(self, exact_limit: int | None = None) -> NodeFinder:
        return Neo4jGraph(self.connection, self.names, exact_limit=exact_limit).finder()

    def passages(self) -> PassageReader:
        return Neo4jGraph(self.connection, self.names).passages()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Callable[[str, dict[str, Any]], Awaitable[Any]]]:
        """A question that takes as long as the block: what is given is run in its transaction."""
        driver = AsyncGraphDatabase.driver(
            self.server.uri, auth=(self.server.user, self.server.password)
        )
        async with (
            driver,
            driver.session() as session,
            await session.begin_transaction(dict(READS)) as transaction,
        ):

            async def run(text: str, parameters: dict[str, Any]) -> Any:
                return await (await transaction.run(text, parameters)).single()

            await run("RETURN 1", {})
            yield run

    async def orphan(self, project_id: str, chunk_id: str) -> None:
        text = "MATCH ()-[r:HAS_CHUNK]->(c:__Chunk__ {project_id: $p, id: $id}) DELETE r"
        await self.connection.write(text, {"p": project_id, "id": chunk_id})

    async def counts(self, project_id: str) -> dict[str, int]:
        text = f"""
        MATCH (n) WHERE n.project_id = $p AND NOT n:__Project__
        OPTIONAL MATCH (n)-[r]->()
        WITH {OWN_LABEL} AS label, collect(type(r)) AS types, n
        WITH collect(label) + reduce(all = [], t IN collect(types) | all + t) AS things
        UNWIND things AS thing
        RETURN thing, count(*) AS count
        """
        records = (await self.connection.read(text, {"p": project_id})).records
        counted = {r["thing"]: r["count"] for r in records}
        assert counted.pop("IN_PROJECT", 0) == sum(
            n for name, n in counted.items() if name.startswith("__")
        )
        return counted


Backend = Neo4jBackend

_real = (pytest.mark.neo4j, pytest.mark.slow)
_prepared: set[str] = set()

_newer, _older = (pytest.param(name, marks=_real) for name in ("neo4j_2026", "neo4j_5"))

on_real_server = pytest.mark.parametrize("graph_server", [_newer], indirect=True)
"""For a module whose tests ask for no backend."""
on_real_servers = pytest.mark.parametrize("graph_server", [_newer, _older], indirect=True)
"""For a module whose statements differ by the server's version."""


@pytest.fixture(params=[_newer])
def graph_server(request: pytest.FixtureRequest) -> Neo4jServer:
    """A server, started outside of any event loop."""
    server: Neo4jServer = request.getfixturevalue(request.param)
    return server


@pytest.fixture
async def backend(graph_server: Neo4jServer) -> AsyncIterator[Backend]:
    """A prepared graph on that server."""
    async with Connection(
        graph_server.uri, graph_server.user, graph_server.password, "neo4j"
    ) as connection:
        real = Neo4jBackend(connection, IndexNames(), graph_server)
        await prepare_once(connection)
        yield real


async def prepare_once(connection: Connection) -> None:
    """Make every index that a test on a shared server needs, and tell it the statements' names.

    What is made later has all plans made anew, which takes each test after it seconds.
    """
    if connection._uri in _prepared:
        return
    await know_names(connection, types=TYPES)
    names, local = IndexNames(), VectorVersion("local")
    await Neo4jWriter(connection, names).prepare(DIMENSIONS)
    await Neo4jNodeStore(connection).prepare(DIMENSIONS)
    second = vector_indexes(DEFAULT, names.of(local), local.vector_in(DEFAULT))
    await create_missing(connection, second, DIMENSIONS)
    await wait_until_online(connection, second, DIMENSIONS)
    _prepared.add(connection._uri)


@pytest.fixture
def project() -> str:
    """A tenant of the test's own."""
    return f"team-{uuid.uuid4().hex[:12]}"


def context(writer: Neo4jWriter, model: str = "") -> IngestContext:
    """What a run works with whose vectors are made here."""
    return IngestContext(writer, LocalEmbedder(), DIMENSIONS, model)


def twin(project_id: str) -> str:
    """The tenant beside it."""
    return f"{project_id}-b"


def vector(*weights: float) -> Vector:
    """A vector with these first floats; the rest is zero."""
    return (*weights, *([0.0] * (DIMENSIONS - len(weights))))


def axis(i: int) -> Vector:
    """A vector that is orthogonal to every other axis."""
    return vector(*([0.0] * i), 1.0)


def chunk(id_: str, text: str, embedding: Vector, document: str = "d1") -> ChunkRecord:
    """A chunk of the first document."""
    return ChunkRecord(id_, document, 0, "", text, embedding)


CHUNKS = [
    chunk("k1", "alpha", axis(0)),
    chunk("k2", "beta", axis(1)),
    chunk("k3", "gamma", axis(2)),
]
"""Three that have nothing in common."""
INDEXED = 0
"""The exact limit under which every search begins with the vector index."""


def ids(things: Iterable[Any]) -> list[Any]:
    """The ids of chunks, communities or entities."""
    return [t.id for t in things]


def entity(id_: str, title: str, *chunks: str) -> EntityRecord:
    """An entity mentioned in these chunks."""
    return EntityRecord(id_, title, f"about {title}", chunks)


def community(  # noqa: PLR0917 - a record in short
    id_: CommunityId,
    level: int,
    parent: CommunityId | None,
    embedding: Vector,
    chunks: Sequence[str] = (),
    entities: Sequence[str] = (),
) -> CommunityRecord:
    """A community whose summary names it."""
    return CommunityRecord(
        id_,
        level,
        parent,
        f"title {id_}",
        f"summary {id_}",
        tuple(entities),
        tuple(chunks),
        embedding,
    )


def documents(
    chunks: Iterable[ChunkRecord], titles: dict[str, str], prefix: str = ""
) -> DocumentBatch:
    """The chunks with their documents, titled `Title of <id>` unless told otherwise."""
    chunks = tuple(chunks)
    ids = dict.fromkeys(c.document_id for c in chunks)
    named = {id_: titles.get(id_, f"Title of {id_}") for id_ in ids}
    return DocumentBatch(
        tuple(
            DocumentRecord(
                id_, prefix + title if title else title, "source", DocumentVersion(f"hash of {id_}")
            )
            for id_, title in named.items()
        ),
        chunks,
    )


async def fill(  # noqa: PLR0917 - what a project is made of
    backend: Backend,
    project_id: str,
    chunks: Sequence[ChunkRecord],
    entities: Sequence[EntityRecord] = (),
    relations: Sequence[RelationRecord] = (),
    communities: Sequence[CommunityRecord] = (),
    titles: dict[str, str] | None = None,
) -> None:
    """Write the project and its twin."""
    knowledge = KnowledgeBatch(tuple(entities), tuple(relations), tuple(communities), "fingerprint")

    async def write(id_: str, prefix: str) -> None:
        await backend.writer.write_documents(id_, documents(chunks, titles or {}, prefix))
        await backend.writer.write_knowledge(id_, knowledge)

    async with asyncio.TaskGroup() as both:
        both.create_task(write(project_id, ""))
        both.create_task(write(twin(project_id), TWIN))


async def ask_primer(
    store: GraphStore,
    project_id: str,
    embedding: Vector,
    top_k: int = 5,
    voters: Iterable[str] = (),
) -> tuple[Community, ...]:
    """Ask; nothing may come twice."""
    query = PrimerQuery(project_id, tuple(voters), embedding, top_k)
    found = await store.primer(query, Deadline.after(120))
    assert len({c.id for c in found}) == len(found)
    return found


async def ask_followup(
    store: GraphStore,
    project_id: str,
    question: str,
    embedding: Vector,
    communities: tuple[CommunityId, ...] = (),
) -> Evidence:
    """Ask; nothing may come twice or from the twin."""
    query = FollowupQuery(project_id, question, embedding, communities, located=True)
    found = ranked(await store.followup(query, Deadline.after(120)), question)
    assert len(set(ids(found.chunks))) == len(found.chunks), found.chunks
    assert len(set(found.relationships)) == len(found.relationships)
    assert not any(c.document_name.startswith(TWIN) for c in found.chunks)
    return found
