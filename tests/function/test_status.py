"""Every row of the status table.

Status, code, headers and shape, and nothing of ours or of a provider's in the text.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from drift.contracts.request import MAX_BODY_BYTES
from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber, assert_is_problem, calling, citations
from tests.function.corpus import QUESTION, TEXTS, WITHOUT_COMMUNITIES, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

NOTHING_FOUND = {
    "final_answer": "",
    "key_facts": [],
    "residual_uncertainty": "",
    "no_data_found": True,
}


def free_port() -> int:
    """Return a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


# ---------------------------------------------------------------------------------------------- 200
async def test_an_answer_has_exactly_the_fields_of_the_contract(function: Caller) -> None:
    response = await function.ask()
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-retrieval-id"]
    document = response.json()
    assert set(document) == {"final_answer", "key_facts", "residual_uncertainty"}
    assert document["final_answer"]
    assert document["key_facts"]
    assert all(set(fact) == {"fact", "citations"} for fact in document["key_facts"])


async def test_every_span_is_verbatim_text_of_the_document_it_names(function: Caller) -> None:
    cited = citations(await function.answer())
    assert cited
    for citation in cited:
        assert set(citation) == {"chunk_id", "span", "document_name"}
        assert citation["span"] in TEXTS[citation["document_name"]]


async def test_the_answer_carries_the_callers_own_retrieval_id(function: Caller) -> None:
    retrieval_id = str(uuid4())
    response = await function.ask(retrieval_id=retrieval_id)
    assert response.headers["x-retrieval-id"] == retrieval_id


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


async def test_a_missing_index_does_not_cost_the_answer(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("CHUNK_FULLTEXT_INDEX_NAME", "absent_fulltext")
    environment.setenv("CHUNK_VECTOR_INDEX_NAME", "absent_vectors")
    assert citations(await function.answer())


# ----------------------------------------------------------------------------------------- 413, 415
async def test_a_declared_length_over_the_limit_is_too_large(function: Caller) -> None:
    assert_is_problem(await function.send(b" " * (MAX_BODY_BYTES + 1)), 413, "too_large")


async def test_a_body_of_unknown_length_is_refused_at_the_limit(function: Caller) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b" " * (MAX_BODY_BYTES // 4)

    headers = {"content-type": "application/json"}
    response = await function.client.post("/retrieve", content=parts(), headers=headers)
    assert response.request.headers["transfer-encoding"] == "chunked"
    assert_is_problem(response, 413, "too_large")


async def test_a_body_of_unknown_length_below_the_limit_is_read(function: Caller) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b'{"query": "Who is asked?", '
        yield b'"project_id": "unknown"}'

    headers = {"content-type": "application/json"}
    assert (
        await function.client.post("/retrieve", content=parts(), headers=headers)
    ).json() == NOTHING_FOUND


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"]
)
async def test_another_media_type_is_unsupported(function: Caller, content_type: str) -> None:
    assert_is_problem(await function.send(b"{}", content_type), 415, "unsupported_media_type")


async def test_a_media_type_with_parameters_is_json_all_the_same(function: Caller) -> None:
    assert_is_problem(
        await function.send(b"{}", "Application/JSON; charset=utf-8"), 400, "invalid_request"
    )


# ---------------------------------------------------------------------------------------------- 429
async def test_one_request_more_than_allowed_is_busy(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.setenv("MAX_INFLIGHT", "1")
    model_server.fail({"fault": "hang", "kind": "hypothesis"})
    first = asyncio.create_task(function.ask())
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    response = await function.ask()
    assert_is_problem(response, 429, "busy")
    assert int(response.headers["retry-after"]) > 0
    first.cancel()


# ---------------------------------------------------------------------------------------------- 500
async def test_a_graph_that_nobody_serves_is_unavailable(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("NEO4J_URI", f"bolt://127.0.0.1:{free_port()}")
    assert_is_problem(await function.ask(), 500, "graph_unavailable")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"NEO4J_DATABASE": "absent"}, "NEO4J_DATABASE"),
        ({"NEO4J_USERNAME": "nobody", "NEO4J_PASSWORD": "canary-password-51c0"}, "NEO4J_PASSWORD"),
        # a model that can be asked for fewer floats than the indexes hold
        (
            {"OAI_EMBED_MODEL_NAME": "text-embedding-3-small", "VECTOR_INDEX_DIMENSIONS": "128"},
            "VECTOR_INDEX_DIMENSIONS",
        ),
    ],
    ids=["database", "login", "dimensions"],
)
async def test_a_graph_that_does_not_fit_the_settings_is_misconfigured(
    function: Caller, environment: pytest.MonkeyPatch, settings: dict[str, str], named: str
) -> None:
    for name, value in settings.items():
        environment.setenv(name, value)
    assert named in assert_is_problem(await function.ask(), 500, "graph_misconfigured")["detail"]


async def test_a_model_that_nobody_serves_is_unavailable(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OAI_BASE_URL", f"http://127.0.0.1:{free_port()}/canary-path")
    assert_is_problem(await function.ask(), 500, "model_unavailable")


@pytest.mark.parametrize(
    ("status", "named"),
    [(401, "OAI_KEY"), (403, "OAI_KEY"), (404, "OAI_MODEL"), (422, "OAI_MODEL")],
)
async def test_a_model_that_refuses_us_is_misconfigured(
    function: Caller, model_server: ModelServerControl, status: int, named: str
) -> None:
    model_server.fail({"fault": "status", "status": status, "times": None})
    assert named in assert_is_problem(await function.ask(), 500, "model_misconfigured")["detail"]
    assert model_server.counts() == {"hypothesis": 1}


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


@pytest.mark.parametrize(
    ("kind", "together"),
    [
        ("hypothesis", 4),
        ("embedding", 4),
        ("primer_reply", 4),
        ("local_reply", 1),
        ("aggregate_reply", 4),
    ],
)
async def test_a_model_that_hangs_runs_into_the_deadline(
    function: Caller,
    environment: pytest.MonkeyPatch,
    model_server: ModelServerControl,
    kind: str,
    together: int,
) -> None:
    environment.setenv("DEADLINE_SEC", "1")
    environment.setenv("MAX_FOLLOWUPS_PER_PROMPT", str(together))
    model_server.fail({"fault": "hang", "kind": kind, "times": None})
    assert_is_problem(await function.ask(), 500, "deadline")


# ---------------------------------------------------------------------------------------------- 503
@pytest.mark.usefixtures("no_settings")
async def test_every_missing_setting_is_named() -> None:
    async with serving() as url, calling(url) as caller:
        response = await caller.ask(QUESTION)
    detail = assert_is_problem(response, 503, "not_configured")["detail"]
    assert int(response.headers["retry-after"]) > 0
    for name in (
        "OAI_BASE_URL",
        "OAI_MODEL",
        "OAI_EMBED_MODEL_NAME",
        "NEO4J_URI",
        "NEO4J_PASSWORD",
    ):
        assert f"{name} is not set" in detail


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
