"""What a chunk's document is called in graphs of pipelines that write no title."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.graph_backends import (
    CHUNKS,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    fill,
    on_real_server,
)

pytestmark = [on_real_server, pytest.mark.timeout(300)]

MILL = json.dumps({"pages": 3, "file_name": "Mühle.pdf"})
LONG = json.dumps({"file_name": "long.pdf", "words": "w" * 10_000})


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        ({"title": " ", "file_name": "mill.pdf", "metadata": MILL}, "mill.pdf"),
        ({"metadata.file_name": "dotted.pdf", "metadata": MILL}, "dotted.pdf"),
        ({"metadata": LONG}, "d1"),
        ({"metadata": r'{"file_name": "\ud800 a.pdf"}'}, "a.pdf"),
        ({"metadata": 7, "file_name": [1]}, "d1"),
    ],
)
async def test_a_document_without_a_title_is_named_by_its_file(
    backend: Neo4jBackend, project: str, stored: dict[str, Any], name: str
) -> None:
    await fill(backend, project, CHUNKS)
    await backend.connection.write(
        "MATCH (d:__Document__ {project_id: $p}) REMOVE d.title SET d += $stored",
        {"p": project, "stored": stored},
    )
    store = backend.store()
    for found in (
        await ask_followup(store, project, "alpha?", axis(0)),
        await ask_primer(store, project, axis(0)),
    ):
        assert {chunk.document_name for chunk in found.chunks} == {name}
