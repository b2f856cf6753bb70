"""What a chunk's document is called in graphs of pipelines that write no title."""

from __future__ import annotations

import json
from typing import Any

from tests.contract.graph_backends import (
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    fill,
    on_real_server,
)

pytestmark = on_real_server

MILL = json.dumps({"pages": 3, "file_name": "Mühle.pdf"})
LONG = json.dumps({"file_name": "long.pdf", "words": "w" * 10_000})


STORED: list[tuple[dict[str, Any], str]] = [
    ({"title": " ", "file_name": "mill.pdf", "metadata": MILL}, "mill.pdf"),
    ({"metadata.file_name": "dotted.pdf", "metadata": MILL}, "dotted.pdf"),
    ({"metadata": LONG}, "d2"),
    ({"metadata": r'{"file_name": "\ud800 a.pdf"}'}, "a.pdf"),
    ({"metadata": 7, "file_name": [1]}, "d4"),
]


async def test_a_document_without_a_title_is_named_by_its_file(
    backend: Neo4jBackend, project: str
) -> None:
    many = [chunk(f"k{n}", "alpha", axis(n), f"d{n}") for n in range(len(STORED))]
    await fill(backend, project, many)
    rows = [{"id": f"d{n}", "stored": stored} for n, (stored, _) in enumerate(STORED)]
    await backend.connection.write(
        "UNWIND $rows AS row MATCH (d:__Document__ {project_id: $p, id: row.id}) "
        "REMOVE d.title SET d += row.stored",
        {"p": project, "rows": rows},
    )
    names = {f"k{n}": name for n, (_, name) in enumerate(STORED)}
    store = backend.store()
    for found in (
        await ask_followup(store, project, "alpha?", axis(0)),
        await ask_primer(store, project, axis(0)),
    ):
        assert {one.id: one.document_name for one in found.chunks} == names
