"""Two small embedding models of different lengths, and a graph that both may write."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.indexing.documents import SourceDocument
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.calls import Embeddings
from drift.model.found_nodes import NodesQuery
from drift.model.graph import FollowupQuery, PrimerQuery, Vector
from drift.search.ranking import ranked
from tests.contract.v1_graphs import drop_schema

PROJECT = "harbour"


@dataclass
class Words:
    """An embedding model: its vectors say which words a text has. It fails after `left` texts."""

    name: str
    dimensions: int
    left: int = 1_000_000
    texts: list[str] = field(default_factory=list)

    def vector(self, text: str) -> Vector:
        sums = [0.0] * self.dimensions
        for word in text.lower().split():
            mark = hashlib.sha256(f"{self.name} {word.strip('.,#')}".encode()).digest()
            sums[mark[0] % self.dimensions] += 1.0 if mark[1] % 2 else -1.0
        length = math.hypot(*sums)
        if not length:
            return (1.0, *sums[1:])
        return tuple(round(one / length, 4) for one in sums)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        assert deadline.remaining() > 0
        if self.left < len(texts):
            raise ModelUnavailableError("The model is gone.")
        self.left -= len(texts)
        self.texts += texts
        return Embeddings(tuple(map(self.vector, texts)))


def old() -> Words:
    return Words("old-words", 16)


def new() -> Words:
    return Words("new-words", 24)


def connected(server: Neo4jServer) -> Connection:
    return Connection(server.uri, server.user, server.password, server.database)


@pytest.fixture(scope="module")
def cleared(whole_server: Neo4jServer) -> Iterator[Neo4jServer]:
    """A server whose schema is that of this module's tests alone, so that plans last."""

    async def clear_all() -> None:
        async with connected(whole_server) as connection:
            await connection.write("MATCH (n) DETACH DELETE n", {})
            await drop_schema(connection)

    asyncio.run(clear_all())
    yield whole_server
    asyncio.run(clear_all())


@pytest.fixture
async def graph(cleared: Neo4jServer) -> AsyncIterator[Connection]:
    """A database without any node."""
    async with connected(cleared) as connection:
        await connection.write("MATCH (n) DETACH DELETE n", {})
        yield connection


async def put(
    graph: Connection, model: Words, texts: dict[str, str], project: str = PROJECT
) -> IngestReport:
    """Ingest these documents, and no others, with a model."""
    documents = [
        SourceDocument(name, text.partition("\n")[0].strip("# "), text, "markdown", has_lines=True)
        for name, text in texts.items()
    ]
    writer = Neo4jWriter(graph, IndexNames(), model=model.name, dimensions=model.dimensions)
    source = Source("handbook", tuple(documents))
    return await ingest(
        source, project, IngestContext(writer, model, model.dimensions, model=model.name)
    )


def function(graph: Connection, model: Words) -> Neo4jGraph:
    """The graph as a function with this model searches it, over its indexes."""
    return Neo4jGraph(graph, exact_limit=0, embedding_model=model.name, dimensions=model.dimensions)


async def found(
    graph: Connection | Neo4jGraph, model: Words, question: str, project: str = PROJECT
) -> str:
    """Return the text of the nearest chunk, community or entity that a function finds."""
    asked = graph if isinstance(graph, Neo4jGraph) else function(graph, model)
    query = NodesQuery(project, model.vector(question), limit=1)
    return (await asked.finder().nearest_nodes(query, Deadline.after(120))).nodes[0].text


async def found_by_search(asked: Neo4jGraph, model: Words, question: str) -> tuple[str, str]:
    """Return the best of a primer and of a follow-up, which finds nothing by words."""
    vector, deadline = model.vector(question), Deadline.after(120)
    primer = await asked.primer(PrimerQuery(PROJECT, (), vector, 1), deadline)
    followup = await asked.followup(FollowupQuery(PROJECT, "zzz", vector, ()), deadline)
    return primer[0].summary, ranked(followup, "").chunks[0].text


async def lengths(graph: Connection, vector: str) -> set[int]:
    """Return the lengths of all vectors of this name."""
    rows = await graph.rows(f"MATCH (n) WHERE n.{vector} IS NOT NULL RETURN n.{vector} AS v")
    return {len(row["v"]) for row in rows}
