"""Documents off and on again, and what differs between files, graph and vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from drift.core.deadline import Deadline
from drift.core.errors import IngestError
from drift.local.exchange.differences import Difference, ProjectDifferences
from drift.local.exchange.facts import held_documents, project_facts, would_go
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest, switch
from drift.local.ingest.sources import read_source
from drift.model.calls import Embeddings
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, on_real_server
from tests.contract.test_exchange import snapshot

pytestmark = on_real_server
DERIVED = ("questions", "generation", "derived_at")
"""What changes with every derivation."""

MODEL = "wordllama-256"


class HashEmbedder:
    """A vector for each text, of its words."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        del deadline
        return Embeddings(tuple(map(_vector, texts)))


def _vector(text: str) -> tuple[float, ...]:
    vector = np.full(DIMENSIONS, 0.01, dtype=np.float32)
    for word in text.lower().split():
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1
    return tuple(map(float, vector))


TEXT = (
    "# {name}\n\nThe {name} keeps the harbour of {name} open in winter. Its crew of nine sleeps on "
    "board. Every Monday the {name} is oiled by hand.\n"
)


@pytest.fixture
async def docs(backend: Neo4jBackend, project: str, tmp_path: Path) -> Path:
    """A folder of six files that the project holds."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("pump", "valve", "crane", "lamp", "rudder", "winch"):
        (folder / f"{name}.md").write_text(TEXT.format(name=name))
    (folder / "empty.md").write_text("")
    source = read_source(folder)
    await ingest(source, project, hashed(backend))
    return folder


def hashed(backend: Neo4jBackend) -> IngestContext:
    return IngestContext(backend.writer, HashEmbedder(), DIMENSIONS, MODEL)


async def turn(backend: Neo4jBackend, project: str, *names: str, on: bool) -> list[str]:
    report = await switch(
        names,
        project,
        hashed(backend),
        on=on,
    )
    return report.changed


async def apart_from_topics(backend: Neo4jBackend, project: str) -> list[str]:
    """Return what the project holds; a topic that was too small for a while has joined another."""
    nodes, edges = await snapshot(backend, project, *DERIVED)
    told = [*nodes, *(f"{edge} {number}" for edge, number in sorted(edges.items()))]
    assert any("IN_COMMUNITY" in one for one in told)
    return [one for one in told if "__Community__" not in one]


async def test_documents_off_and_on_again_are_as_before_and_unknown_ones_change_nothing(
    backend: Neo4jBackend, project: str, docs: Path
) -> None:
    before = await apart_from_topics(backend, project)
    state = await backend.writer.project_state(project)
    with pytest.raises(IngestError, match=r"holds no document nobody.md"):
        await turn(backend, project, "pump.md", "nobody.md", on=False)
    assert await apart_from_topics(backend, project) == before

    assert await turn(backend, project, "pump.md", on=False) == ["pump.md"]
    listed = await held_documents(project, backend.connection)
    assert {one["id"]: one["off"] for one in listed}["pump.md"]
    facts = await project_facts(project, backend.writer)
    assert (facts["documents"], facts["chunks"], facts["off"]["first"]) == (6, 5, ["pump.md"])
    assert (facts["documents_behind"], facts["is_behind"]) == (0, False)
    assert facts["skipped"]["first"] == [{"file": f"{docs}/empty.md", "reason": "is empty"}]
    assert facts["vector_bytes"] > 6 * 4 * DIMENSIONS
    assert await turn(backend, project, "pump.md", on=False) == []
    source = read_source(docs)
    await ingest(source, project, hashed(backend))
    listed = await held_documents(project, backend.connection)
    assert {one["id"]: one["off"] for one in listed}["pump.md"], "an ingest leaves it off"

    assert await turn(backend, project, "pump.md", on=True) == ["pump.md"]
    assert await backend.writer.project_state(project) == state
    assert await apart_from_topics(backend, project) == before


async def test_what_differs_is_named_and_what_needs_no_file_is_mended(
    backend: Neo4jBackend, project: str, docs: Path
) -> None:
    own = ProjectDifferences(project, hashed(backend))
    assert await own.found() == []
    whole = await snapshot(backend, project, "embedding", "mean")
    made = await would_go(project, str(docs), backend.connection)
    assert made == {"chunks": 6, "entities": 0, "communities": 2}
    assert (await would_go(project, "/elsewhere", backend.connection))["chunks"] == 0

    await backend.connection.write(
        """MATCH (a:__Chunk__ {project_id: $p}) WITH a ORDER BY a.id LIMIT 1 REMOVE a.embedding
        WITH a MATCH (c:__Community__ {project_id: $p}) REMOVE c.embedding""",
        {"p": project},
    )
    assert await own.found() == [Difference("chunks or communities without a vector", 3)]
    assert await snapshot(backend, project, "embedding", "mean") == whole
    assert await own.found() == []

    (docs / "pump.md").write_text("# Pump\n\nAnother one.\n")
    (docs / "valve.md").unlink()
    await backend.connection.write(
        """MATCH (d:__Document__ {project_id: $p, id: 'lamp.md'})-[r:HAS_CHUNK]->(c) DELETE r
        WITH d MATCH (e:__Chunk__ {project_id: $p})<-[:HAS_CHUNK]-({id: 'crane.md'})
        SET e.embedding = [1.0, 2.0]""",
        {"p": project},
    )
    again = f"drift ingest {docs} --project {project}"
    anew = f"drift ingest FOLDER --project {project} --force"
    named = [
        Difference(f"documents of {docs} whose file is gone", 1, again, ["valve.md"]),
        Difference(f"documents of {docs} whose file is changed", 1, again, ["pump.md"]),
        Difference("documents not whole", 1, anew, ["lamp.md"]),
        Difference("vectors of another length than 256", 1, anew),
    ]
    assert await own.found() == [*named, Difference("chunks without a document", 1)]
    assert await own.found() == named
