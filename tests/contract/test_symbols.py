"""What documents define or lead to is a node of the graph, connected to these documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.graph.writing import documents as neo4j_project
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from drift.model.calls import Embeddings
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, context, on_real_server

pytestmark = on_real_server

MILL = (
    '"""Corn."""\n\n\nclass Mill:\n    """Grinds corn."""\n\n    def grind(self):\n        pass\n'
)
USE = "from mill import Mill\n\n\ndef bake():\n    return Mill().grind()  # not corn_of\n"

SYMBOLS = """
MATCH (s:Symbol:__Entity__ {project_id: $project_id})
RETURN elementId(s) AS node, s.title AS title, s.type AS type, s.description AS description,
  s.embedding AS vector, s.path AS path, s.first_line AS first, s.last_line AS last,
  COLLECT { MATCH (d:Document)-[:REFERS_TO]->(s) RETURN d.path ORDER BY d.path } AS documents,
  COUNT { (:__Chunk__)-[:HAS_ENTITY]->(s) } AS chunks
ORDER BY title
"""


class RecordingEmbedder:
    """Keeps the texts that it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        self.texts.extend(texts)
        return await LocalEmbedder().embed(texts, deadline)


@pytest.mark.parametrize("at_once", [2000, 1])
async def test_definitions_are_symbols_that_lead_to_the_documents_that_name_them(
    backend: Neo4jBackend,
    project: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", at_once)
    embedder = RecordingEmbedder()

    async def ingested() -> dict[str, dict[str, Any]]:
        embedder.texts.clear()
        context = IngestContext(backend.writer, embedder, DIMENSIONS, model="wordllama-256")
        await ingest(read_source(tmp_path), project, context)
        found = await backend.connection.write(SYMBOLS, {"project_id": project})
        return {record["title"]: dict(record) for record in found.records}

    (tmp_path / "mill.py").write_text(MILL)
    (tmp_path / "use.py").write_text(USE)
    first = await ingested()
    assert {title: one["documents"] for title, one in first.items()} == {
        "Mill": ["mill.py", "use.py"],
        "Mill.grind": ["mill.py", "use.py"],
        "bake": ["use.py"],
    }
    mill = first["Mill"]
    assert (mill["type"], mill["path"], mill["first"], mill["last"]) == ("class", "mill.py", 4, 8)
    assert mill["description"] == "class Mill – Grinds corn."
    assert mill["chunks"] == 2
    grind = f"Mill.grind: {first['Mill.grind']['description']}"
    assert grind in embedder.texts

    (tmp_path / "use.py").write_text(USE.replace("Mill().grind()", "Mill()"))
    second = await ingested()
    assert second["Mill.grind"]["documents"] == ["mill.py"]
    assert second["Mill"]["documents"] == ["mill.py", "use.py"]
    assert grind not in embedder.texts  # the node is another, its words are the same
    assert {t: one["vector"] for t, one in second.items()} == {
        t: one["vector"] for t, one in first.items()
    }

    (tmp_path / "corn").mkdir()
    (tmp_path / "mill.py").rename(tmp_path / "corn" / "mill.py")
    third = await ingested()
    assert {title: (one["path"], one["documents"]) for title, one in third.items()} == {
        "Mill": ("corn/mill.py", ["corn/mill.py", "use.py"]),
        "Mill.grind": ("corn/mill.py", ["corn/mill.py"]),
        "bake": ("use.py", ["use.py"]),
    }
    assert grind not in embedder.texts
    assert third["Mill.grind"]["vector"] == first["Mill.grind"]["vector"]

    (tmp_path / "corn" / "mill.py").unlink()
    assert set(await ingested()) == {"bake"}


MANUAL = "https://docs.example.com/mill"
LINKED = """
MATCH (d:Document {project_id: $project_id})-[r:LINKS_TO|DEFINED_IN]-(e:__Entity__)
RETURN startNode(r) = d AS leads, e.title AS title, e.description AS description, e.path AS path,
  [l IN labels(e) WHERE l <> '__Entity__'] AS labels, d.path AS document
ORDER BY title, document
"""


async def test_addresses_are_shared_by_documents_and_tools_are_defined_in_one(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    words = "The millers have told it so from one to the next for many years. " * 12

    async def ingested() -> list[tuple[Any, ...]]:
        await ingest(
            read_source(tmp_path),
            project,
            context(backend.writer),
        )
        found = await backend.connection.write(LINKED, {"project_id": project})
        return [tuple(record.values()) for record in found.records]

    (tmp_path / "a.md").write_text(f"Ground as [the manual]({MANUAL}#corn) says. {words}\n")
    (tmp_path / "b.md").write_text(f"It is said in {MANUAL}.\n")
    server = {"command": "mill-mcp", "args": ["--token", "hush"], "env": {"KEY": "hush"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"mill": server}}))
    (tmp_path / "mcp.json").write_text("{}")
    address = (True, MANUAL, "the manual", None, ["URL"])
    told = "Command: mill-mcp Takes KEY"
    tool = (False, "mill", told, ".mcp.json", ["Tool"], ".mcp.json")
    assert await ingested() == [(*address, "a.md"), (*address, "b.md"), tool]

    (tmp_path / "a.md").unlink()
    (tmp_path / ".mcp.json").unlink()
    left = (True, MANUAL, "", None, ["URL"], "b.md")
    assert await ingested() == [left]
