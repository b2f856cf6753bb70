"""Which of people's nodes are embedded, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from drift.errors import ProjectBusyError
from drift.offline.indexing.batch_embedder import BatchEmbedder
from drift.offline.indexing.nodes import BATCH, NodeIndexing, NodesReport
from drift.offline.writing.neo4j.nodes import LabelledNode
from drift.rag.node_text import searchable_text, text_hash
from drift.values.nodes import Embedded
from tests.fakes import HashingEmbedder, vector_of

MODEL, DIMENSIONS = "a-model", 4
ADA = {"title": None, "name": "Ada", "description": "Wrote the first program."}


def node(
    element_id: str, texts: dict[str, Any] | None = None, of: dict[str, Any] | None = None
) -> LabelledNode:
    """Return a node; `of` are the texts that its vector was made of, None for no vector."""
    hash_ = text_hash(searchable_text(of), MODEL, DIMENSIONS) if of else ""
    return LabelledNode(element_id, texts or ADA, bool(of), bool(of), hash_)


class Held:
    """The nodes of a label; one that was written is as it should be."""

    def __init__(self, *nodes: LabelledNode) -> None:
        self.nodes = {one.element_id: one for one in nodes}
        self.vectors: dict[str, Embedded | None] = {}
        self.is_busy = False

    async def labelled(
        self, project_id: str, label: str, *, adopts: bool
    ) -> AsyncIterator[LabelledNode]:
        assert (project_id, label, adopts) == ("p", "Person", False)
        for one in list(self.nodes.values()):
            yield one

    async def put(self, project_id: str, nodes: list[tuple[LabelledNode, Embedded | None]]) -> int:
        if self.is_busy:
            raise ProjectBusyError(project_id)
        for one, embedded in nodes:
            self.vectors[one.element_id] = embedded
            hash_ = embedded.text_hash if embedded else ""
            has = embedded is not None
            self.nodes[one.element_id] = LabelledNode(one.element_id, one.texts, has, has, hash_)
        return len(nodes)


async def run(held: Held, embedder: HashingEmbedder | None = None) -> NodesReport:
    made = BatchEmbedder(embedder or HashingEmbedder(), DIMENSIONS)
    return await NodeIndexing(held, made, MODEL, DIMENSIONS).run("p", "Person")


async def test_what_is_missing_or_stale_is_embedded_and_nothing_else() -> None:
    other = {**ADA, "description": "A countess."}
    silent = {"title": "Silent", "name": None, "description": None}
    held = Held(node("new"), node("same", of=ADA), node("stale", of=other), node("mute", silent))
    report = await run(held)

    assert (report.seen, report.missing, report.stale, report.without_text) == (4, 1, 1, 1)
    assert (report.differs, report.mended) == (2, 2)
    assert set(held.vectors) == {"new", "stale"}
    made = held.vectors["new"]
    assert made
    assert made.vector == vector_of(searchable_text(ADA))
    assert made.text_hash == held.nodes["same"].text_hash


async def test_a_node_without_a_text_loses_the_vector_that_it_had() -> None:
    silent = {"title": "Silent", "name": None, "description": ""}
    held = Held(node("mute", silent, of=ADA))
    report = await run(held)

    assert held.vectors == {"mute": None}
    assert (report.without_text, report.differs, report.mended) == (1, 0, 1)


async def test_a_second_run_finds_nothing_to_do() -> None:
    held = Held(*(node(str(n)) for n in range(2 * BATCH + 3)))
    embedder = HashingEmbedder()
    assert (await run(held, embedder)).mended == 2 * BATCH + 3
    calls = len(embedder.calls)
    again = await run(held, embedder)

    assert (again.seen, again.differs, again.mended) == (2 * BATCH + 3, 0, 0)
    assert len(embedder.calls) == calls


async def test_a_run_that_breaks_off_goes_on_where_it_was() -> None:
    held = Held(*(node(str(n)) for n in range(3 * BATCH)))
    calls = 0

    def failing(_texts: object) -> Exception | None:
        nonlocal calls
        calls += 1
        return RuntimeError("gone") if calls > 2 else None

    with pytest.raises(RuntimeError):
        await run(held, HashingEmbedder(failing))
    done = len(held.vectors)
    assert 0 < done < 3 * BATCH
    assert (await run(held)).mended == 3 * BATCH - done


async def test_a_project_that_an_ingest_holds_says_so() -> None:
    held = Held(node("new"))
    held.is_busy = True
    with pytest.raises(ProjectBusyError):
        await run(held)
