"""VectorStore on Milvus: one collection, in which every search names its project.

The client blocks, so each call runs in a thread, within its time. The threads are its own: a server
that is silent keeps nobody waiting who asks something else. Its asynchronous sister is called
experimental by its makers, and cannot make an index on Milvus Lite.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

from drift.core.errors import VectorStoreError
from drift.core.shared_build import SharedBuild
from drift.model.vectors import VectorRow, hashed

IndexType = Literal["IVF_FLAT", "HNSW"]

THREADS = 8
"""Calls that go on at once; others wait for them, within their time."""
CONNECT_S, OPEN_S = 5.0, 30.0
"""How long it may take to connect, and each step until a collection is loaded; who asks meanwhile
waits no longer than for any call."""
PAGE = 5000
"""Rows that are asked for at once when all of a project are listed; Milvus gives 16,384."""


MADE = "drift.made"
"""A property that tells collections of Milvus Lite apart: the ids there are all 0."""

# Fields of text, with the most bytes of each. Rows of a project lie together, so that a search
# reads little of others.
_TEXTS = {"project": 64, "kind": 64, "node_id": 8192, "node_type": 2048, "text_content": 65_535}


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Collection:
    """A collection that is loaded; `place` tells it from any other, one made anew as well."""

    client: Any
    name: str
    place: str


@dataclass(slots=True)
class MilvusStore:
    """Rows of one collection a space of vectors; building it imports and opens nothing.

    Every method raises VectorStoreError, with a sentence that says what is wrong.
    """

    uri: str
    token: str
    collection: str
    index: IndexType
    dimensions: int
    _client: Any = field(default=None, init=False)
    _ready: dict[str, _Collection] = field(default_factory=dict, init=False)
    _opening: dict[str, SharedBuild[_Collection]] = field(default_factory=dict, init=False)
    _connecting: threading.Lock = field(default_factory=threading.Lock, init=False)
    _threads: ThreadPoolExecutor = field(
        default_factory=partial(ThreadPoolExecutor, THREADS, "milvus"), init=False
    )

    @property
    def settles_s(self) -> float:
        """Return how long a write may stay unseen: a server answers from up to 5 s ago."""
        # twice the bound of a server's own default (`common.gracefulTime`)
        return 2 * 5.0 if "://" in self.uri else 0.0

    async def place(self, space: str, timeout_s: float) -> str:
        """Return what tells this collection from any other, one made anew as well."""
        return (await _within(timeout_s, self._opened(space))).place

    async def search(  # noqa: PLR0913, PLR0917 - one search
        self,
        space: str,
        project_id: str,
        vector: Sequence[float],
        kinds: Sequence[str],
        limit: int,
        timeout_s: float,
    ) -> list[tuple[str, str]]:
        """Return kind and id of the nodes nearest to a vector, the best first."""
        params = {"nprobe": 64} if self.index == "IVF_FLAT" else {"ef": max(2 * limit, 128)}
        found = await self._ask(
            "search",
            space,
            timeout_s,
            data=[list(vector)],
            anns_field="vector",
            filter=f"{_of(project_id)} and kind in {list(kinds)}",
            limit=limit,
            output_fields=["node_id", "kind"],
            search_params={"metric_type": "COSINE", "params": params},
        )
        return [(hit["entity"]["kind"], hit["entity"]["node_id"]) for hit in found[0]]

    async def upsert(self, space: str, rows: Sequence[VectorRow], timeout_s: float) -> None:
        """Write up to a thousand rows, each in the place of the one with its key."""
        if rows:
            await self._ask("upsert", space, timeout_s, data=[_stored(row) for row in rows])

    async def delete(self, space: str, keys: Sequence[str], timeout_s: float) -> None:
        """Remove the rows of these keys; one that is not there is no error."""
        for begin in range(0, len(keys), PAGE):
            await self._ask("delete", space, timeout_s, ids=list(keys[begin : begin + PAGE]))

    async def digests(self, space: str, project_id: str, timeout_s: float) -> dict[str, str]:
        """Return the digest of each row of a project, by its key; `timeout_s` is that of a page."""
        about = {"filter": _of(project_id), "output_fields": ["id", "metadata"]}
        about["consistency_level"] = "Strong"
        pages = await self._ask("query_iterator", space, timeout_s, batch_size=PAGE, **about)
        known: dict[str, str] = {}
        while rows := await _within(timeout_s, self._run(pages.next)):
            known |= {row["id"]: str(row["metadata"].get("digest", "")) for row in rows}
        return known

    async def check(self, space: str, timeout_s: float) -> None:
        """Look whether the server answers and the collection fits, which is made if missing."""
        self._ready.pop(space, None)
        await self._ask("load_collection", space, timeout_s)

    async def close(self) -> None:
        """Close the client; a later call opens a new one."""
        client, self._client = self._client, None
        self._ready.clear()
        if client is not None:
            await asyncio.to_thread(client.close)  # its own may all be waiting

    async def _ask(self, method: str, space: str, timeout_s: float, **values: Any) -> Any:  # noqa: ANN401
        """Call a method of the client on a collection, which is there and fits."""

        async def asked() -> Any:  # noqa: ANN401
            there = await self._opened(space)
            method_ = getattr(there.client, method)
            return await self._run(partial(method_, there.name, timeout=timeout_s, **values))

        return await _within(timeout_s, asked())

    async def _run(self, work: Callable[[], _T]) -> _T:
        """Run what blocks in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _opened(self, space: str) -> _Collection:
        """Return a collection, which one task opens for all who ask."""
        if (there := self._ready.get(space)) is not None:
            return there
        opening = self._opening.setdefault(space, SharedBuild(partial(self._open, space)))
        return await asyncio.shield(opening.start())

    async def _open(self, space: str) -> _Collection:
        there = await self._run(partial(self._loaded, space))
        self._ready[space] = there
        return there

    def _connected(self) -> Any:  # noqa: ANN401 - the client has no types
        no_file = (
            "The file of Milvus Lite cannot be opened. One process at a time may have it: set "
            "MILVUS_URI to a server, or end the other process. It needs the package milvus-lite."
        )
        with self._connecting:  # two spaces may be opened at once
            if self._client is None:
                connect = _client()
                for name in ("pymilvus", "milvus_lite"):
                    logging.getLogger(name).setLevel(logging.CRITICAL + 1)
                try:
                    self._client = connect(
                        self.uri, token=self.token, timeout=CONNECT_S, dedicated=True
                    )
                except Exception as error:
                    said = f"Milvus cannot be reached: {_first_line(error)}."
                    raise VectorStoreError(said if "://" in self.uri else no_file) from error
            return self._client

    def _loaded(self, space: str) -> _Collection:
        """Return the collection of a space, which is made if it is missing; blocks."""
        client, timeout = self._connected(), OPEN_S
        name = f"{self.collection}{space.removeprefix('embedding')}"
        if not client.has_collection(name, timeout=timeout):
            self._create(client, name, timeout)
        about = client.describe_collection(name, timeout=timeout)
        self._require_fitting(client, name, about["fields"], timeout)
        client.load_collection(name, timeout=timeout)
        made = about.get("properties", {}).get(MADE, "")
        return _Collection(client, name, f"{name} {about['collection_id']}{made}")

    def _require_fitting(self, client: Any, name: str, fields: Any, timeout: float) -> None:  # noqa: ANN401
        lengths = {one["name"]: one.get("params", {}).get("dim") for one in fields}
        metrics = [
            str(client.describe_index(name, one, timeout=timeout).get("metric_type"))
            for one in client.list_indexes(name, field_name="vector", timeout=timeout)
        ]
        missing = {"id", "vector", "metadata", *_TEXTS} - set(lengths)
        length = lengths.get("vector")
        if missing or str(length) != str(self.dimensions) or metrics != ["COSINE"]:
            lacks = f", and lacks {', '.join(sorted(missing))}" if missing else ""
            raise VectorStoreError(
                f"The collection {name} has {length or 'no'} floats and metric "
                f"{' and '.join(metrics) or 'none'}{lacks}; {self.dimensions} floats and COSINE "
                "are needed: drop it, or set MILVUS_COLLECTION to another name; then run "
                "`drift reconcile`."
            )

    def _create(self, client: Any, name: str, timeout: float) -> None:  # noqa: ANN401
        from pymilvus import DataType  # noqa: PLC0415 - an extra

        schema = client.create_schema(enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self.dimensions)
        for text, most in _TEXTS.items():
            is_key = text == "project"
            schema.add_field(text, DataType.VARCHAR, max_length=most, is_partition_key=is_key)
        schema.add_field("metadata", DataType.JSON)
        indexes = client.prepare_index_params()
        params = {"IVF_FLAT": {"nlist": 128}, "HNSW": {"M": 16, "efConstruction": 200}}
        built = {"index_type": self.index, "params": params[self.index]}
        indexes.add_index("vector", metric_type="COSINE", **built)
        about = {} if "://" in self.uri else {MADE: uuid.uuid4().hex}
        client.create_collection(
            name, schema=schema, index_params=indexes, properties=about, timeout=timeout
        )


