"""Answers where less is there: a project of chunks alone, and a server of an old version."""

from __future__ import annotations

import pytest

from tests.function.calling import Caller, citations
from tests.function.corpus import WITHOUT_COMMUNITIES, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_a_project_without_communities_is_answered_from_its_chunks(
    function: Caller, corpus: Corpus
) -> None:
    document = await function.answer(project_id=WITHOUT_COMMUNITIES)
    cited = citations(document)
    assert cited
    assert all(c["chunk_id"].startswith("only-") and corpus.holds(c["span"]) for c in cited)


async def test_a_whole_request_is_answered_by_an_azure_version_that_knows_little(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.setenv("OAI_API_VERSION", "2024-02-15-preview")
    environment.setenv("LLM_TEMPERATURE", "0.0")
    document = await function.answer(include=["usage"])
    assert document["key_facts"]

    # the first calls find out what is taken, the others know
    counts, usage = model_server.counts(), document["usage"]
    counts.pop("embedding")
    assert sum(counts.values()) == usage["chat_calls"] + usage["retries"]
    assert usage["retries"] == 3
    bodies = [
        request["body"] for request in model_server.requests() if "messages" in request["body"]
    ]
    last = bodies[-1]
    assert last["response_format"] == {"type": "json_object"}
    assert set(last) == {"model", "messages", "response_format", "temperature", "max_tokens"}
