"""Tenants are kept apart on real servers.

Random pairs of look-alike projects, and a small project beside a hundredfold one.

A random graph is one pair. Each is searched by score and by index, soft and hard, and what comes
back is held against the same project alone in memory. Afterwards the two are connected by edges
that no writer makes, and still nothing crosses.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from neo4j import EagerResult

from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.graph.writing.records import ChunkRecord, KnowledgeBatch
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import Chunk, CommunityId, Evidence, PrimerEvidence
from drift.ports import GraphStore
from tests.contract.bulk_load import entangle, load, remove
from tests.contract.graph_backends import (
    DIMENSIONS,
    ask_followup,
    ask_primer,
    chunk,
    community,
    documents,
    ids,
    twin,
    vector,
)
from tests.contract.random_projects import (
    QUESTION_BARE,
    QUESTION_NAMES,
    QUESTION_WORDS,
    SHAPES,
    VECTORS,
    Contents,
    Shape,
    pair,
)
from tests.fakes_graph import FakeGraph, Project

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(600, func_only=True)]

PAIRS, FEW_PAIRS = 100, 40
"""Random pairs on each of the two servers: 500 together; and how many `make test` draws."""
BATCH = 25
MAX_AT_ONCE = 2
LISTED = 30
"""Chunks that a follow-up returns at most: of a project with no more than these, all must come."""
QUESTION_VECTOR = VECTORS[0]


@pytest.fixture(params=["neo4j_2026", "neo4j_5"])
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    """Each real server in turn, started outside of any event loop."""
    started: Neo4jServer = request.getfixturevalue(request.param)
    return started


class Watched(Connection):
    """A connection that keeps the last row it has read."""

    row: Mapping[str, Any]

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        result = await super().read(text, parameters, timeout_s)
        if result.records:
            self.row = result.records[0].data()
        return result


def opened(server: Neo4jServer) -> Watched:
    """Return a connection to the server."""
    return Watched(server.uri, server.user, server.password, server.database)


async def in_memory(project_id: str, contents: Contents) -> dict[str, Project]:
    """Return the project alone in memory."""
    memory = FakeGraph()
    await memory.write_documents(project_id, contents.documents)
    await memory.write_knowledge(project_id, contents.knowledge)
    return memory.projects


class Stores:
    """Every way to search: `exact` and `indexed`, each soft and hard, and the same in memory."""

    def __init__(self, connection: Connection) -> None:
        def store(scope: Any, limit: int | None) -> GraphStore:
            return Neo4jGraph(connection, IndexNames(), scope, limit)

        self.exact = {scope: store(scope, None) for scope in ("soft", "hard")}
        self.indexed = {scope: store(scope, 0) for scope in ("soft", "hard")}


# ------------------------------------------------------------------------------------- random pairs
@dataclass
class Pair:
    """One random pair in the database; `alone` holds the first project in memory."""

    shape: Shape
    id: str
    mine: Contents
    other: Contents
    alone: dict[str, GraphStore] = field(default_factory=dict)
    project: Project = field(default_factory=Project)

    @classmethod
    async def drawn(cls, shape: Shape) -> Pair:
        """Draw both projects and put the first one into memory."""
        mine, other = pair(shape)
        drawn = cls(shape, f"pair-{uuid.uuid4().hex[:12]}", mine, other)
        projects = await in_memory(drawn.id, mine)
        drawn.alone = {scope: FakeGraph(scope, projects) for scope in ("soft", "hard")}
        drawn.project = projects[drawn.id]
        return drawn

    @property
    def is_small(self) -> bool:
        """Small enough for everything to be listed, and for nothing to be cut on the way."""
        return self.shape.chunks < LISTED

    @property
    def scope(self) -> Literal["soft", "hard"]:
        """How its exact follow-up is scoped; the indexed one is scoped the other way."""
        return "hard" if self.shape.seed // 2 % 2 else "soft"

    @property
    def other_scope(self) -> Literal["soft", "hard"]:
        """The other scope."""
        return "soft" if self.scope == "hard" else "hard"

    def targets(self) -> tuple[CommunityId, ...]:
        """Communities to aim at: some with what is below them, and one that is not there."""
        known = self.mine.knowledge.communities
        some = Random(self.shape.seed).sample(known, min(2, len(known)))  # noqa: S311 - test data
        children = [c.community for c in known if c.parent in {s.community for s in some}]
        return (*dict.fromkeys([*(s.community for s in some), *children[:2]]), "none")

    def owns(self, found: PrimerEvidence | Evidence) -> None:
        """Check that everything in it is the first project's."""
        project = self.project
        chunks = found.all_chunks() if isinstance(found, PrimerEvidence) else found.chunks
        for c in chunks:
            assert c.id in project.chunks
            assert (c.text, c.document_name) == (
                project.chunks[c.id].text,
                project.document(c.id)[0],
            )
        if isinstance(found, PrimerEvidence):
            own = {(c.community, c.level, c.summary) for c in self.mine.knowledge.communities}
            assert {(c.id, c.level, c.summary) for c in found.communities} <= own
            return
        entities = {e.id: e for e in self.mine.knowledge.entities}
        assert {(r.source, r.target, r.description, r.weight) for r in found.relationships} <= {
            (entities[r.source_id].title, entities[r.target_id].title, r.description, r.weight)
            for r in self.mine.knowledge.relations
        }


