"""Answers go on from second vectors while the provider of embeddings fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drift.graph.connection import Connection
from drift.graph.cypher.schema import FALLBACK_VECTOR
from drift.http import wiring
from drift.http.settings import Settings, load
from drift.indexing.documents import SourceDocument
from drift.local.hosts.local_host import serving
from drift.local.ingest.sources import Source
from drift.local.prepare.vectors import fill_second_vectors
from tests.function.calling import Caller, calling
from tests.function.conftest import Environment
from tests.function.corpus import PROJECT, QUESTION, TEXTS, Corpus, fill_from
from tests.model_server_fixture import ModelServerControl

MINE, OTHERS = "second-vectors", "second-vectors-of-others"
CANARY = "The Harbour Office of others refuses every berth at the North Quay."
DOWN = {"fault": "status", "status": 503, "kind": "embedding", "times": None}


async def put(settings: Settings, project: str, texts: dict[str, str]) -> None:
    """Write documents into a project, without second vectors."""
    documents = tuple(SourceDocument(f"{t}.md", t, x, "markdown") for t, x in texts.items())
    await fill_from(Source("tests", documents), project, settings)


async def without_second(settings: Settings, project: str) -> int:
    """Return how many chunks and communities of a project have no second vector."""
    text = f"""MATCH (n:__Chunk__|__Community__ {{project_id: $project_id}})
      WHERE n.{FALLBACK_VECTOR} IS NULL RETURN count(n) AS nodes"""
    async with Connection(*wiring.database(settings)) as connection:
        [row] = await connection.rows(text, {"project_id": project})
    return int(row["nodes"])


@pytest.fixture(scope="module")
def settings(base_settings: Environment) -> Settings:
    """Two projects of two tenants, each with its second vectors."""
    values = load({**base_settings, "EMBED_FALLBACK": "local"})

    async def fill() -> None:
        for project, texts in ((MINE, TEXTS), (OTHERS, {"Others": CANARY})):
            await put(values, project, texts)
            assert await without_second(values, project) > 0
            await fill_second_vectors(values, project, lambda _: None)
            assert await without_second(values, project) == 0

    asyncio.run(fill())
    return values


@pytest.fixture
async def function(
    environment: pytest.MonkeyPatch,
    settings: Settings,  # noqa: ARG001 - the graph is filled
    corpus: Corpus,  # noqa: ARG001 - a project without second vectors
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    environment.setenv("EMBED_FALLBACK", "local")
    environment.setenv("RETRY_MAX_ATTEMPTS", "1")
    environment.setenv("CACHE", "off")
    async with serving() as url, calling(url) as caller:
        yield caller


async def test_answers_go_on_from_second_vectors_and_say_so(
    function: Caller, model_server: ModelServerControl
) -> None:
    whole = await function.answer(project_id=MINE, include=["trace"])
    assert "embedding" not in whole["trace"]

    model_server.fail(DOWN)
    for depth in ("quick", "drift"):
        answer = await function.answer(
            project_id=MINE, depth=depth, include=["trace", "references"]
        )
        assert answer["trace"]["embedding"] == "local"
        assert "a smaller one found the evidence" in answer["residual_uncertainty"]
        assert answer["key_facts"]
        assert CANARY not in str(answer)
        assert answer["references"]["items"]
    assert model_server.counts()["embedding"] <= 6  # now and then, and by no request

    ready = (await function.client.get("/health/ready")).json()
    assert ready["model"].startswith("degraded: The model server fails (HTTP 503). Questions are")


async def test_a_project_without_second_vectors_is_told_what_to_run(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail(DOWN)
    response = await function.ask(QUESTION, PROJECT)
    assert response.status_code == 500
    assert "python -m drift prepare" in response.json()["detail"]


async def test_a_text_that_changes_loses_its_second_vector_until_it_has_a_new_one(
    settings: Settings,
) -> None:
    await put(settings, OTHERS, {"Others": f"{CANARY} It was changed."})
    assert await without_second(settings, OTHERS) > 0
    await fill_second_vectors(settings, OTHERS, lambda _: None)
    assert await without_second(settings, OTHERS) == 0
