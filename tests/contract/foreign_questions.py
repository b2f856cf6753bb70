"""Three questions to the graph of another tool, through the function as it is served."""

from __future__ import annotations

import pytest

from drift.http.settings import Settings
from drift.llm.local_embedding import DIMENSIONS
from drift.local.hosts.local_host import serving
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.foreign_shapes import TEXTS
from tests.contract.v1_graphs import PROJECT
from tests.function.calling import calling, citations
from tests.model_server_fixture import ModelServerControl

QUESTIONS = (
    "Who is the harbour master of Nessel?",
    "Which boats is quay four for?",
    "How many tonnes does the crane lift?",
)
"""Of each of the texts."""


async def titles_cited(
    server: Neo4jServer,
    schema: str,
    model_server: ModelServerControl,
    monkeypatch: pytest.MonkeyPatch,
) -> set[str]:
    """Assert that each question is cited from its text; return the names of what is cited."""
    settings = {
        **server.env,
        "GRAPH_SCHEMA": schema,
        "OAI_BASE_URL": model_server.url,
        "OAI_MODEL": "drift-extractive",
        "OAI_EMBED_MODEL_NAME": "wordllama-256",
        "VECTOR_INDEX_DIMENSIONS": str(DIMENSIONS),
    }
    for field in Settings.model_fields:
        monkeypatch.delenv(field.upper(), raising=False)
    for field, value in settings.items():
        monkeypatch.setenv(field, value)
    titles = set()
    async with serving() as url, calling(url) as caller:
        for question, text in zip(QUESTIONS, TEXTS, strict=True):
            cited = citations(await caller.answer(question, project_id=PROJECT))
            assert text in {one["span"] for one in cited}, (question, cited)
            titles |= {one["document_name"] for one in cited}
    return titles
