"""A project as a whole: into a folder and back, under another name, and out of the graph."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from neo4j import EagerResult
from neo4j.spatial import WGS84Point
from neo4j.time import DateTime, Duration
from pytz import timezone

from drift.core.errors import GraphMisconfiguredError, GraphUnavailableError, IngestError
from drift.graph.connection import Connection
from drift.graph.cypher.legs import EARLIER, PERSONAL
from drift.graph.indexes import project_key
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
    ModelReply,
    RelationRecord,
)
from drift.graph.writing.rows import skipped_line
from drift.local.exchange import transfer
from drift.local.exchange.folder import MANIFEST, NODES, Manifest
from drift.local.exchange.transfer import delete_project, export_project, restore_project
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, axis, community, entity, vector
from tests.contract.graph_backends import on_real_server as on_server

pytestmark = on_server

VERSION = DocumentVersion("sha", "1.3", "wordllama-256/256", "https://a.example/x")
DOCUMENTS = (
    DocumentRecord("a\nb.md", "Größe 大きさ\u2028", "/srv/docs", VERSION, 17, "a\nb.md"),
    DocumentRecord("off.md", "Switched off", "/srv/docs", VERSION, None, "off.md"),
)
CHUNKS = (
    ChunkRecord("k1", "a\nb.md", 0, "h", "alpha\n\u2028 מים", vector(0.1, -0.0), 0, 9, 1),
    ChunkRecord("k2", "a\nb.md", 1, "h", "beta", axis(1)),
    ChunkRecord("k3", "off.md", 0, "h", "gamma", axis(2)),
)
KNOWLEDGE = KnowledgeBatch(
    (entity("e1", "Alpha", "k1", "k2"), entity("e2", "Beta", "k2")),
    (RelationRecord("e1", "e2", "knows", 1.5), RelationRecord("e1", "e2", "sees", 0.5, "s", "k1")),
    (community(1, 1, None, axis(0)), community(2, 0, 1, axis(1), ["k1", "k2"], ["e1"])),
    "fingerprint",
    "wordllama-256",
    2,
)
OWN = {
    "id": "mira",
    "name": "Mira",
    "since": DateTime(2024, 10, 27, 1, 30, 0, 7, timezone("UTC")).astimezone(
        timezone("Europe/Oslo")
    ),
    "held": Duration(months=1, seconds=-2, nanoseconds=5),
    "at": [WGS84Point((5.3, 60.4)), WGS84Point((5.0, 60.0))],
    "seal": b"\x00\xff",
    "least": float("-inf"),
    "embedding": [0.1] * DIMENSIONS,  # no float of 32 bits
    # What only looks as if it were ours.
    "means": [],
    "mean/x": [0.5],
    "mean": [0.25],
    "project_key": "JIRA-ABC",
    "generation": 7,
    "until": "Friday",
    "writer_until": 2**62,
    "staged_labels": ["__Project__"],
    "text": "a\0b",
}
SNAPSHOT = """
MATCH (n) WHERE n.project_id = $p
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties,
  COLLECT { MATCH (n)-[r]->(m) RETURN [type(r), properties(r), elementId(m)] } AS edges
