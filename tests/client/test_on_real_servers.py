"""A project on real servers, written, asked and scored by both objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date
from pathlib import Path
from uuid import uuid4

import pytest

from drift import Drift, DriftClient, InvalidRequestError, NotFoundError
from drift.client.methods import ServiceMethods
from drift.local.hosts.local_host import serving

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
NOON = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
QUESTION = "When does the ferry to Skarv leave?"


@asynccontextmanager
async def client() -> AsyncIterator[ServiceMethods]:
    async with serving() as url, DriftClient(url) as drift:
        yield drift


@pytest.mark.parametrize("connect", [Drift.from_env, client])
@pytest.mark.usefixtures("corpus", "model_server")
async def test_a_document_is_added_asked_for_scored_and_taken_out(
    connect: Callable[[], AbstractAsyncContextManager[ServiceMethods]],
    environment: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if connect is client:  # the owner of a process needs none of it
        environment.setenv("ENABLE_INDEXING", "true")
    project, file = f"notes-{uuid4()}", tmp_path / "b.html"
    file.write_text("<h1>Tides</h1><p>The tide at Skarv is highest in the spring.</p>")
    async with connect() as drift:
        said = {"tags": ["sea"], "metadata": {"dock": 3}, "created_at": date(2026, 3, 1)}
        first = await drift.add("sea/a b?.md", NOON, project=project, title="Ferries", **said)
        assert (first.outcome, first.title) == ("added", "Ferries")
        again = await drift.add("sea/a b?.md", NOON, project=project, title="Ferries", **said)
        assert again.outcome == "unchanged"
        assert (await drift.add("..", NOON.encode(), project=project)).outcome == "added"
        assert (await drift.add("b.html", file, project=project)).outcome == "added"
        with pytest.raises(InvalidRequestError, match="text"):
            await drift.add("c.md", "", project=project)

        held = {one.id: one async for one in drift.documents(project)}
        assert set(held) == {"sea/a b?.md", "..", "b.html"}
        assert (held["sea/a b?.md"].tags, held["sea/a b?.md"].metadata) == (("sea",), {"dock": 3})
        only = {"type": "eq", "key": "tag", "value": "sea"}
        assert [one.id async for one in drift.documents(project, filter=only)] == ["sea/a b?.md"]
        assert project in [one.id async for one in drift.projects()]

        answer = await drift.ask(QUESTION, project=project, depth="quick", filter=only)
        assert "noon" in answer.final_answer
        found = await drift.search(QUESTION, project=project, include=("locations",))
        assert "noon" in found.evidence[0].text
        assert answer.retrieval_id
        await drift.feedback(answer.retrieval_id, score=-1, fact=1, reason="old")
        with pytest.raises(NotFoundError):
            await drift.feedback(uuid4(), score=1)

        for name in held:
            await drift.remove(name, project=project)
        with pytest.raises(NotFoundError):
            await drift.remove("b.html", project=project)
        assert not [one async for one in drift.documents(project)]
