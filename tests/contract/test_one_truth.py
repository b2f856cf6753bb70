"""One truth: what a project holds says nothing of how it came about."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from drift.core.errors import GraphUnavailableError
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest, remove
from drift.local.ingest.sources import read_source
from tests.contract.graph_backends import Neo4jBackend, context, on_real_server
from tests.contract.test_broken_writes import BrokenConnection

pytestmark = on_real_server

NAMES = ("Falk", "Berg", "Holm", "Dahl", "Lund", "Strand", "Vik", "Moen")
VOLATILE = ("generation", "until", "written_at", "indexed_at", "derived_at", "run", "key", "stamp")

NODES = """
MATCH (n {project_id: $p}) WHERE NOT n:__Project__
RETURN elementId(n) AS e, labels(n) AS labels, properties(n) AS properties
"""
EDGES = """
MATCH (a {project_id: $p})-[r]->(b) WHERE NOT b:__Project__
RETURN elementId(a) AS a, type(r) AS kind, elementId(b) AS b
"""


def _put(folder: Path, name: str, about: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    paragraphs = "\n\n".join(
        f"## Part {n}\n\n{about} keeps quay {n} of the harbour, and writes down the ships. " * 3
        for n in range(4)
    )
    (folder / name).write_text(f"# {about}\n\n{paragraphs}\n")


async def _ingest(writer: Neo4jWriter, project: str, folder: Path) -> None:
    await ingest(read_source(folder), project, context(writer))


def _made(folder: Path) -> Path:
    for name in NAMES:
        _put(folder, f"{name.lower()}.md", name)
    return folder


def _change(folder: Path) -> None:
    _put(folder, "berg.md", "Berg of the new house")
    _put(folder, "new.md", "Nes")
    (folder / "holm.md").unlink()
    (folder / "lund.md").rename(folder / "moved.md")


async def _contents(backend: Neo4jBackend, project: str) -> tuple[list[str], list[str]]:
    """Return the nodes and the edges of a project; what is named by a hash is told by its words."""
    found = await backend.connection.rows(NODES, {"p": project})
    told: dict[str, str] = {}
    for row in found:
        held = {k: v for k, v in row["properties"].items() if k not in VOLATILE}
        held.pop("project_id"), held.pop("project_key", None)
        if "__Document__" not in row["labels"]:
            held.pop("id", None), held.pop("community", None)
        told[row["e"]] = f"{sorted(row['labels'])} {sorted(held.items(), key=str)}"
    edges = await backend.connection.rows(EDGES, {"p": project})
    return sorted(told.values()), sorted(
        f"{told[r['a']]} {r['kind']} {told[r['b']]}" for r in edges
    )


async def _killed(
    backend: Neo4jBackend, statements: int, work: Callable[[Neo4jWriter], Awaitable[None]]
) -> bool:
    """Do work that is killed after so many statements; tell whether it was."""
    broken = BrokenConnection(backend.connection, statements)
    with suppress(GraphUnavailableError):
        await work(Neo4jWriter(broken, backend.names))
    return broken.is_broken


@pytest.mark.parametrize(
    "points", [(9, 23), pytest.param(range(1, 41, 2), marks=pytest.mark.deep)], ids=len
)
async def test_a_run_killed_at_any_point_is_completed_to_what_it_would_have_been(
    backend: Neo4jBackend, project: str, tmp_path: Path, points: Sequence[int]
) -> None:
    first = _made(tmp_path / "docs")
    projects = [f"{project} {point}" for point in (*points, "whole")]
    unlock = "MATCH (p:__Project__ {id: $p}) REMOVE p.writer"
    for point, one in zip(points, projects, strict=False):
        await _killed(backend, point, lambda w, one=one: _ingest(w, one, first))
        await backend.connection.write(unlock, {"p": one})
    for one in projects:
        await _ingest(backend.writer, one, first)
    before = await _contents(backend, projects[-1])
    for one in projects:
        assert await _contents(backend, one) == before
    _change(first)
    await _ingest(backend.writer, projects[-1], first)
    whole = await _contents(backend, projects[-1])
    assert whole != before

    for point, one in zip(points, projects, strict=False):
        was_killed = await _killed(backend, point, lambda w, one=one: _ingest(w, one, first))
        await backend.connection.write(unlock, {"p": one})
        await _ingest(backend.writer, one, first)
        assert await _contents(backend, one) == whole, f"killed after {point}: {was_killed}"


async def test_a_removed_document_leaves_what_a_project_has_that_never_had_it(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    never = _made(tmp_path / "never")
    with_it = shutil.copytree(never, tmp_path / "with")
    _put(with_it, "zander.md", "Zander")
    await _ingest(backend.writer, f"{project} never", never)
    await _ingest(backend.writer, project, with_it)
    (with_it / "zander.md").unlink()
    await _ingest(backend.writer, project, with_it)

    async def facts(one: str) -> list[object]:
        nodes, _ = await _contents(backend, one)
        return [n.replace(str(tmp_path / "with"), str(never)) for n in nodes if "__Comm" not in n]

    assert await facts(project) == await facts(f"{project} never")
    nodes, _ = await _contents(backend, project)
    assert not [node for node in nodes if "zander" in node.lower()]


async def test_nothing_is_left_of_a_project_of_which_all_is_removed(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    await _ingest(backend.writer, project, _made(tmp_path / "docs"))
    await remove(None, project, context(backend.writer))
    assert await _contents(backend, project) == ([], [])
