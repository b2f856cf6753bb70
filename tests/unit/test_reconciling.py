"""Which of people's nodes are embedded, in memory, and what a run over all projects survives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from drift.auth.caller import EVERYBODY
from drift.contracts.nodes import NewNode
from drift.core.deadline import Deadline
from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    ModelUnavailableError,
    ProjectHeldError,
)
from drift.model.nodes import Embedded, LabelledNode, Taking
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.node_text import searchable_text, text_hash
from drift.nodes.reconciling import BATCH, NAMED, UNFINISHED, NodeReconciling, NodesReport, Summary
from drift.nodes.writing import NodeRules, NodeWriting
from tests.fakes import HashingEmbedder, vector_of

MODEL, DIMENSIONS = "a-model", 4
RULES = NodeRules(("Chunk", "Person"), MODEL, DIMENSIONS)
ADA = {"title": None, "name": "Ada", "description": "Wrote the first program."}


def node(
    element_id: str, texts: dict[str, Any] | None = None, of: dict[str, Any] | None = None
) -> LabelledNode:
    """Return a node; `of` are the texts that its vector was made of, None for no vector."""
    hash_ = text_hash(searchable_text(of), MODEL, DIMENSIONS) if of else ""
    return LabelledNode(element_id, f"id-{element_id}", texts or ADA, bool(of), bool(of), hash_)


class Held:
    """The nodes of a label, by project; one that was written is as it should be."""

    def __init__(self, *nodes: LabelledNode, **projects: list[LabelledNode]) -> None:
        all_of_them = {"p": list(nodes)} if nodes else projects
        self.nodes = {p: {one.element_id: one for one in n} for p, n in all_of_them.items()}
        self.vectors: dict[str, Embedded | None] = {}
        self.busy: set[str] = set()
        self.taken_while_embedding: set[str] = set()
        self.failing: dict[str, DriftError] = {}
        self.prepared = 0

    async def prepare(self, dimensions: int) -> None:
        assert dimensions == DIMENSIONS
        self.prepared += 1

    async def projects(self, label: str) -> list[str]:
        assert label == "Person"
        return sorted(self.nodes)

    async def labelled(
        self, project_id: str, label: str, taking: Taking
    ) -> AsyncGenerator[LabelledNode]:
        assert (label, taking) == ("Person", "marked")
        if project_id in self.failing:
            raise self.failing[project_id]
        for one in list(self.nodes[project_id].values()):
            yield one

    async def require_free(self, project_id: str) -> None:
        if project_id in self.busy:
            raise ProjectHeldError(project_id)

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        deadline.require()
        if project_id in self.busy | self.taken_while_embedding:
            raise ProjectHeldError(project_id)
        for one, embedded in nodes:
            self.vectors[one.element_id] = embedded
            hash_ = embedded.text_hash if embedded else ""
            has = embedded is not None
            self.nodes[project_id][one.element_id] = LabelledNode(
                one.element_id, one.id, one.texts, has, has, hash_
            )
        return len(nodes)


def reconciling(held: Held, embedder: HashingEmbedder | None = None) -> NodeReconciling:
    calls = EmbeddingCalls(embedder or HashingEmbedder(), DIMENSIONS)
    return NodeReconciling(held, calls, RULES)


async def run(
    held: Held, embedder: HashingEmbedder | None = None, deadline: Deadline | None = None
) -> NodesReport:
    return await reconciling(held, embedder).run("p", "Person", deadline or Deadline.after(60))


async def everything(
    held: Held, embedder: HashingEmbedder | None = None, deadline: Deadline | None = None
) -> Summary:
    return await reconciling(held, embedder).everything(deadline or Deadline.after(60))


async def test_what_is_missing_or_stale_is_embedded_and_nothing_else() -> None:
    other = {**ADA, "description": "A countess."}
    silent = {"title": "Silent", "name": None, "description": None}
    held = Held(node("new"), node("same", of=ADA), node("stale", of=other), node("mute", silent))
    report = await run(held)

    assert (report.seen, report.missing, report.stale, report.without_text) == (4, 1, 1, 1)
    assert (report.differs, report.mended) == (2, 2)
    assert set(held.vectors) == {"new", "stale"}
    made = held.vectors["new"]
    assert made.vector == vector_of(searchable_text(ADA))
    assert made.text_hash == held.nodes["p"]["same"].text_hash


async def test_a_node_without_a_text_loses_the_vector_that_it_had() -> None:
    silent = {"title": "Silent", "name": None, "description": ""}
    held = Held(node("mute", silent, of=ADA))
    report = await run(held)

    assert held.vectors == {"mute": None}
    assert (report.without_text, report.differs, report.mended) == (1, 0, 1)


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
    held.busy = {"p"}
    embedder = HashingEmbedder()
    with pytest.raises(ProjectHeldError):
        await run(held, embedder)
    assert not embedder.calls  # no model is paid for it

    held.busy, held.taken_while_embedding = set(), {"p"}
    with pytest.raises(ProjectHeldError):
        await run(held, embedder)
    assert not held.vectors


async def test_a_node_of_another_program_is_counted_and_left() -> None:
    held = Held(replace(node("theirs"), is_foreign=True), node("ours"))
    report = await run(held)
    assert (report.seen, report.foreign, report.missing, report.mended) == (2, 1, 1, 1)
    assert set(held.vectors) == {"ours"}


async def test_the_first_that_differ_are_named() -> None:
    held = Held(node("same", of=ADA), *(node(str(n)) for n in range(NAMED + 5)))
    assert (await run(held)).examples == [f"id-{n}" for n in range(NAMED)]


async def test_a_batch_and_a_written_node_embed_the_same_text() -> None:
    """Of a long text too: the hash would otherwise stand at two vectors."""
    long = {"title": "Long", "name": None, "description": "a word " * 2000}
    held, embedder = Held(node("long", long)), HashingEmbedder()
    await run(held, embedder)
    by_batch = held.vectors["long"]

    written: list[Embedded | None] = []

    class Store:
        async def create_node(
            self, _project: object, _node: object, embedded: Embedded | None, _deadline: Deadline
        ) -> None:
            written.append(embedded)

    properties = {name: text for name, text in long.items() if text}
    asked = NewNode.model_validate({"label": "Person", "properties": properties})
    writing = NodeWriting(Store(), embedder, RULES)
    project = EVERYBODY.project("p", "write")
    await writing.create(project, asked, Deadline.after(60))

    assert len(embedder.calls[0][0]) == 8000
    assert embedder.calls[0] == embedder.calls[1]
    assert written == [by_batch]


# ------------------------------------------------------------------------------- all projects
def three() -> Held:
    return Held(a=[node("a")], b=[node("b")], c=[node("c")])


async def test_every_project_is_looked_at_and_the_index_is_there_before() -> None:
    held = three()
    assert await everything(held) == Summary(looked_at=3, mended=3)
    assert (set(held.vectors), held.prepared) == ({"a", "b", "c"}, 1)
    assert await everything(Held()) == Summary()


async def test_a_held_project_is_left_for_the_next_run_and_the_others_follow() -> None:
    held = three()
    held.busy = {"b"}
    assert await everything(held) == Summary(looked_at=3, mended=2, held=1)
    assert set(held.vectors) == {"a", "c"}

    held.busy = set()
    assert await everything(held) == Summary(looked_at=3, mended=1)
    assert set(held.vectors) == {"a", "b", "c"}


@pytest.mark.parametrize("error", [GraphMisconfiguredError("Odd."), GraphTimeoutError("Slow.")])
async def test_a_failure_of_one_project_costs_that_one(error: DriftError) -> None:
    held = three()
    held.failing = {"a": error}
    assert await everything(held) == Summary(looked_at=3, mended=2, failed=1)
    assert set(held.vectors) == {"b", "c"}


@pytest.mark.parametrize("error", [GraphUnavailableError("Away."), ModelUnavailableError("Away.")])
async def test_without_a_server_the_run_ends_and_says_so(error: DriftError) -> None:
    held = three()
    held.failing = {"b": error}
    ended = await everything(held)
    assert ended == Summary(looked_at=2, mended=1, failed=1, outcome=error.code)


async def test_a_run_ends_at_its_deadline_and_the_next_goes_on() -> None:
    held = Held(a=[node(f"a{n}") for n in range(3 * BATCH)], b=[node("b")])
    now = 0.0
    deadline = Deadline.after(10, lambda: now)
    embedder = HashingEmbedder()
    embed = embedder.embed

    async def slowly(texts: Sequence[str], own: Deadline) -> Any:
        nonlocal now
        now += 4
        return await embed(texts, own)

    embedder.embed = slowly
    ended = await everything(held, embedder, deadline)
    assert ended.outcome == UNFINISHED
    assert (ended.looked_at, ended.mended) == (1, BATCH)
    assert len(held.vectors) == BATCH

    assert await everything(held) == Summary(looked_at=2, mended=2 * BATCH + 1)


async def test_a_call_that_hangs_is_ended_at_the_deadline() -> None:
    held = Held(node("hangs"))
    embedder = HashingEmbedder()

    async def hang(_texts: object, _deadline: object) -> Any:
        await asyncio.Event().wait()

    embedder.embed = hang
    report = await run(held, embedder, Deadline.after(0.01))
    assert (report.outcome, report.mended, held.vectors) == (UNFINISHED, 0, {})
