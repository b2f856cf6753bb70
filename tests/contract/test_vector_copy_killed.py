"""A process that is killed between graph and store: the next run makes both the same again."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from drift.graph import vector_copy
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.milvus.store import MilvusStore
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, on_real_server
from tests.contract.killed_copy import ABOUT, MODEL, operations

CASES = {
    "add": (1, 2, 5),
    "change": (1, 3, 5),
    "remove": (1, 4, 5),
    "ingest": (1, 2, 5),
    "take out": (3, 4),
    "create": (1, 2, 5),
    "replace": (1, 3),
    "erase": (1, 4, 5),
    "delete": (1, 3, 4),
}
"""Operations, and behind how many steps the process is killed: 1 is right behind the graph's own
commit, 5 right before the project's note."""
VECTORS = """
MATCH (n:__Chunk__|__Entity__|__Community__|__DriftNode__ {project_id: $p})
WHERE n.embedding IS NOT NULL
RETURN coalesce(n.id, n.community) AS id, n.embedding AS vector
"""

pytestmark = [on_real_server, pytest.mark.deep]


def stored(file: str) -> dict[str, tuple[float, ...]]:
    """Return the vectors of every row in the file, by node."""
    from pymilvus import MilvusClient  # noqa: PLC0415

    client = MilvusClient(file)
    rows = client.query("graph_nodes", filter='id != ""', output_fields=["node_id", "vector"])
    return {row["node_id"]: tuple(row["vector"]) for row in rows}


async def let_go(file: str) -> None:
    from milvus_lite.server_manager import server_manager_instance  # noqa: PLC0415

    await asyncio.to_thread(server_manager_instance.release_server, file)


async def killed(case: dict[str, Any]) -> None:
    """Run the operation in a process of its own, which has to kill itself."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.contract.killed_copy"),
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said = (await process.communicate(json.dumps(case).encode()))[1].decode()
    assert process.returncode == -signal.SIGKILL, f"{case}: {said}"


@pytest.mark.timeout(1200)
async def test_the_next_run_mends_what_a_killed_one_left(
    backend: Neo4jBackend, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_copy, "FOLLOW_S", 120.0)  # whatever else the machine does
    server, file = backend.server, str(tmp_path / "milvus.db")
    login = [server.uri, server.user, server.password, server.database]
    assert sum(map(len, CASES.values())) > 20
    for operation, step in [(name, step) for name, steps in CASES.items() for step in steps]:
        store = MilvusStore(file, "", "graph_nodes", "IVF_FLAT", DIMENSIONS)
        graph = Neo4jGraph(backend.connection, store=store, **ABOUT)
        own = {"model": MODEL, "dimensions": DIMENSIONS, "store": store}
        writer = Neo4jWriter(backend.connection, IndexNames(), **own)
        run = operations(graph, writer, project)
        await run["begin"]()
        if operation in {"replace", "erase"}:
            await run["create"]()
        assert graph.copy is not None
        assert project not in await graph.copy.behind()
        await store.close()
        await let_go(file)

        case = {"login": login, "file": file, "project": project}
        await killed(case | {"operation": operation, "step": step})
        ended = "MATCH (p:__Project__ {id: $p}) REMOVE p.writer, p.writer_until"
        await backend.connection.write(ended, {"p": project})
        assert project in await graph.copy.behind(), (operation, step)

        if operation == "delete":
            await run["delete"]()
        elif step % 2:  # the next ingest, or reconcile
            await writer.copy.follow(project)
        else:  # the next write of a function
            await run["begin"]()
            await run["remove"]()
        rows = await backend.connection.read(VECTORS, {"p": project})
        wanted = {str(row["id"]): tuple(row["vector"]) for row in rows.records}
        held = await asyncio.to_thread(stored, file)
        assert held.keys() == wanted.keys(), (operation, step)
        assert all(held[id_] == pytest.approx(wanted[id_], abs=1e-6) for id_ in wanted)
        assert project not in await graph.copy.behind(), (operation, step)
        await run["delete"]()
        assert not await asyncio.to_thread(stored, file)
        await store.close()
        await let_go(file)