def scores(chunks: Sequence[Chunk]) -> Any:
    """The scores by id, as near as 32 and 64 bits can be."""
    return pytest.approx({c.id: c.score for c in chunks}, abs=1e-4)


async def check_primer(p: Pair, stores: Stores) -> None:
    store, way = (stores.exact, "exact") if p.shape.seed % 2 else (stores.indexed, "indexed")
    expected = await ask_primer(p.alone["soft"], p.id, QUESTION_VECTOR, 1 + p.shape.seed % 8)
    found = await ask_primer(store["soft"], p.id, QUESTION_VECTOR, 1 + p.shape.seed % 8)
    p.owns(found)
    assert ids(found.communities) == ids(expected.communities)
    if p.is_small or way == "exact":  # the samples of a big project are those that its index finds
        assert [ids(c.samples) for c in found.communities] == [
            ids(c.samples) for c in expected.communities
        ]
        assert ids(found.chunks) == ids(expected.chunks)


async def check_exact(p: Pair, stores: Stores) -> None:
    question = (
        QUESTION_NAMES if p.is_small else QUESTION_BARE
    )  # near ties of the walk would decide what is cut
    expected = await ask_followup(p.alone[p.scope], p.id, question, QUESTION_VECTOR, p.targets())
    found = await ask_followup(stores.exact[p.scope], p.id, question, QUESTION_VECTOR, p.targets())
    p.owns(found)
    assert {c.id: c.score for c in found.chunks} == scores(expected.chunks)


async def check_indexed(p: Pair, stores: Stores) -> None:
    expected = await ask_followup(
        p.alone[p.other_scope], p.id, QUESTION_BARE, QUESTION_VECTOR, p.targets()
    )
    found = await ask_followup(
        stores.indexed[p.other_scope], p.id, QUESTION_BARE, QUESTION_VECTOR, p.targets()
    )
    p.owns(found)
    assert len(found.chunks) == len(expected.chunks)
    if p.is_small:
        assert set(ids(found.chunks)) == set(ids(expected.chunks))
        assert bool(found.relationships) == bool(expected.relationships)


async def check_entangled(p: Pair, stores: Stores) -> None:
    other_way = stores.indexed if p.shape.seed % 2 else stores.exact
    p.owns(await ask_primer(other_way["soft"], p.id, QUESTION_VECTOR, 8))
    p.owns(
        await ask_followup(
            stores.exact[p.other_scope], p.id, QUESTION_NAMES, QUESTION_VECTOR, p.targets()
        )
    )
    # How much a word weighs depends on the whole full-text index, all tenants together; which
    # chunks have it does not.
    expected = await ask_followup(p.alone["soft"], p.id, QUESTION_WORDS, QUESTION_VECTOR)
    found = await ask_followup(stores.indexed["soft"], p.id, QUESTION_WORDS, QUESTION_VECTOR)
    p.owns(found)
    if p.is_small:
        assert set(ids(found.chunks)) == set(ids(expected.chunks))


