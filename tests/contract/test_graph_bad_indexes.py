"""What a search says of indexes that are missing, elsewhere, of another size or not online.

An answer, or what to run.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError, UpstreamError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.graph.inventory import Inventory
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import FollowupQuery
from drift.model.health import Index, Level
from tests.contract.graph_backends import (
    DIMENSIONS,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    fill,
)
from tests.contract.v1_graphs import database
from tests.servers import on_whole_servers_of_both_versions

__all__ = ["database"]

NAMES = IndexNames()
CHUNKS = [
    chunk("k1", "alpha", axis(0)),
    chunk("k2", "beta", axis(1)),
    chunk("k3", "the zephyr", ()),
]
COMMUNITIES = [community(1, 0, None, axis(0), ["k1", "k2"])]
QUESTION = "what of the zephyr?"
PREPARE = "run `python -m drift prepare`"


# ------------------------------------------------------------------------------------ the inventory
def inventory(**changes: dict[str, Any]) -> Inventory:
    """What a prepared database lists, with changes to `community`, `chunk` or `fulltext`."""
    prepared = {
        "community": Index(
            NAMES.community, "vector", ("__Community__",), ("embedding",), dimensions=DIMENSIONS
        ),
        "chunk": Index(
            NAMES.chunk, "vector", ("__Chunk__",), ("embedding",), dimensions=DIMENSIONS
        ),
        "fulltext": Index(NAMES.fulltext, "fulltext", ("__Chunk__",), ("text", "project_key")),
    }
    indexes = tuple(
        replace(index, **changes.get(which, {}))
        for which, index in prepared.items()
        if changes.get(which, {}) is not None
    )
    return Inventory("server", NAMES, DEFAULT, indexes, can_search=True)


@pytest.mark.parametrize("which", ["community", "chunk"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (None, "does not exist"),
        ({"kind": "fulltext"}, "does not exist"),
        ({"name": "other"}, "does not exist"),
        ({"labels": ("Elsewhere",)}, "does not exist"),
        ({"properties": ("vector",)}, "does not exist"),
        ({"state": "POPULATING"}, "is not online"),
        ({"state": "FAILED"}, "is not online"),
    ],
    ids=str,
)
def test_each_way_a_vector_index_can_be_wrong_is_named_with_what_to_run(
    which: str, change: Any, says: str
) -> None:
    inventory().require_vector_indexes()
    says = rf"{getattr(NAMES, which)}, over `embedding` of __\w+__, {says}: {PREPARE}"
    with pytest.raises(GraphMisconfiguredError, match=says):
        inventory(**{which: change}).require_vector_indexes()


@pytest.mark.parametrize("change", [{"labels": ("Elsewhere",)}, {"properties": ("other",)}])
def test_indexes_of_other_nodes_or_properties_count_as_missing_and_are_not_searched(
    change: dict[str, Any],
) -> None:
    found = inventory(**dict.fromkeys(("community", "chunk", "fulltext"), change))
    assert found.health().missing == (NAMES.community, NAMES.chunk, NAMES.fulltext)
    assert found.text_problem
    assert not any((found.search_index, found.is_complete))
    found.require_dimensions(DIMENSIONS + 1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "other"}, "is missing"),
        ({"state": "POPULATING"}, "is not online"),
        (
            {"state": "FAILED"},
            f"is in state FAILED, and has to be dropped first (`DROP INDEX {NAMES.fulltext}`)",
        ),
        ({"properties": ("text",)}, "does not hold `project_key`"),
    ],
)
def test_a_full_text_index_that_cannot_be_asked_degrades_and_does_not_fail(
    change: dict[str, Any], says: str
) -> None:
    readiness = inventory(fulltext=change).health().readiness(DIMENSIONS)
    assert readiness.level is Level.DEGRADED
    assert f"{NAMES.fulltext} {says}, so that no chunk is found by its words" in readiness.reason
    assert "python -m drift prepare" in readiness.reason

    other = inventory(fulltext=change, chunk={"name": "other"})
    failing = other.health().readiness(DIMENSIONS)
    assert (failing.level, failing.reason) == (Level.FAILING, f"{NAMES.chunk} is missing")


# ------------------------------------------------------------------------------------- real servers
def searched(backend: Neo4jBackend, exact_limit: int | None = None, **names: str) -> Neo4jGraph:
    """A graph that was configured with these names.

    `exact_limit` 0 makes it use the chunk index.
    """
    return Neo4jGraph(backend.connection, IndexNames(**names), exact_limit=exact_limit)


async def assert_all_found(graph: Neo4jGraph, project: str, *, by_words: bool) -> None:
    primed = await ask_primer(graph, project, axis(0), voters=["k1", "k2"])
    assert [(c.id, c.members) for c in primed] == [(1, {"k1", "k2"})]
    found = await ask_followup(graph, project, QUESTION, axis(0))
    assert {c.id for c in found.chunks} == ({"k1", "k2", "k3"} if by_words else {"k1", "k2"})
    query = FollowupQuery(project, QUESTION, axis(0), ())
    assert (await graph.followup(query, Deadline.after(120))).is_partial is not by_words


async def assert_refused(
    graph: Neo4jGraph, project: str, says: str, size: int = DIMENSIONS
) -> None:
    for _ in range(2):  # the second time from what was found out the first time
        with pytest.raises(GraphMisconfiguredError, match=says):
            await ask_followup(graph, project, QUESTION, (1.0,) * size)


@pytest.fixture
async def backend(database: Connection, whole_server: Neo4jServer) -> Neo4jBackend:
    """A prepared graph on a server of its own: every change of a schema has all plans made anew."""
    made = Neo4jBackend(database, IndexNames(), whole_server)
    await made.writer.prepare(DIMENSIONS)
    return made


@pytest.fixture
async def own(backend: Neo4jBackend) -> AsyncIterator[OwnIndexes]:
    """Indexes that are gone after the test."""
    made = OwnIndexes(backend.connection)
    yield made
    await made.clear()


class OwnIndexes:
    """Indexes of a test's own beside the shared ones, and a label of its own."""

    def __init__(self, connection: Connection) -> None:
        self.label = f"Own_{uuid.uuid4().hex[:8]}"
        self._connection = connection
        self._names: list[str] = []

    async def run(self, statement: str, **parameters: Any) -> None:
        await self._connection.write(statement, parameters)

    async def create(self, kind: str, body: str, name: str | None = None) -> str:
        """Create an index and return its name."""
        name = name or f"{self.label.lower()}_{len(self._names)}"
        self._names.append(name)
        await self.run(
            f"{'CYPHER 25 ' if 'WITH [' in body else ''}CREATE {kind} INDEX {name} FOR {body}"
        )
        return name

    async def built(self, name: str) -> None:
        await self.run("CALL db.awaitIndex($name, 60)", name=name)

    async def clear(self) -> None:
        for name in self._names:
            await self.run(f"DROP INDEX {name} IF EXISTS")
        await self.run(f"MATCH (n:{self.label}) DETACH DELETE n")


