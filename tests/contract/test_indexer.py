"""One document at a time into a real project: what is written, kept, joined, refused and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import (
    ConflictError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    IngestError,
    NotFoundError,
    ProjectBusyError,
    TooLargeError,
)
from drift.graph.writing.documents import ProjectDocuments
from drift.graph.writing.records import DocumentBatch
from drift.indexing.documents import SourceDocument
from drift.indexing.indexer import SOURCE, Indexed, Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, read_source
from drift.model.calls import Embeddings
from drift.originals.folder import FolderStore
from tests.contract.graph_backends import (
    DIMENSIONS,
    Neo4jBackend,
    ask_followup,
    context,
    on_real_server,
)
from tests.function.corpus import TEXTS

pytestmark = on_real_server
MODEL = "wordllama-256"
FERRY = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
MENU = "# Canteen\n\nOn Fridays the canteen serves herring with potatoes and dill.\n"


class Counted:
    """The local embedder, with the texts that it was asked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        self.texts += texts
        return await LocalEmbedder().embed(texts, deadline)


@pytest.fixture
def index(backend: Neo4jBackend, project: str) -> Indexer:
    return Indexer(backend.connection, project, Counted(), MODEL, DIMENSIONS, backend.names)


def asked(index: Indexer) -> list[str]:
    """The texts that were embedded since this was last called."""
    assert isinstance(index.embedder, Counted)
    texts, index.embedder.texts = index.embedder.texts, []
    return texts


async def ingest_texts(backend: Neo4jBackend, project: str) -> None:
    documents = tuple(SourceDocument(f"{t}.md", t, text, "markdown") for t, text in TEXTS.items())
    source = Source("/nowhere/harbour", documents)
    embedder = LocalEmbedder()
    await ingest(source, project, IngestContext(backend.writer, embedder, DIMENSIONS, model=MODEL))


async def row(backend: Neo4jBackend, text: str, **values: Any) -> Any:
    return (await backend.connection.read(text, values)).records[0]


async def texts_found(backend: Neo4jBackend, project: str, question: str) -> list[str]:
    vector = (await LocalEmbedder().embed([question], Deadline.after(60))).vectors[0]
    return [c.text for c in (await ask_followup(backend.store(), project, question, vector)).chunks]


STATE = """
MATCH (p:__Project__ {id: $p})<-[:IN_PROJECT]-(d:__Document__ {id: $id})
RETURN properties(p) AS project, properties(d) AS document
"""


async def test_a_document_is_found_at_once_and_the_same_again_writes_nothing(
    backend: Neo4jBackend, project: str, index: Indexer
) -> None:
    assert await index.add("ferry.md", FERRY) == Indexed("ferry.md", "Ferry", "added", 1)
    assert FERRY.strip() in await texts_found(backend, project, "When does the ferry leave?")
    before = await row(backend, STATE, p=project, id="ferry.md")
    assert before["document"]["source"] == SOURCE

    asked(index)
    assert await index.add("ferry.md", FERRY.encode()) == Indexed(
        "ferry.md", "Ferry", "unchanged", 1
    )
    assert (asked(index), await row(backend, STATE, p=project, id="ferry.md")) == ([], before)
    assert (await index.add("ferry.md", FERRY, title="The ferry")).outcome == "changed"
    assert asked(index) == [], "a chunk whose words and heading stay keeps its vector"

    longer = f"{FERRY}\n# Fares\n\n{'A child pays half. ' * 60}\n"
    assert await index.add("ferry.md", longer) == Indexed("ferry.md", "Ferry", "changed", 2)
    assert [text.partition("\n")[0] for text in asked(index)] == ["Fares"]
    counted = "MATCH (c:__Chunk__ {project_id: $p}) RETURN count(c) AS n, count(c.embedding) AS v"
    assert (await row(backend, counted, p=project)).values() == [2, 2]


async def test_new_chunks_join_the_nearest_topic_and_an_ingest_brings_it_up_to_date(
    backend: Neo4jBackend, project: str, index: Indexer
) -> None:
    await ingest_texts(backend, project)
    await index.add("signals.md", f"# Fog signals\n\n{TEXTS['Lighthouse']}")
    await index.add("signals.md", f"# Fog\n\n{TEXTS['Lighthouse']}")
    assert "documents changed" in (await backend.store().health()).behind

    joined = """
    MATCH (p:__Project__ {id: $p})
    MATCH (:__Document__ {project_id: $p, id: 'signals.md'})-[:HAS_CHUNK]->(ch)
    OPTIONAL MATCH (ch)-[:IN_COMMUNITY]->(c:__Community__ {generation: p.generation, level: 0})
    OPTIONAL MATCH (other)-[:IN_COMMUNITY]->(c) WHERE other <> ch
    WITH p, ch, c, collect(other.text) AS beside
    RETURN p.behind AS behind, p.fingerprint AS fingerprint, count(ch) AS chunks,
      count(c) AS topics, collect(coalesce(c.stale, false)) AS stale, collect(beside) AS beside
    """
    found = await row(backend, joined, p=project)
    assert (found["behind"], found["fingerprint"]) == (1, "")
    assert found["topics"] == found["chunks"] > 0
    assert all(found["stale"])
    assert any("Lighthouse" in text for beside in found["beside"] for text in beside)

    await ingest_texts(backend, project)
    after = await row(backend, joined, p=project)
    assert (after["behind"], after["topics"], any(after["stale"])) == (None, found["chunks"], False)
    assert after["fingerprint"]


