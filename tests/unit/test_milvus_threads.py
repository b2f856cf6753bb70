"""A Milvus that takes connections and is silent keeps nobody waiting who asks something else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from drift.core.errors import VectorStoreError
from drift.milvus import store as milvus
from drift.milvus.store import MilvusStore

MANY = 200


class Silent:
    """MilvusClient of a server that says nothing: to who connects, or to who searches."""

    begun: list[str]
    silent_at: str
    ended: threading.Event

    def __init__(self, *_: object, **__: object) -> None:
        self.call("connect")

    def call(self, name: str) -> None:
        self.begun.append(name)
        if name == self.silent_at:
            self.ended.wait(30)

    def has_collection(self, *_: object, **__: object) -> bool:
        return True

    def describe_collection(self, *_: object, **__: object) -> dict[str, Any]:
        names = ("id", "vector", "metadata", *milvus._TEXTS)
        fields = [{"name": name, "params": {"dim": 8}} for name in names]
        return {"fields": fields, "collection_id": 7}

    def list_indexes(self, *_: object, **__: object) -> list[str]:
        return ["vector"]

    def describe_index(self, *_: object, **__: object) -> dict[str, str]:
        return {"metric_type": "COSINE"}

    def load_collection(self, *_: object, **__: object) -> None:
        self.call("load")

    def search(self, *_: object, **__: object) -> list[list[Any]]:
        self.call("search")
        return [[]]


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Silent]]:
    """The class of clients, whose threads end with the test."""
    made = type("Client", (Silent,), {"begun": [], "silent_at": "", "ended": threading.Event()})
    monkeypatch.setattr(milvus, "_client", lambda: made)
    yield made
    made.ended.set()


@pytest.mark.parametrize(("silent_at", "most"), [("connect", 1), ("search", milvus.THREADS)])
async def test_many_searches_of_a_silent_server_leave_the_threads_of_others_free(
    silent: type[Silent], silent_at: str, most: int
) -> None:
    silent.silent_at = silent_at
    store = MilvusStore("http://m", "", "nodes", "HNSW", 8)
    searches = (store.search("embedding", "p", (1.0,) * 8, ["Chunk"], 5, 0.5) for _ in range(MANY))
    asked = asyncio.gather(*searches, return_exceptions=True)
    await asyncio.sleep(0.1)
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 10) == "free"
    assert all(isinstance(one, VectorStoreError) for one in await asked)
    assert (silent.begun.count("connect"), silent.begun.count(silent_at)) == (1, most)


async def test_a_collection_is_opened_once_for_all_who_ask(silent: type[Silent]) -> None:
    store = MilvusStore("http://m", "", "nodes", "HNSW", 8)
    searches = (store.search("embedding", "p", (1.0,) * 8, ["Chunk"], 5, 30) for _ in range(MANY))
    await asyncio.gather(*searches)
    assert [silent.begun.count(name) for name in ("connect", "load", "search")] == [1, 1, MANY]
    assert await store.place("embedding", 30) == "nodes 7"
    await store.check("embedding", 30)
    assert silent.begun.count("connect") == 1
