"""A project under another name keeps what its chunks are, however often it was restored."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from drift.indexing.indexer import Indexer
from drift.local.exchange.transfer import export_project, restore_project
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, on_real_server
from tests.contract.test_symbols import RecordingEmbedder

pytestmark = on_real_server

PARTS = [
    f"## Quay {n}\n\n{f'Bollard {n} of the quay is tarred in spring. ' * 30}" for n in range(6)
]
PLACED = "MATCH (ch:__Chunk__ {project_id: $p})-[:IN_COMMUNITY]->() RETURN ch.id AS id"


@pytest.mark.parametrize("restores", [1, 2])
async def test_one_changed_paragraph_is_all_that_a_restored_project_embeds(
    backend: Neo4jBackend, project: str, tmp_path: Path, restores: int
) -> None:
    embedder, folder = RecordingEmbedder(), tmp_path / "docs"
    folder.mkdir()

    async def write(name: str, changed: int | None = None) -> list[str]:
        """Ingest the parts and hand them over, one of them changed; return what is embedded."""
        parts = [
            part.replace("tarred", "painted") if n == changed else part
            for n, part in enumerate(PARTS)
        ]
        text = "\n\n".join(["# Quays", *parts])
        embedder.texts.clear()
        (folder / "quays.md").write_text(text)
        await ingest(read_source(folder), name, IngestContext(backend.writer, embedder, DIMENSIONS))
        index = Indexer(backend.connection, name, embedder, "", DIMENSIONS, backend.names)
        await index.add("api.md", text)
        return [text for text in embedder.texts if "Bollard" in text and "About:" not in text]

    async def placed(name: str) -> set[str]:
        rows = await backend.connection.rows(PLACED, {"p": name})
        return {row["id"] for row in rows}

    names = [project, *(f"{project}-{n}" for n in range(restores))]
    await write(project)
    for old, new in pairwise(names):
        await export_project(old, tmp_path / new, backend.writer, str)
        await restore_project(tmp_path / new, new, backend.writer, DIMENSIONS, str)
        if new != names[-1]:
            await write(new, changed=0)

    before = await placed(names[-1])
    embedded = await write(names[-1], changed=3)
    # The part that is written as it was before is changed as well, in both documents.
    assert len(embedded) == 2 * restores, embedded
    after = await placed(names[-1])
    assert len(before & after) == len(before) - len(embedded) > len(embedded) + 3
