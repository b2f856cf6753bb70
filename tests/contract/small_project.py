"""A small project of documents and knowledge, which the tests of the writers write."""

from __future__ import annotations

from dataclasses import replace

from drift.graph.writing.records import KnowledgeBatch, RelationRecord
from tests.contract.graph_backends import (
    Backend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    entity,
    fill,
)

CHUNKS = (
    chunk("k1", "alpha", axis(0), "d1"),
    chunk("k2", "beta", axis(1), "d1"),
    chunk("k3", "gamma", axis(2), "d2"),
)
ENTITIES = (entity("e1", "Alpha", "k1", "k2"), entity("e2", "Gamma", "k3"))
RELATIONS = (RelationRecord("e1", "e2", "knows", 1.5), RelationRecord("e1", "e2", "sees", 0.5))
COMMUNITIES = (
    community(1, 1, None, axis(0)),
    community(2, 0, 1, axis(1), ["k1", "k2"], ["e1"]),
    community(3, 0, 1, axis(2), ["k3"], ["e2"]),
)
KNOWLEDGE = KnowledgeBatch(ENTITIES, RELATIONS, COMMUNITIES, "f1")
FULL = {
    "__Document__": 2,
    "__Chunk__": 3,
    "__Entity__": 2,
    "__Community__": 3,
    "HAS_CHUNK": 3,
    "HAS_ENTITY": 3,
    "RELATED": 2,
    "IN_COMMUNITY": 7,
}


async def fill_all(backend: Backend, project: str) -> None:
    await fill(backend, project, CHUNKS, ENTITIES, RELATIONS, COMMUNITIES)


async def questions_see(backend: Backend, project: str) -> tuple[object, ...]:
    """Everything that questions get to see.

    The scores of a follow-up's chunks and their order are left out: how rare a word is in the
    full-text index also depends on what other tests write into it meanwhile.
    """
    store = backend.store()
    primer = await ask_primer(store, project, axis(0))
    evidence = await ask_followup(store, project, "Alpha and Gamma?", axis(0))
    chunks = sorted((replace(chunk, score=0.0) for chunk in evidence.chunks), key=lambda c: c.id)
    return primer, replace(evidence, chunks=tuple(chunks))