async def _within(timeout_s: float, work: Awaitable[_T]) -> _T:
    """Wait for a call; whatever it raises is a VectorStoreError."""
    try:
        async with asyncio.timeout(timeout_s):
            return await work
    except VectorStoreError:
        raise
    except TimeoutError as error:
        raise VectorStoreError(f"Milvus did not answer within {timeout_s:g} s.") from error
    except Exception as error:  # its errors, grpc's and those of Milvus Lite have no root
        raise VectorStoreError(f"Milvus failed: {_first_line(error)}.") from error


def _client() -> Any:  # noqa: ANN401
    """Import the class of clients: 107 MB that others do not pay.

    The package reads MILVUS_URI as well, and a `.env`, and cannot be imported with a file there.
    """
    there = os.environ.get("MILVUS_URI")
    os.environ["MILVUS_URI"] = ""
    try:
        from pymilvus import MilvusClient  # noqa: PLC0415
    finally:
        del os.environ["MILVUS_URI"]
        os.environ |= {"MILVUS_URI": there} if there is not None else {}
    return MilvusClient


def _of(project_id: str) -> str:
    """Return the filter by project; nothing that a person has chosen stands in it as it is."""
    return f'project == "{hashed(project_id)}"'


def _stored(row: VectorRow) -> dict[str, Any]:
    about = {"project_id": row.project_id, "digest": row.digest, "created_at": round(time.time())}
    return {
        "id": row.key,
        "vector": list(row.vector),
        "project": hashed(row.project_id),
        "kind": row.kind,
        "node_id": row.node_id,
        "node_type": row.label,
        # Milvus takes 65,535 bytes, and the text is cut below that.
        "text_content": row.text.encode(errors="replace")[:65_000].decode(errors="ignore"),
        "metadata": about,
    }


def _first_line(error: Exception) -> str:
    """Return what an error says, without the address that it may name."""
    said = str(getattr(error, "message", "") or error).strip().partition("\n")[0]
    return f"{type(error).__name__} {said[:200]}".strip().rstrip(".")
