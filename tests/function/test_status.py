"""Every row of the status table.

Status, code, headers and shape, and nothing of ours or of a provider's in the text.
"""

from __future__ import annotations

from uuid import uuid4

import pytest

from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber, assert_is_problem, citations
from tests.function.corpus import TEXTS, WITHOUT_COMMUNITIES, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

NOTHING_FOUND = {
    "final_answer": "",
    "key_facts": [],
    "residual_uncertainty": "",
    "no_data_found": True,
}


async def test_every_span_is_verbatim_text_of_the_document_it_names(function: Caller) -> None:
    cited = citations(await function.answer())
    assert cited
    for citation in cited:
        assert set(citation) == {"chunk_id", "span", "document_name"}
        assert citation["span"] in TEXTS[citation["document_name"]]


async def test_usage_and_trace_come_when_they_are_asked_for(
    function: Caller, model_server: ModelServerControl
) -> None:
    document = await function.answer(include=["usage", "trace"])
    counts = model_server.counts()
    assert document["usage"]["embedding_calls"] == counts.pop("embedding")
    assert document["usage"]["chat_calls"] == sum(counts.values())
    assert document["trace"]["communities"]
    assert {"answered"} <= {node["state"] for node in document["trace"]["followups"]}


async def test_an_unknown_project_is_no_data_and_its_progress_completes(
    function: Caller, valkey: ValkeyServer
) -> None:
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber:
        assert (
            await function.answer(project_id="unknown", retrieval_id=retrieval_id) == NOTHING_FOUND
        )
        messages = await subscriber.until_the_end()
    assert (messages[-1]["phase"], messages[-1]["progress_pct"]) == ("completed", 100)


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


# ---------------------------------------------------------------------------------------------- 503


async def test_wrong_settings_are_named_without_their_values(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("NEO4J_URI", "ftp://canary-user:canary-password@127.0.0.1")
    environment.setenv("MAX_INFLIGHT", "canary-number")
    environment.setenv("OAI_KEY", "@Microsoft.KeyVault(SecretUri=canary-vault)")
    detail = assert_is_problem(await function.ask(), 503, "not_configured")["detail"]
    assert all(name in detail for name in ("NEO4J_URI", "MAX_INFLIGHT", "OAI_KEY"))


async def test_a_bad_request_is_told_apart_from_a_service_without_settings(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.delenv("NEO4J_URI")
    assert_is_problem(await function.send(b"[]"), 400, "invalid_request")
    assert_is_problem(await function.ask(), 503, "not_configured")
