"""The answer as a stream: the same messages and document as elsewhere; a client may leave."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber, assert_is_problem
from tests.function.corpus import PROJECT, QUESTION, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

STREAM = {"accept": "text/event-stream"}


async def post_stream(function: Caller, **fields: Any) -> httpx2.Response:
    """Ask for a stream and read all of it."""
    body = {"query": QUESTION, "project_id": PROJECT, **fields}
    return await function.client.post("/retrieve", json=body, headers=STREAM)


async def until_free(function: Caller) -> httpx2.Response:
    """Ask until the one slot is free; the test's time limit ends an endless wait."""
    while (response := await function.ask()).status_code == 429:  # noqa: ASYNC110 - only asking shows it
        await asyncio.sleep(0.01)
    return response


async def test_a_stream_opens_with_a_comment_and_ends_with_one_result(
    function: Caller, corpus: Corpus
) -> None:
    retrieval_id = str(uuid4())
    async with function.streaming(retrieval_id=retrieval_id) as events:
        headers = events.response.headers
        received = await events.all()
    assert events.response.status_code == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert (headers["cache-control"], headers["x-retrieval-id"]) == ("no-store", retrieval_id)
    assert events.comments[0] == ": open"
    assert {name for name, _ in received[:-1]} == {"progress", "answer_delta", "citations"}
    assert received[-1][0] == "result"
    document = received[-1][1]
    assert set(document) == {"final_answer", "key_facts", "residual_uncertainty"}
    assert document["key_facts"]
    assert all(corpus.holds(c["span"]) for fact in document["key_facts"] for c in fact["citations"])


async def test_a_stream_carries_the_messages_that_redis_carries(
    function: Caller, valkey: ValkeyServer
) -> None:
    retrieval_id = str(uuid4())
    async with (
        Subscriber(valkey.url, retrieval_id) as subscriber,
        function.streaming(retrieval_id=retrieval_id) as events,
    ):
        received = await events.all()
        assert await subscriber.until_the_end() == [
            data for name, data in received if name == "progress"
        ]


async def test_a_stream_needs_no_redis(function: Caller, environment: pytest.MonkeyPatch) -> None:
    environment.delenv("REDIS_URL")
    async with function.streaming() as events:
        received = await events.all()
    assert received[-1][0] == "result"
    assert received[-2][1]["phase"] == "completed"


async def test_the_first_bytes_come_before_the_answer(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "hang", "kind": "aggregate_reply", "times": None})
    async with function.streaming() as events:
        async for _, message in events:
            if message["phase"] == "aggregating_results":
                break
        assert events.comments == [": open"]


async def test_nothing_found_is_a_result_too(function: Caller) -> None:
    async with function.streaming(project_id="unknown") as events:
        name, document = (await events.all())[-1]
    assert (name, document["no_data_found"]) == ("result", True)


async def test_errors_before_the_first_byte_keep_their_status(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    assert_is_problem(await post_stream(function, top_k=0), 400, "invalid_request")
    plain = await function.client.post(
        "/retrieve", content=b"{}", headers={**STREAM, "content-type": "text/plain"}
    )
    assert_is_problem(plain, 415, "unsupported_media_type")
    environment.setenv("MAX_INFLIGHT", "1")
    model_server.fail({"fault": "hang", "kind": "hypothesis"})
    first = asyncio.create_task(function.ask())
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    assert_is_problem(await post_stream(function), 429, "busy")
    first.cancel()


async def test_a_stream_without_settings_is_503(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.delenv("OAI_MODEL")
    assert_is_problem(await post_stream(function), 503, "not_configured")


async def test_an_error_after_the_first_byte_is_the_last_event(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "status", "status": 401, "kind": "aggregate_reply"})
    retrieval_id = str(uuid4())
    async with function.streaming(retrieval_id=retrieval_id) as events:
        received = await events.all()
    assert events.response.status_code == 200
    assert [name for name, _ in received].count("error") == 1
    name, problem = received[-1]
    assert name == "error"
    assert set(problem) == {"type", "title", "status", "detail", "code", "retrieval_id"}
    assert (problem["status"], problem["code"]) == (500, "model_misconfigured")
    assert problem["retrieval_id"] == retrieval_id
    assert received[-2][1]["phase"] == "error"


async def test_a_client_that_leaves_a_stream_cancels_its_search_and_frees_its_slot(
    function: Caller,
    environment: pytest.MonkeyPatch,
    model_server: ModelServerControl,
    valkey: ValkeyServer,
) -> None:
    environment.setenv("MAX_INFLIGHT", "1")
    model_server.fail({"fault": "hang", "kind": "hypothesis"})
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber:
        async with function.streaming(retrieval_id=retrieval_id):
            await model_server.until(lambda seen: seen["in_flight"] == 1)
        await model_server.until(lambda seen: seen["abandoned"] == 1)
        assert (await until_free(function)).status_code == 200
        assert (await subscriber.until_the_end())[-1]["phase"] == "error"
    assert model_server.counts()["hypothesis"] == 2


async def test_a_client_that_leaves_before_a_buffered_answer_cancels_its_search_too(
    function: Caller,
    environment: pytest.MonkeyPatch,
    model_server: ModelServerControl,
    valkey: ValkeyServer,
) -> None:
    environment.setenv("MAX_INFLIGHT", "1")
    model_server.fail({"fault": "hang", "kind": "primer_reply"})
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber:
        leaving = asyncio.create_task(function.ask(retrieval_id=retrieval_id))
        await model_server.until(lambda seen: seen["counts"].get("primer_reply") == 1)
        leaving.cancel()
        await model_server.until(lambda seen: seen["abandoned"] == 1)
        assert (await until_free(function)).status_code == 200
        assert (await subscriber.until_the_end())[-1]["phase"] == "error"
    assert model_server.counts()["primer_reply"] == 2
