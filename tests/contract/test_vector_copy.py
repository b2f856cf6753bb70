"""A store of vectors beside a real graph: the same evidence, in step, and nothing lost by it.

The same tests run on Milvus Lite where it is installed, which the common environment is spared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.graph import vector_copy
from drift.graph.graph import Neo4jGraph
from drift.graph.vector_copy import VectorCopy
from drift.indexing.indexer import Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.milvus import store as milvus_store
from drift.milvus.store import MilvusStore
from drift.model.found_nodes import NodesQuery
from drift.model.graph import FollowupQuery
from drift.model.nodes import Embedded, OwnNode
from drift.model.vectors import hashed
from drift.ports import VectorStore
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, on_real_server
from tests.fakes_vectors import InMemoryVectors

MODEL = "wordllama-256"
pytestmark = on_real_server
STORES = ["memory", *(["milvus"] if find_spec("milvus_lite") else [])]


@pytest.fixture(params=STORES)
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[VectorStore]:
    if request.param == "memory":
        yield InMemoryVectors()
        return
    monkeypatch.setattr(vector_copy, "FOLLOW_S", 120.0)  # whatever else the machine does
    monkeypatch.setattr(milvus_store, "PAGE", 20)  # several pages of few rows
    uri = str(tmp_path / "milvus.db")
    milvus = MilvusStore(uri, "", "graph_nodes", "IVF_FLAT", DIMENSIONS)
    yield milvus
    await milvus.close()
    from milvus_lite.server_manager import server_manager_instance  # noqa: PLC0415

    await asyncio.to_thread(server_manager_instance.release_server, uri)


TEXT = "\n\n".join(
    f"# Berth {name} {n}\n\nHere lies the ship of captain {name}{n}, with {cargo} number {n}."
    for n in range(26)
    for name, cargo in [("Ada", "salt"), ("Bo", "oak beams"), ("Cy", "herring")]
)
QUESTION = "Which ship is laden with oak beams number 7?"


async def asked(graph: Neo4jGraph, project: str) -> list[str]:
    deadline = Deadline.after(60)
    [vector] = (await LocalEmbedder().embed([QUESTION], deadline)).vectors
    found = await graph.followup(FollowupQuery(project, QUESTION, tuple(vector), ()), deadline)
    nodes = await graph.finder().nearest_nodes(NodesQuery(project, tuple(vector)), deadline)
    return sorted(one.chunk.id for one in found.chunks) + [one.id for one in nodes.nodes]


def graph_of(backend: Neo4jBackend, store: VectorStore | None) -> Neo4jGraph:
    about = {"embedding_model": MODEL, "dimensions": DIMENSIONS}
    return Neo4jGraph(backend.connection, backend.names, store=store, **about)


async def in_step(copy: VectorCopy, project: str) -> bool:
    return project not in await copy.behind()


def values_of(project: str) -> dict[str, Any]:
    return {"asked": {"project_id": project}, "vector": [1.0] * DIMENSIONS}


async def keys_of(store: VectorStore, project: str) -> set[str]:
    return set(await store.digests("embedding", project, 30))


async def test_a_store_gives_the_same_evidence_and_follows_every_write(
    backend: Neo4jBackend, project: str, store: VectorStore
) -> None:
    graph, alone = graph_of(backend, store), graph_of(backend, None)
    assert graph.copy is not None
    index = Indexer(
        backend.connection,
        project,
        LocalEmbedder(),
        MODEL,
        DIMENSIONS,
        backend.names,
        copy=graph.copy,
    )
    assert (await index.add("ships.md", TEXT)).chunks >= 60
    assert await in_step(graph.copy, project)
    assert len(await keys_of(store, project)) == 78
    assert await graph.copy.finds(values_of(project), ["Chunk"], 100, 60, Deadline.after(60))
    assert await asked(graph, project) == await asked(alone, project)

    before = await keys_of(store, project)
    await index.add("ferry.md", "# Ferry\n\nThe ferry leaves at noon from the East Jetty.\n")
    [ferry] = await graph.copy.chunks_of(project, "ferry.md")
    assert await keys_of(store, project) - before == {hashed(project, "Chunk", ferry)}
    await index.remove("ferry.md")
    assert await keys_of(store, project) == before
    assert await in_step(graph.copy, project)

    nodes, owner = graph.node_store(), EVERYBODY.project(project, "write")
    embedded = Embedded((0.5,) * DIMENSIONS, MODEL, "hash")
    bosun = OwnNode('b" or "" == "', "Bosun", {"name": "Bo", "description": "Steers"})
    await nodes.create_node(owner, bosun, embedded, Deadline.after(60))
    assert await keys_of(store, project) - before == {hashed(project, "own", bosun.id)}
    await nodes.remove_node(owner, bosun.id, Deadline.after(60))
    assert await keys_of(store, project) == before
    assert await in_step(graph.copy, project)

    writer = Neo4jWriter(
        backend.connection, backend.names, model=MODEL, dimensions=DIMENSIONS, store=store
    )
    await writer.remove_documents(project, ["ships.md"])
    assert await keys_of(store, project) == set()


async def test_a_store_that_is_down_behind_or_emptied_costs_no_evidence(
    backend: Neo4jBackend, project: str
) -> None:
    store = InMemoryVectors()
    graph, alone = graph_of(backend, store), graph_of(backend, None)
    assert graph.copy is not None
    index = Indexer(backend.connection, project, LocalEmbedder(), MODEL, DIMENSIONS, backend.names)
    watched = replace(index, copy=graph.copy)
    await watched.add("ships.md", TEXT)
    right = await asked(alone, project)
    rows = dict(store.rows)

    # Rows of a chunk that is gone, and of one of another tenant's, are no evidence.
    some, beside = next(iter(rows.values())), f"{project}-b"
    await replace(index, project_id=beside).add("oak.md", "# Oak\n\nOak beams number 7, theirs.\n")
    [theirs] = await graph.copy.chunks_of(beside, "oak.md")
    await store.upsert("", [replace(some, node_id=one) for one in ("gone", theirs)], 1)
    assert await asked(graph, project) == right

    # Written by one that knows nothing of the store, or killed before it was written to.
    await index.add("oak.md", "# Oak\n\nThe ship laden with oak beams number 7 is the Karin.\n")
    assert not await in_step(graph.copy, project)
    assert project in await graph.copy.behind()
    right = await asked(alone, project)
    assert await asked(graph, project) == right
    assert await graph.copy.mend(project) == 3  # the new chunk, and what belongs to nobody here
    assert await in_step(graph.copy, project)
    assert await asked(graph, project) == right

    searched, store.settles_s = store.searched, 3600.0  # what was just written may be unseen there
    assert not await graph.copy.finds(values_of(project), ["Chunk"], 100, 60, Deadline.after(60))
    assert store.searched == searched + 1
    store.settles_s = 0.0
    assert await graph.copy.finds(values_of(project), ["Chunk"], 100, 60, Deadline.after(60))

    store.fails = "Milvus did not answer within 1 s."
    assert await asked(graph, project) == right
    assert "Neo4j's own vectors answer" in (await graph.copy.health()).reason
    await watched.remove("oak.md")  # the write stands, the store is behind
    assert await asked(graph, project) == await asked(alone, project)
    store.fails, store.rows = "", {}
    graph.copy.breaker.succeed()
    await graph.copy.follow(project)
    assert await in_step(graph.copy, project)
    assert set(store.rows) == set(rows)
