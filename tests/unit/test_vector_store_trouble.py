"""Whether the store of vectors beside the graph is asked depends on what it did itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.graph.vector_copy import SEARCH_S, VectorCopy
from tests.fakes_vectors import InMemoryVectors


class Graph:
    """Knows of no project; `fails` makes every statement fail."""

    fails = False

    async def _rows(self, _text: str, _values: Any) -> Any:
        if self.fails:
            raise GraphUnavailableError("The graph cannot be reached.")
        return SimpleNamespace(records=[])

    read = write = _rows


class Own:
    dimensions = 1

    async def version(self) -> Any:
        return SimpleNamespace(vector="embedding")


async def found(copy: VectorCopy, seconds: float) -> bool:
    values = {"asked": {"project_id": "p"}, "vector": [1.0]}
    return await copy.finds(values, ["Chunk"], 10, 1, Deadline.after(seconds))


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def store() -> InMemoryVectors:
    return InMemoryVectors()


@pytest.fixture
def copy(graph: Graph, store: InMemoryVectors) -> VectorCopy:
    return VectorCopy(store, graph, Own())  # type: ignore[arg-type]


async def test_a_request_with_too_little_time_says_nothing_of_the_store(
    copy: VectorCopy, store: InMemoryVectors
) -> None:
    await found(copy, 60)
    store.fails = "Milvus did not answer in time."
    await found(copy, SEARCH_S / 2)
    assert copy.breaker.problem == ""
    await found(copy, 60)
    assert copy.breaker.problem == store.fails


async def test_a_write_that_fails_by_the_graph_says_nothing_of_the_store(
    copy: VectorCopy, store: InMemoryVectors, graph: Graph
) -> None:
    graph.fails = True
    await copy.follow("p")
    await copy.changed("p", ["c"], "before", "after")
    assert copy.breaker.problem == ""

    copy.breaker.fail(store.fails or "down")
    await copy.follow("p")
    assert copy.breaker.problem == "down"


async def test_a_project_in_step_is_no_answer_of_the_store(
    copy: VectorCopy, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def noted(_text: str, _values: Any) -> Any:
        return SimpleNamespace(records=[{"at": "now", "copied": "memory now"}])

    monkeypatch.setattr(graph, "write", noted, raising=False)
    copy.breaker.fail("down")
    await copy.follow("p")
    assert copy.breaker.problem == "down"