async def test_documents_of_other_sources_are_refused_and_an_ingest_leaves_those_of_the_api(
    backend: Neo4jBackend, project: str, index: Indexer, tmp_path: Path
) -> None:
    await ingest_texts(backend, project)
    for refused in (index.add("Lighthouse.md", FERRY), index.remove("Lighthouse.md")):
        with pytest.raises(ConflictError, match="of another source already"):
            await refused

    await index.add("ferry.md", FERRY)
    (tmp_path / "ferry.md").write_text(MENU)
    for _ in range(2):
        source = read_source(tmp_path)
        await ingest(source, project, context(backend.writer, model=MODEL))
        held = (await backend.writer.project_state(project)).sources
        assert held["ferry.md"] == SOURCE
        assert held[f"{tmp_path.name}/ferry.md"] == str(tmp_path)


async def test_a_held_project_is_not_written_and_a_removed_document_leaves_nothing(
    backend: Neo4jBackend, project: str, index: Indexer
) -> None:
    await index.add("ferry.md", FERRY)
    async with backend.writer.writing(project):
        assert (await index.add("ferry.md", FERRY)).outcome == "unchanged"
        for refused in (index.add("ferry.md", MENU), index.remove("ferry.md")):
            with pytest.raises(ProjectBusyError, match="is being written"):
                await refused

    with pytest.raises(NotFoundError):
        await index.remove("menu.md")
    await index.remove("ferry.md")
    assert await backend.writer.held_projects(project) == ()


async def test_an_original_stays_until_the_graph_holds_the_next(
    project: str, index: Indexer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: ProjectDocuments, batch: DocumentBatch) -> None:
        del self, batch
        raise GraphUnavailableError("The graph does not answer.")

    def held() -> list[str]:
        return [one.read_text() for one in tmp_path.rglob("*") if one.is_file()]

    index = replace(index, originals=FolderStore(tmp_path))
    await index.add("ferry.md", FERRY)
    with monkeypatch.context() as broken:
        broken.setattr(ProjectDocuments, "write_documents", fail)
        with pytest.raises(GraphUnavailableError):
            await index.add("ferry.md", MENU)
    assert held() == [FERRY]
    await index.add("ferry.md", MENU)
    await index.add("ferry.md", MENU, title="The canteen")
    assert held() == [MENU], project


async def test_a_document_that_is_off_stays_off(
    backend: Neo4jBackend, project: str, index: Indexer
) -> None:
    await index.add("ferry.md", FERRY)
    async with backend.writer.writing(project) as held:
        await held.switch(["ferry.md"], on=False)
    assert (await index.add("ferry.md", FERRY, title="The ferry")).outcome == "changed"
    assert await texts_found(backend, project, "When does the ferry leave?") == []

    async with backend.writer.writing(project) as held:
        await held.switch(["ferry.md"], on=True)
    assert await texts_found(backend, project, "When does the ferry leave?") == [FERRY.strip()]


async def test_what_cannot_be_used_is_refused_before_anything_is_written(
    backend: Neo4jBackend, project: str, index: Indexer
) -> None:
    many = "".join(f"# {number}\n\nx\n\n" for number in range(2001))
    for name, content, problem, says in (
        ("page.html", "<p>x</p>", IngestError, "HTML is read by `drift ingest` alone"),
        ("ferry.md", b"\x00\xff\x01", IngestError, "is a binary file"),
        ("ferry.md", " \n", IngestError, "holds no text"),
        ("ferry.md", "\ud800", IngestError, "is not UTF-8"),
        ("", FERRY, IngestError, "document's id '' cannot be used"),
        ("many.md", many, TooLargeError, "makes 2,001 chunks, and 2,000 are the most"),
    ):
        with pytest.raises(problem, match=says):
            await index.add(name, content)

    with pytest.raises(GraphMisconfiguredError, match="has 256 dimensions, but 128 are wanted"):
        await replace(index, dimensions=128).add("ferry.md", FERRY)
    await index.add("notes/ferry.v2", FERRY)
    other = replace(index, model="another")
    with pytest.raises(GraphMisconfiguredError, match="made by wordllama-256, and not by another"):
        await other.add("menu.md", MENU)
    assert set((await backend.writer.project_state(project)).documents) == {"notes/ferry.v2"}
