"""A graph that neo4j-graphrag's SimpleKGPipeline wrote.

It is searched with GRAPH_SCHEMA=v1 once it is prepared.
"""

from __future__ import annotations

import asyncio

import pytest

from drift.graph.connection import Connection
from drift.http.settings import Settings
from drift.llm.local_embedding import DIMENSIONS, embed
from drift.local.hosts.local_host import serving
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract import simple_kg
from tests.contract.graph_backends import ask_followup, ask_primer
from tests.contract.v1_graphs import PROJECT, prepare, searched
from tests.function.calling import calling, citations
from tests.function.corpus import QUESTION, TEXTS
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.neo4j, pytest.mark.deep]

FILES = {f"{title}.md": text for title, text in TEXTS.items()}
NAMES = dict.fromkeys((*TEXTS, "North Quay", "Narrow Channel", "Outer Buoy"), "Place")


@pytest.fixture
async def written(whole_server: Neo4jServer, database: Connection) -> Connection:
    """The database with what the pipeline wrote, prepared."""
    await asyncio.to_thread(simple_kg.write, whole_server, FILES, NAMES)
    await prepare(database)
    return database


async def test_it_is_searched_by_vector_words_and_names(written: Connection) -> None:
    question = "What does the Lighthouse measure?"
    embedding = tuple(float(x) for x in embed([question])[0])
    primer = await ask_primer(searched(written), PROJECT, embedding)
    assert primer.communities == ()
    assert primer.chunks
    found = await ask_followup(searched(written), PROJECT, question, embedding)
    assert "Lighthouse" in found.chunks[0].text
    assert {c.document_name for c in found.chunks} == set(FILES)
    assert all(c.text in FILES[c.document_name] for c in found.chunks)
    assert {r.description for r in found.relationships} == {"STANDS_WITH"}
    assert {r.source for r in found.relationships} <= set(NAMES)


@pytest.mark.usefixtures("written")
async def test_the_function_answers_from_it(
    whole_server: Neo4jServer, model_server: ModelServerControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        **whole_server.env,
        "GRAPH_SCHEMA": "v1",
        "OAI_BASE_URL": model_server.url,
        "OAI_MODEL": "drift-extractive",
        "OAI_EMBED_MODEL_NAME": "wordllama-256",
        "VECTOR_INDEX_DIMENSIONS": str(DIMENSIONS),
    }
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    async with serving() as url, calling(url) as caller:
        document = await caller.answer(QUESTION, project_id=PROJECT)
    assert "berth" in document["final_answer"]
    cited = citations(document)
    assert cited
    for citation in cited:
        assert citation["span"] in FILES[citation["document_name"]]
