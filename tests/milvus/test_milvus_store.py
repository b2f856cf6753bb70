"""MilvusStore on Milvus Lite: no filter through an id, and what is wrong with a server is said."""

import asyncio
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from drift.core.errors import VectorStoreError
from drift.milvus.store import MilvusStore
from drift.model.vectors import VectorRow


def other_of(store: MilvusStore) -> MilvusStore:
    return MilvusStore(store.uri, "", store.collection, store.index, store.dimensions)


async def test_what_is_wrong_with_milvus_is_said_in_time(tmp_path: Path) -> None:
    uri = str(tmp_path / "milvus.db")
    right = MilvusStore(uri, "", "graph_nodes", "HNSW", 8)
    await right.check("embedding", 30)
    row = VectorRow('p" or id != "', "Chunk", "Chunk", "c", "text", (1.0,) * 8)
    await right.upsert("embedding", [row], 30)
    assert await right.search("embedding", "p", row.vector, ["Chunk"], 5, 30) == []
    assert await right.search("embedding", '" or "" == "', row.vector, ["Chunk"], 5, 30) == []
    [found] = await right.search("embedding", row.project_id, row.vector, ["Chunk"], 5, 30)
    assert found == ("Chunk", "c")

    other = MilvusStore(uri, "", "graph_nodes", "HNSW", 16)
    with pytest.raises(VectorStoreError, match=r"8 floats and metric COSINE; 16 floats"):
        await other.check("embedding", 30)

    foreign = MilvusStore(uri, "", "foreign", "HNSW", 8)
    right._client.create_collection("foreign", dimension=8, metric_type="L2")
    with pytest.raises(VectorStoreError, match=r"metric L2, and lacks kind, metadata"):
        await foreign.check("embedding", 30)

    known = await right.place("embedding", 30)
    assert await other_of(right).place("embedding", 30) == known
    right._client.drop_collection("graph_nodes")
    await right.check("embedding", 30)  # made anew: what was in step with it is so no more
    assert await right.place("embedding", 30) != known

    program = (
        "import asyncio; from drift.milvus.store import MilvusStore as M; "
        f"asyncio.run(M({uri!r}, '', 'graph_nodes', 'HNSW', 8).check('embedding', 30))"
    )
    second = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"MILVUS_URI": uri},  # which pymilvus reads as well
    )
    assert b"One process at a time may have it" in (await second.communicate())[1]

    silent = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
    for port in (silent.getsockname()[1], 1):
        away = MilvusStore(f"http://127.0.0.1:{port}", "", "graph_nodes", "HNSW", 8)
        began = time.monotonic()
        with pytest.raises(VectorStoreError, match=r"Milvus (did not answer|cannot be reached)"):
            await away.search("embedding", "p", row.vector, ["Chunk"], 5, 1.0)
        assert time.monotonic() - began < 10
    silent.close()
    for one in (right, other, foreign):
        await one.close()
