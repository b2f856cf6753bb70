"""Whole documents: each has a vector that follows its chunks, and is searched by it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError, NotFoundError
from drift.graph.writing import documents as writing
from drift.indexing.documents import SourceDocument
from drift.indexing.indexer import Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local import prompt_builder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source
from drift.local.retrieval.documents import DocumentFinder, FoundDocument
from tests.contract.graph_backends import (
    DIMENSIONS,
    Neo4jBackend,
    on_real_server,
    on_real_servers,
    twin,
)

MODEL = "wordllama-256"
FERRY = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
FARES = f"{FERRY}\n# Fares\n\n{'A child under twelve pays half of the fare. ' * 30}\n"
TEXTS = {"ferry.md": FERRY, "kitchen.md": "# Canteen\n\nOn Fridays there is herring with dill.\n"}
QUESTION = "When does the ferry leave?"


async def put(backend: Neo4jBackend, project: str, texts: dict[str, str]) -> None:
    documents = tuple(
        SourceDocument(n, n[:-3].title(), t, "markdown", has_lines=True) for n, t in texts.items()
    )
    source = Source("/nowhere/harbour", documents)
    embedder, writer = LocalEmbedder(), backend.writer
    await ingest(source, project, IngestContext(writer, embedder, DIMENSIONS, model=MODEL))


async def search(
    backend: Neo4jBackend,
    project: str,
    question: str = QUESTION,
    *,
    model: str = MODEL,
    exact_limit: int | None = None,
) -> list[FoundDocument]:
    deadline = Deadline.after(60)
    finder = DocumentFinder(backend.connection, backend.names, model, DIMENSIONS, exact_limit)
    [vector] = (await LocalEmbedder().embed([question], deadline)).vectors
    return await finder.nearest(project, question, vector, 5, deadline)


async def vectors(
    backend: Neo4jBackend, project: str, document: str
) -> tuple[Sequence[float], list[Sequence[float]], bool]:
    text = """MATCH (d:Document:__Document__ {project_id: $p, id: $id})
    RETURN d.embedding AS own, d.embedding_other IS NULL AS is_alone,
      COLLECT { MATCH (d)-[:HAS_CHUNK]->(ch) RETURN ch.embedding } AS chunks"""
    read = await backend.connection.read(text, {"p": project, "id": document})
    return read.records[0].values("own", "chunks", "is_alone")


@on_real_server
async def test_a_documents_vector_is_the_mean_of_its_chunks_however_it_is_written(
    backend: Neo4jBackend, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Indexer(backend.connection, project, LocalEmbedder(), MODEL, DIMENSIONS, backend.names)

    async def check(number: int) -> None:
        own, chunks, is_alone = await vectors(backend, project, "ferry.md")
        mean = np.mean(chunks, axis=0)
        assert len(chunks) == number
        assert np.allclose(own, mean / np.linalg.norm(mean), atol=1e-6)
        assert is_alone, "a vector of another model would be that of what the document said"

    await index.add("ferry.md", FERRY)
    await check(1)
    stale = "MATCH (d:__Document__ {project_id: $p}) SET d.embedding_other = [1.0]"
    await backend.connection.write(stale, {"p": project})
    await index.add("ferry.md", FARES)
    await check(2)

    await index.remove("ferry.md")
    with monkeypatch.context() as small:
        small.setattr(writing, "CHUNKS_AT_ONCE", 1)
        await put(backend, project, {"ferry.md": FARES})
    await check(2)
    await put(backend, project, {"ferry.md": FERRY})
    await check(1)

    bare = "MATCH (d:__Document__ {project_id: $p}) REMOVE d.embedding, d:Document"
    await backend.connection.write(bare, {"p": project})
    with pytest.raises(GraphMisconfiguredError, match="run `drift prepare`"):
        await search(backend, project)
    await backend.writer.fill_documents()
    await check(1)


@on_real_servers
async def test_documents_are_found_by_vector_then_words_in_their_project_alone(
    backend: Neo4jBackend, project: str
) -> None:
    beside = twin(project)
    await put(backend, project, {**TEXTS, "skarv.md": f"{FERRY}\n"})
    await put(backend, beside, {"another.md": FERRY})

    for exact_limit in (None, 0):
        for word, first in (("skarv", "skarv.md"), ("ferry", "ferry.md")):
            question = f"{word}: does it leave?"
            found = await search(backend, project, question, exact_limit=exact_limit)
            assert [one.path for one in found][-1:] == ["kitchen.md"]
            assert {one.path for one in found} == {*TEXTS, "skarv.md"}
            assert round(found[0].cosine, 6) == round(found[1].cosine, 6)
            assert found[0].path == first, "of two as near the better worded is first"

    ferry = next(one for one in found if one.path == "ferry.md")
    assert (ferry.title, ferry.label, ferry.content) == ("Ferry", "ferry.md:1-3", FERRY.strip())
    assert "leaves at noon" in str(prompt_builder.build([{"role": "user", "content": "?"}], found))

    async with backend.writer.writing(project) as own:
        await own.switch(["ferry.md"], on=False)
    assert "ferry.md" not in {one.path for one in await search(backend, project)}
    assert [one.path for one in await search(backend, beside)] == ["another.md"]


@on_real_server
async def test_a_search_that_cannot_mean_anything_is_refused(
    backend: Neo4jBackend, project: str
) -> None:
    await put(backend, project, TEXTS)
    with pytest.raises(NotFoundError, match="no project nobody"):
        await search(backend, "nobody")
    with pytest.raises(GraphMisconfiguredError, match="made by wordllama-256"):
        await search(backend, project, model="another")