def vector_options(dimensions: int) -> str:
    config = f"`vector.dimensions`: {dimensions}, `vector.similarity_function`: 'cosine'"
    return f"OPTIONS {{indexConfig: {{{config}}}}}"


@pytest.mark.neo4j
@pytest.mark.slow
@on_whole_servers_of_both_versions
class TestOnARunningServer:
    async def test_small_projects_are_answered_without_any_index_and_health_names_what_is_missing(
        self, backend: Neo4jBackend, project: str
    ) -> None:
        await fill(backend, project, CHUNKS, communities=COMMUNITIES)
        bare = searched(
            backend,
            community="no_community_index",
            chunk="no_chunk_index",
            fulltext="no_text_index",
        )
        assert (await bare.health()).missing == (
            "no_community_index",
            "no_chunk_index",
            "no_text_index",
        )
        await assert_all_found(bare, project, by_words=False)
        bare = searched(backend, community="no_community_index", chunk="no_chunk_index")
        await assert_all_found(bare, project, by_words=True)
        says = r"no search can use one: .*`embedding` of 8 floats.*drift prepare"
        with pytest.raises(GraphMisconfiguredError, match=says):
            await ask_primer(bare, project, (1.0,) * 8)
        await assert_refused(
            searched(backend, 0, chunk="no_chunk_index"),
            project,
            f"no_chunk_index, .* does not exist: {PREPARE}",
        )

    async def test_names_that_are_mixed_up_find_no_node_of_another_kind_and_count_as_missing(
        self, backend: Neo4jBackend, project: str
    ) -> None:
        many = [
            community(i, 0, None, axis(0), ["k1", "k2"] if i == 1 else []) for i in range(1, 81)
        ]
        await fill(backend, project, CHUNKS, communities=many)
        names = {"community": NAMES.chunk, "chunk": NAMES.community}
        assert (await searched(backend, **names).health()).missing == (NAMES.chunk, NAMES.community)
        for limit in (None, 0):
            found = await ask_followup(
                searched(backend, limit, **names), project, QUESTION, axis(0)
            )
            assert {c.id for c in found.chunks} == {"k1", "k2", "k3"}
        kinds = searched(backend, chunk=NAMES.fulltext, fulltext=NAMES.chunk)
        assert (await kinds.health()).missing == (NAMES.fulltext, NAMES.chunk)
        assert len((await ask_followup(kinds, project, QUESTION, axis(0))).chunks) == 2

    async def test_indexes_that_hold_others_failed_or_lack_the_tenant_are_left_out_and_told(
        self, backend: Neo4jBackend, project: str, own: OwnIndexes
    ) -> None:
        """All are made at once: after each change of the schema every plan is made anew."""
        await fill(backend, project, CHUNKS, communities=COMMUNITIES)
        await own.run(
            f"MATCH (k:__Chunk__ {{project_id: $p, id: 'k1'}}) UNWIND range(1, 80) AS i CREATE "
            f"(n:{own.label}) SET n = properties(k), n.id = 'stray ' + i, n.text = 'zephyr'",
            p=project,
        )
        # Lucene takes no term of more than 32,766 bytes.
        await own.run(f"CREATE (:{own.label} {{long: $text}})", text="x" * 40_000)
        vectors, words = f"(n:{own.label}) ON", "ON EACH [n.text, n.project_key]"
        strays = f"{vectors} (n.embedding) {vector_options(DIMENSIONS)}"
        chunks = await own.create("VECTOR", strays)
        small = await own.create("VECTOR", f"{vectors} (n.other) {vector_options(8)}")
        others = await own.create("FULLTEXT", f"(n:{own.label}) {words}")
        mixed = await own.create("FULLTEXT", f"(n:{own.label}|__Chunk__) {words}")
        tenantless = await own.create("FULLTEXT", "(n:__Chunk__) ON EACH [n.text, n.heading]")
        whole = "OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}"
        failed = await own.create(
            "FULLTEXT",
            f"(n:{own.label}|__Chunk__) ON EACH [n.text, n.project_key, n.long] {whole}",
        )
        for name in (chunks, small, others, mixed, tenantless):
            await own.built(name)
        with pytest.raises(UpstreamError):  # waiting for it says so, in other words on each server
            await own.built(failed)

        for limit in (None, 0):
            stray = searched(backend, limit, chunk=chunks, fulltext=mixed)
            found = await ask_followup(stray, project, QUESTION, axis(0))
            assert {c.id for c in found.chunks} <= {"k1", "k2", "k3"}
        says = f"{small}, over `embedding` of __Chunk__, does not exist: {PREPARE}"
        await assert_refused(searched(backend, 0, chunk=small), project, says)
        for name in (others, tenantless, failed):
            await assert_all_found(searched(backend, fulltext=name), project, by_words=False)
        health = await searched(backend, fulltext=failed).health()
        assert {i.name: i.online for i in health.indexes} == {
            NAMES.community: True,
            NAMES.chunk: True,
            failed: False,
        }


@pytest.mark.neo4j
@pytest.mark.deep  # 5.26 has one vector index a label and property
async def test_an_index_that_is_dropped_or_made_anew_while_the_service_runs_is_named(
    backend: Neo4jBackend, project: str, own: OwnIndexes
) -> None:
    await fill(backend, project, CHUNKS, communities=COMMUNITIES)
    body = "(n:__Chunk__) ON n.embedding WITH [n.project_id, n.ordinal] "
    name = await own.create("VECTOR", body + vector_options(DIMENSIONS))
    await own.built(name)
    graph = searched(backend, 0, chunk=name)
    await assert_all_found(graph, project, by_words=True)
    await own.run(f"DROP INDEX {name}")
    await assert_refused(graph, project, f"{name}, .* does not exist: {PREPARE}")
    await own.create("VECTOR", body + vector_options(DIMENSIONS), name)
    await own.built(name)
    await assert_all_found(graph, project, by_words=True)
    await own.run(f"DROP INDEX {name}")
    await own.create("VECTOR", body + vector_options(8), name)
    await own.built(name)
    await assert_refused(
        graph, project, f"{name} has 8 dimensions, but {DIMENSIONS} are wanted.*{PREPARE}"
    )