"""


async def fill(backend: Neo4jBackend, project: str) -> None:
    """Write a project with a node of every label, an edge of every type, and one to outside."""
    async with backend.writer.writing(project) as own:
        await own.write_documents(DocumentBatch(DOCUMENTS, CHUNKS))
        await own.switch(["off.md"], on=False)
        await own.write_knowledge(KNOWLEDGE)
        await own.keep_replies([ModelReply("report/1", "m", ("a", "b"), "{}", 3)])
        await own.keep_skipped([skipped_line("/srv/docs/x", VERSION, "is empty")])
    await backend.connection.write(
        f"""MATCH (k:__Chunk__ {{project_id: $p, id: 'k1'}})
        MATCH (c:__Community__ {{project_id: $p}}) SET c.mean = [0.25, 0.5]
        WITH DISTINCT k
        CREATE (n:Person:`Ärztin``x`:{PERSONAL} {{project_id: $p}}) SET n += $own
        CREATE (n)-[:WROTE {{at: date('2024-02-29')}}]->(k), (k)-[:SAYS]->(n), (n)-[:IS]->(n),
          (n)-[:LIVES_IN]->(:Town {{name: $p}})
        CREATE (:Person:{EARLIER} {{
          project_id: $p, id: 'mira', embedding_hash: 'h', embedding_model: 'wordllama-256'
        }})""",
        {"p": project, "own": OWN},
    )


async def snapshot(
    backend: Neo4jBackend, project: str, *but: str
) -> tuple[list[str], Counter[str]]:
    """Return all that a project is, without its name and when it was written; and its edges."""
    found = (await backend.connection.write(SNAPSHOT, {"p": project})).records
    named: dict[str, str] = {}
    for record in found:
        told = {**record["properties"]}
        its_own = () if PERSONAL in record["labels"] else ("project_key",)
        for name in ("project_id", "written_at", "chunk_namespace", *its_own, *but):
            told.pop(name, None)
        if "__Project__" in record["labels"]:
            told.pop("id")
        named[record["id"]] = repr((sorted(record["labels"]), sorted(told.items())))
    edges = Counter(
        repr((named[record["id"]], type_, told, named[end]))
        for record in found
        for type_, told, end in record["edges"]
        if end in named
    )
    return sorted(named.values()), edges


@pytest.fixture
async def folder(backend: Neo4jBackend, project: str, tmp_path: Path) -> Path:
    """A project that is there, and its export."""
    await fill(backend, project)
    await export_project(project, tmp_path / "out", backend.writer, str)
    return tmp_path / "out"


async def restore(
    backend: Neo4jBackend, folder: Path, name: str | None = None, say: Callable[[str], object] = str
) -> Manifest:
    return await restore_project(folder, name, backend.writer, DIMENSIONS, say)


async def left(backend: Neo4jBackend, project: str) -> int:
    """Return how many nodes say that they are of a project, or have an edge to it."""
    text = """MATCH (n) WHERE n.project_id = $p OR n.id = $p
      OR EXISTS { (n)--(:__Project__ {id: $p}) } RETURN count(n) AS number"""
    return int((await backend.connection.write(text, {"p": project})).records[0]["number"])


async def test_an_export_restored_under_another_name_equals_the_original_node_by_node(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    other = f"{project}\n大"
    manifest = await restore(backend, folder, other)
    before, edges = await snapshot(backend, project)
    after, restored = await snapshot(backend, other)
    assert after == before
    assert restored == edges
    assert edges.total() == sum(manifest.edges.values()) + len(before) - 4  # IN_PROJECT
    assert (manifest.nodes["__OffChunk__"], manifest.left_out) == (1, 1)
    assert manifest.vectors == {"embedding": {"256": 7}, "mean": {"2": 2}}
    text = "MATCH (n:__Chunk__|__Entity__ {project_id: $p}) RETURN DISTINCT n.project_key AS key"
    found = (await backend.connection.write(text, {"p": other})).records
    assert [record["key"] for record in found] == [project_key(other)]
    state = await backend.writer.project_state(other)
    assert state == replace(await backend.writer.project_state(project), namespace=project)
    assert state.fingerprint == "fingerprint"


async def test_a_full_disk_is_named_and_nothing_is_left_of_the_export(
    backend: Neo4jBackend, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("drift.local.exchange.folder.os.fsync", full)
    with pytest.raises(IngestError, match=r"out cannot be written \(No space left"):
        await export_project(project, tmp_path / "out", backend.writer, str)
    assert not os.listdir(tmp_path)  # noqa: PTH208 - nothing else waits for it


async def test_a_project_that_is_there_is_never_written_over(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    before = await snapshot(backend, project)
    with pytest.raises(IngestError, match="There is a project"):
        await restore(backend, folder)
    await backend.connection.write(
        f"CREATE (:{PERSONAL} {{project_id: $p}})", {"p": f"{project}-x"}
    )
    with pytest.raises(IngestError, match="There is a project"):
        await restore(backend, folder, f"{project}-x")
    assert await snapshot(backend, project) == before
    await delete_project(f"{project}-x", backend.writer, str)


def _turned(name: str) -> Callable[[Path], None]:
    def turn(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[-2] ^= 1
        (folder / name).write_bytes(content)

    return turn


def _held_for_ever(folder: Path) -> None:
    told = json.loads((folder / MANIFEST).read_text())
    told["properties"] |= {"writer": "x", "writer_until": 2**62}
    (folder / MANIFEST).write_text(json.dumps(told))


def _as_a_project(folder: Path) -> None:
    written, told = (folder / NODES).read_bytes(), json.loads((folder / MANIFEST).read_text())
    content = written.replace(b'["__Entity__"]', b'["__Entity__","__Project__"]')
    told["files"][NODES] = hashlib.sha256(content).hexdigest()
    (folder / NODES).write_bytes(content)
    (folder / MANIFEST).write_text(json.dumps(told))


DAMAGED: dict[str, Callable[[Path], object]] = {
    "nodes.jsonl is damaged": _turned(NODES),
    "vectors-embedding.f32 is damaged": _turned("vectors-embedding.f32"),
    "`writer` is set by this program alone": _held_for_ever,
    "no node __Entity__ has the label __Project__": _as_a_project,
}


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_a_folder_that_is_damaged_or_of_another_version_is_refused_by_name(
    backend: Neo4jBackend, folder: Path, project: str
) -> None:
    whole = _contents(folder)
    for said, damage in DAMAGED.items():
        damage(folder)
        with pytest.raises(IngestError, match=said):
            await restore(backend, folder, f"{project}-x")
        for name, content in whole.items():
            (folder / name).write_bytes(content)
    with pytest.raises(IngestError, match="256 floats, and those of this database 128"):
        await restore_project(folder, f"{project}-x", backend.writer, 128, str)
    with pytest.raises(IngestError, match="has to be a new folder"):
        await export_project(project, folder, backend.writer, str)
    assert await left(backend, f"{project}-x") == 0


async def test_a_restore_that_the_graph_refuses_leaves_nothing(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    label, write = f"Only_{project}".replace("-", "_"), backend.connection.write
    await write(f"MATCH (n:{PERSONAL} {{project_id: $p}}) SET n:{label}", {"p": project})
    await export_project(project, (out := folder.parent / "more"), backend.writer, str)
    await write(f"CREATE CONSTRAINT {label} FOR (n:{label}) REQUIRE n.id IS UNIQUE", {})
    try:
        with pytest.raises(GraphMisconfiguredError, match="break a constraint"):
            await restore(backend, out, f"{project}-x")
    finally:
        await write(f"DROP CONSTRAINT {label}", {})
    assert await left(backend, f"{project}-x") == 0
    await restore(backend, out, f"{project}-x")


async def killed_after(
    monkeypatch: pytest.MonkeyPatch, statements: int, work: Callable[[], Awaitable[object]]
) -> bool:
    """Do the work until it has sent so many statements; tell whether it sent more."""
    run, sent = Connection._statement, 0

    async def until_killed(self: Connection, *asked: Any) -> EagerResult:
        nonlocal sent
        sent += 1
        if sent > statements:
            raise ConnectionError
        return await run(self, *asked)

    with monkeypatch.context() as patch, suppress(GraphUnavailableError):
        patch.setattr(Connection, "_statement", until_killed)
        await work()
        return False
    return True


async def seen(backend: Neo4jBackend, project: str) -> tuple[int, ...]:
    """Return how many nodes questions and lists find, by label, as the searches ask for them."""
    text = f"""OPTIONAL MATCH (p:__Project__ {{id: $p}})
    WITH coalesce(p.generation, 0) AS generation
    RETURN [
      COUNT {{ (:__Document__ {{project_id: $p}}) }}, COUNT {{ (:__Chunk__ {{project_id: $p}}) }},
      COUNT {{ (:{PERSONAL}|{EARLIER} {{project_id: $p}}) }},
      COUNT {{ (c:__Entity__|__Community__ {{project_id: $p}})
        WHERE coalesce(c.generation, 0) = generation }}] AS seen"""
    return tuple((await backend.connection.write(text, {"p": project})).records[0]["seen"])


WHOLE, NOTHING = (2, 2, 2, 4), (0, 0, 0, 0)


async def test_a_restore_killed_anywhere_is_seen_by_nobody_and_done_by_the_next(
    backend: Neo4jBackend,
    project: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, steps, told = f"{project}-x", 8, list[str]()
    monkeypatch.setattr(transfer, "ROWS_WITH_VECTORS", 4)
    while await killed_after(monkeypatch, steps, lambda: restore(backend, folder, other)):
        assert await seen(backend, other) == NOTHING
        await _expire(backend, other)
        if steps == 8:
            with pytest.raises(IngestError, match="is half restored, and cannot be used"):
                await backend.writer.write_documents(other, DocumentBatch(DOCUMENTS, CHUNKS))
        steps += 5
    await delete_project(other, backend.writer, str)

    assert await killed_after(monkeypatch, 20, lambda: restore(backend, folder, other))
    await _expire(backend, other)
    await restore(backend, folder, other, say=told.append)
    assert steps > 20
    assert [line for line in told if "was restored from this folder" in line]
    assert await snapshot(backend, other) == await snapshot(backend, project)


async def test_a_delete_killed_anywhere_leaves_nothing_to_see_and_the_next_leaves_nothing_at_all(
    backend: Neo4jBackend,
    project: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, steps = f"{project}-x", 2
    await restore(backend, folder, other)
    before = await snapshot(backend, project)
    work = partial(delete_project, other, backend.writer, str)
    while await killed_after(monkeypatch, steps, work):
        assert await seen(backend, other) in (NOTHING, WHOLE)
        await _expire(backend, other)
        steps += 3
    assert steps > 20
    await _expire(backend, other)
    await work()
    assert await left(backend, other) == 0
    assert await snapshot(backend, project) == before


async def _expire(backend: Neo4jBackend, project: str) -> None:
    """Let the lease of a writer that was killed be over."""
    text = "MATCH (p:__Project__ {id: $p}) SET p.writer_until = 0"
    await backend.connection.write(text, {"p": project})