async def check_all(connection: Connection, stores: Stores, shapes: Sequence[Shape]) -> None:
    pairs = [await Pair.drawn(shape) for shape in shapes]
    projects = {p.id: p.mine for p in pairs} | {twin(p.id): p.other for p in pairs}
    room = asyncio.Semaphore(MAX_AT_ONCE)

    async def checked(p: Pair, check: Any) -> None:
        async with room:
            with told(p.shape):
                await check(p, stores)

    async def each(*checks: Any) -> None:
        async with asyncio.TaskGroup() as group:
            for p in pairs:
                for check in checks:
                    group.create_task(checked(p, check))

    try:
        await load(connection, projects)
        await each(check_primer, check_exact, check_indexed)
        await entangle(connection, {p.id: p.mine for p in pairs}, twin)
        await each(check_entangled)
    finally:
        await remove(connection, projects)


@contextmanager
def told(shape: Shape) -> Iterator[None]:
    """Say which pair a failure is about."""
    try:
        yield
    except AssertionError as error:
        error.add_note(repr(shape))
        raise


@pytest.mark.parametrize(
    ("server", "pairs"),
    [
        ("neo4j_2026", FEW_PAIRS),
        ("neo4j_5", PAIRS),
    ],
    indirect=["server"],
)
def test_look_alike_projects_get_what_they_get_alone_and_nothing_of_each_other(
    server: Neo4jServer, pairs: int
) -> None:
    seen: set[Shape] = set()
    connection = opened(server)
    with asyncio.Runner() as runner:
        runner.run(Neo4jWriter(connection, IndexNames()).prepare(DIMENSIONS))
        stores = Stores(connection)

        # A failure names its pair; making a batch of them smaller would take minutes.
        @settings(
            max_examples=pairs // BATCH + 1, phases=(Phase.explicit, Phase.reuse, Phase.generate)
        )
        @given(st.lists(SHAPES, min_size=BATCH, max_size=BATCH, unique=True))
        def pairs_are_apart(shapes: list[Shape]) -> None:
            runner.run(check_all(connection, stores, shapes))
            seen.update(shapes)

        try:
            pairs_are_apart()
        finally:
            runner.run(connection.close())
    assert len(seen) >= pairs


# ------------------------------------------------------------------------------- small beside large
SMALL, LARGE = 40, 3000


def small_and_large() -> tuple[Contents, Contents]:
    """A small project, and one whose chunks are all nearer to the question.

    They say its one word too, with fewer others.
    """
    few = [
        chunk(f"k{i:04}", f"a zephyr among other words {i % 7}", vector(0.2, 1, i / 40))
        for i in range(SMALL)
    ]
    many = [chunk(f"k{i:04}", "zephyr", vector(1, i / 10_000, i % 7 / 100)) for i in range(LARGE)]
    return contents(few), contents(many)


def contents(chunks: Sequence[ChunkRecord]) -> Contents:
    """The chunks in one document and one community."""
    whole = community(1, 0, None, vector(1), [c.id for c in chunks])
    return Contents(documents(chunks, {}), KnowledgeBatch((), (), (whole,), "fingerprint"))


async def test_a_small_tenant_gets_its_own_best_beside_one_a_hundred_times_larger(
    server: Neo4jServer,
) -> None:
    small, large = small_and_large()
    id_ = f"small-{uuid.uuid4().hex[:12]}"
    memory = FakeGraph(projects=await in_memory(id_, small))
    async with opened(server) as connection:
        await Neo4jWriter(connection, IndexNames()).prepare(DIMENSIONS)
        try:
            await load(connection, {id_: small, twin(id_): large})
            await check_not_starved(connection, id_, memory)
        finally:
            await remove(connection, [id_, twin(id_)])


async def check_not_starved(connection: Watched, id_: str, memory: FakeGraph) -> None:
    exact = await ask_followup(memory, id_, QUESTION_BARE, vector(1))
    samples = (await ask_primer(memory, id_, vector(1))).communities[0].samples
    stores = Stores(connection)
    for store in (*stores.exact.values(), *stores.indexed.values()):
        by_vector = await ask_followup(store, id_, QUESTION_BARE, vector(1))
        assert len(by_vector.chunks) == LISTED
        assert ids(by_vector.chunks) == ids(exact.chunks)
        assert {c.id: c.score for c in by_vector.chunks} == scores(exact.chunks)
        await ask_followup(store, id_, "zephyr?", vector(1), (1,))
        by_word = [c["id"] for c in connection.row["candidates"] if c["bm25"] > 0]
        assert len(set(by_word)) == SMALL, "every chunk has the word"
        assert ids((await ask_primer(store, id_, vector(1))).communities[0].samples) == ids(samples)
