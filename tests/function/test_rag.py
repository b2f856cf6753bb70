"""Questions to the nodes, over HTTP and with the real servers behind it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from drift.http.dispatcher import Dispatcher
from drift.prompting.tokens import most_tokens
from tests.function.calling import Caller, EventReader, assert_is_problem, told
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl

ROUTE = "/api/rag/query"
NOT_ENOUGH = "I don't have enough information"
SOURCE = {"node_id", "node_type", "title", "score", "text", "cited", "related"}
RELATED = {"node_id", "title", "node_type", "relation"}
CITES = "It is so [Node 1]. It is not [Node 9]. " + "And on it goes [Node 1, Node 2]. " * 20


async def ask(
    function: Caller, question: Any = QUESTION, project_id: Any = PROJECT, **more: Any
) -> httpx2.Response:
    body = {"question": question, "project_id": project_id, **more}
    return await function.client.post(ROUTE, json=body)


async def answer(function: Caller, *args: Any) -> dict[str, Any]:
    response = await ask(function, *args)
    assert response.status_code == 200, response.text
    assert response.headers["x-retrieval-id"]
    document: dict[str, Any] = response.json()
    assert set(document) - {"nearest"} == {"answer", "sources"}
    assert not (document["sources"] and "nearest" in document)
    return document


@asynccontextmanager
async def streaming(function: Caller, **fields: Any) -> AsyncIterator[EventReader]:
    body = {"question": QUESTION, "project_id": PROJECT, **fields}
    accept = {"accept": "text/event-stream"}
    async with function.client.stream("POST", ROUTE, json=body, headers=accept) as response:
        yield EventReader(response)


async def test_an_answer_cites_its_sources_by_their_place(function: Caller) -> None:
    document = await answer(function)
    sources = document["sources"]
    assert 1 <= len(sources) <= 5
    named = {int(n) for n in re.findall(r"\[Node (\d+)\]", document["answer"])}
    assert named
    assert {n for n, source in enumerate(sources, start=1) if source["cited"]} == named
    for source in sources:
        assert set(source) == SOURCE
        assert source["node_type"] in {"Chunk", "Entity", "Community"}
        assert -1 <= source["score"] <= 1
        assert source["title"]
        assert len(source["related"]) <= 3
        for related in source["related"]:
            assert set(related) == RELATED
    scores = [source["score"] for source in sources]
    assert scores == sorted(scores, reverse=True)
    assert any(source["related"] for source in sources)


async def test_what_stands_around_a_node_is_in_the_prompt(
    function: Caller, model_server: ModelServerControl
) -> None:
    document = await answer(function)
    [sent] = [one["body"] for one in model_server.requests() if "messages" in one["body"]]
    prompt = sent["messages"][-1]["content"]
    for n, source in enumerate(document["sources"], start=1):
        assert f"[Node {n}] {source['title']}" in prompt
        assert all(one["title"] in prompt for one in source["related"])
    assert "response_format" not in sent
    assert "stream" not in sent


async def test_a_prompt_keeps_to_its_setting(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.setenv("MAX_PROMPT_TOKENS", "3000")
    await answer(function, "Who? " * 800)
    [sent] = [one["body"] for one in model_server.requests() if "messages" in one["body"]]
    assert most_tokens("".join(one["content"] for one in sent["messages"])) <= 3000


async def test_what_is_wrong_or_missing_is_named_and_settings_may_name_the_project(
    dispatcher: Dispatcher, function: Caller, environment: pytest.MonkeyPatch
) -> None:
    for fields, wrong in (
        ({"project_id": None}, "project_id"),
        ({"question": "x" * 4001}, "question"),
        ({"query": "Who?"}, "query"),
    ):
        body = {"question": QUESTION, "project_id": PROJECT, **fields}
        sent = {name: value for name, value in body.items() if value is not None}
        problem = assert_is_problem(
            await function.client.post(ROUTE, json=sent), 400, "invalid_request"
        )
        assert [one["field"] for one in problem["errors"]] == [wrong]

    await dispatcher.provider.close()
    environment.setenv("RAG_PROJECT", PROJECT)
    response = await function.client.post(ROUTE, json={"question": QUESTION})
    assert response.status_code == 200
    assert response.json()["sources"]


async def test_hidden_it_is_not_there(function: Caller, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ENABLE_RAG_SEARCH", "false")
    assert_is_problem(await ask(function), 404, "not_found")
    assert_is_problem(await ask(function, 1), 404, "not_found")


# ---------------------------------------------------------------------------------- as a stream
async def test_a_stream_tells_the_answer_then_sources_then_the_result(function: Caller) -> None:
    async with streaming(function) as reader:
        events = await reader.all()
    *deltas, sources, result = [name for name, _ in events]
    assert set(deltas) == {"answer_delta"}
    assert (sources, result) == ("sources", "result")
    document = events[-1][1]
    assert told(events) == document["answer"]
    assert events[-2][1]["sources"] == document["sources"] != []


async def test_a_stream_of_nothing_near_tells_the_sentence(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("RAG_SCORE_THRESHOLD", "0.999")
    async with streaming(function) as reader:
        *before, (last, document) = await reader.all()
    assert before == [("answer_delta", {"text": NOT_ENOUGH}), ("sources", {"sources": []})]
    assert document.pop("nearest")["threshold"] == 0.999
    assert (last, document) == ("result", {"answer": NOT_ENOUGH, "sources": []})


async def test_words_come_while_the_model_writes_and_who_leaves_ends_its_call(
    function: Caller, model_server: ModelServerControl
) -> None:
    # A model of which no reply was seen is told of at its end: it might begin with a thought.
    await function.client.get("/health/ready")
    model_server.fail({"fault": "stream_stalls", "kind": "rag_answer", "text": CITES})
    async with streaming(function) as reader:
        text = ""
        async for name, data in reader:
            assert name == "answer_delta"
            text += data["text"]
            if "[Node 2]" in text:
                break
        assert text.startswith("It is so [Node 1]. It is not. And on")
        assert "[Node 9" not in text
        assert model_server.ask("GET", "/requests")[1]["in_flight"] == 1
    await model_server.until(lambda seen: seen["abandoned"] == 1 and not seen["in_flight"])


async def test_an_error_is_the_last_event(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "refusal", "kind": "rag_answer", "times": None})
    async with streaming(function) as reader:
        events = await reader.all()
    assert [name for name, _ in events] == ["error"]
    assert events[-1][1]["code"] == "model_unavailable"
    assert "sources" not in json.dumps(events)
