"""Tenants are kept apart on real servers.

Random pairs of look-alike projects, and a small project beside a hundredfold one.

A random graph is one pair. Each is searched by score and by index, soft and hard, first alone and
then beside the other, and finds the same. Afterwards the two are connected by edges that no writer
makes, and still nothing crosses.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
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
from drift.model.graph import Chunk, Community, CommunityId, Evidence
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
    """A connection that keeps the last row of a follow-up that it has read."""

    row: Mapping[str, Any]

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        result = await super().read(text, parameters, timeout_s)
        if "candidates" in result.keys:
            self.row = result.records[0].data()
        return result


def opened(server: Neo4jServer) -> Watched:
    """Return a connection to the server."""
    return Watched(server.uri, server.user, server.password, server.database)


class Stores:
    """Every way to search: `exact` and `indexed`, each soft and hard."""

    def __init__(self, connection: Connection) -> None:
        def store(scope: Any, limit: int | None) -> GraphStore:
            return Neo4jGraph(connection, IndexNames(), scope, limit)

        self.exact = {scope: store(scope, None) for scope in ("soft", "hard")}
        self.indexed = {scope: store(scope, 0) for scope in ("soft", "hard")}


# ------------------------------------------------------------------------------------- random pairs
Found = dict[str, tuple[Community, ...] | Evidence]


@dataclass
class Pair:
    """One random pair in the database; `alone` is what the first project finds by itself."""

    shape: Shape
    id: str
    mine: Contents
    other: Contents
    alone: Found = field(default_factory=dict)

    @classmethod
    def drawn(cls, shape: Shape) -> Pair:
        """Draw both projects."""
        mine, other = pair(shape)
        return cls(shape, f"pair-{uuid.uuid4().hex[:12]}", mine, other)

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

    @cached_property
    def chunks(self) -> dict[str, tuple[str, str]]:
        """Text and document of each chunk: of several documents the first by its name."""
        named = {d.id: d.title or d.id for d in self.mine.documents.documents}
        held: dict[str, tuple[str, str]] = {}
        for c in self.mine.documents.chunks:
            name = min(named[c.document_id], held.get(c.id, ("", named[c.document_id]))[1])
            held[c.id] = (c.text, name)
        return held

    def owns(self, found: tuple[Community, ...] | Evidence) -> None:
        """Check that everything in it is the first project's."""
        if isinstance(found, tuple):
            own = {(c.community, c.level, c.summary) for c in self.mine.knowledge.communities}
            assert {(c.id, c.level, c.summary) for c in found} <= own
            return
        for c in found.chunks:
            assert (c.text, c.document_name) == self.chunks[c.id]
        entities = {e.id: e for e in self.mine.knowledge.entities}
        assert {(r.source, r.target, r.description) for r in found.relationships} <= {
            (entities[r.source_id].title, entities[r.target_id].title, r.description)
            for r in self.mine.knowledge.relations
        }


def scores(chunks: Sequence[Chunk]) -> Any:
    """The scores by id, as near as 32 and 64 bits can be."""
    return pytest.approx({c.id: c.score for c in chunks}, abs=1e-4)


async def ask(p: Pair, stores: Stores) -> Found:
    """Ask in every way, and check that what is found is the project's own."""
    way = stores.exact if p.shape.seed % 2 else stores.indexed
    # near ties of the walk would decide what is cut
    question = QUESTION_NAMES if p.is_small else QUESTION_BARE
    asked = {
        "exact": (stores.exact[p.scope], question, p.targets()),
        "indexed": (stores.indexed[p.other_scope], QUESTION_BARE, p.targets()),
        "words": (stores.indexed["soft"], QUESTION_WORDS, ()),
    }
    found: Found = {}
    for name, (store, words, targets) in asked.items():
        found[name] = await ask_followup(store, p.id, words, QUESTION_VECTOR, targets)
    found["primer"] = await ask_primer(
        way["soft"], p.id, QUESTION_VECTOR, 1 + p.shape.seed % 8, ids(found["exact"].chunks)
    )
    for one in found.values():
        p.owns(one)
    return found


async def ask_alone(p: Pair, stores: Stores) -> None:
    p.alone = await ask(p, stores)


async def check_beside(p: Pair, stores: Stores) -> None:
    found = await ask(p, stores)
    primer, expected = found["primer"], p.alone["primer"]
    assert [(c.id, c.members) for c in primer] == [(c.id, c.members) for c in expected]
    assert {c.id: c.score for c in found["exact"].chunks} == scores(p.alone["exact"].chunks)
    assert len(found["indexed"].chunks) == len(p.alone["indexed"].chunks)
    if p.is_small:
        # How much a word weighs depends on the whole full-text index, all tenants together; which
        # chunks have it does not.
        for name in ("indexed", "words"):
            assert set(ids(found[name].chunks)) == set(ids(p.alone[name].chunks))
        relations = (bool(one["indexed"].relationships) for one in (found, p.alone))
        assert len(set(relations)) == 1


async def check_entangled(p: Pair, stores: Stores) -> None:
    other_way = stores.indexed if p.shape.seed % 2 else stores.exact
    p.owns(await ask_primer(other_way["soft"], p.id, QUESTION_VECTOR, 8, p.chunks))
    p.owns(
        await ask_followup(
            stores.exact[p.other_scope], p.id, QUESTION_NAMES, QUESTION_VECTOR, p.targets()
        )
    )
    found = await ask_followup(stores.indexed["soft"], p.id, QUESTION_WORDS, QUESTION_VECTOR)
    p.owns(found)
    if p.is_small:
        assert set(ids(found.chunks)) == set(ids(p.alone["words"].chunks))


async def check_all(connection: Connection, stores: Stores, shapes: Sequence[Shape]) -> None:
    pairs = [Pair.drawn(shape) for shape in shapes]
    mine, others = {p.id: p.mine for p in pairs}, {twin(p.id): p.other for p in pairs}
    room = asyncio.Semaphore(MAX_AT_ONCE)

    async def checked(p: Pair, check: Any) -> None:
        async with room:
            with told(p.shape):
                await check(p, stores)

    async def each(check: Any) -> None:
        async with asyncio.TaskGroup() as group:
            for p in pairs:
                group.create_task(checked(p, check))

    try:
        await load(connection, mine)
        await each(ask_alone)
        await load(connection, others)
        await each(check_beside)
        await entangle(connection, mine, twin)
        await each(check_entangled)
    finally:
        await remove(connection, [*mine, *others])


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
    async with opened(server) as connection:
        await Neo4jWriter(connection, IndexNames()).prepare(DIMENSIONS)
        stores = Stores(connection)
        try:
            await load(connection, {id_: small})
            exact = await ask_followup(stores.exact["soft"], id_, QUESTION_BARE, vector(1))
            await load(connection, {twin(id_): large})
            for store in (*stores.exact.values(), *stores.indexed.values()):
                await check_not_starved(connection, id_, store, exact)
        finally:
            await remove(connection, [id_, twin(id_)])


async def check_not_starved(
    connection: Watched, id_: str, store: GraphStore, exact: Evidence
) -> None:
    by_vector = await ask_followup(store, id_, QUESTION_BARE, vector(1))
    assert len(by_vector.chunks) == LISTED
    assert ids(by_vector.chunks) == ids(exact.chunks)
    assert {c.id: c.score for c in by_vector.chunks} == scores(exact.chunks)
    await ask_followup(store, id_, "zephyr?", vector(1), (1,))
    by_word = [c["id"] for c in connection.row["candidates"] if c["bm25"] > 0]
    assert len(set(by_word)) == SMALL, "every chunk has the word"
