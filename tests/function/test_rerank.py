"""A reranker behind the function, over sockets: every search asks it, and it costs no answer."""

from __future__ import annotations

import pytest

from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl

DOWN = {"fault": "status", "status": 503, "kind": "rerank", "times": None}
INCLUDED = ["trace", "usage"]


@pytest.fixture
def environment(
    environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> pytest.MonkeyPatch:
    environment.setenv("RERANK_URL", model_server.url)
    environment.setenv("RERANK_MODEL", "drift-affinity")
    environment.setenv("RERANK_KEY", "canary-rerank-key")
    environment.setenv("RETRY_MAX_ATTEMPTS", "1")
    return environment


async def passages(function: Caller) -> list[str]:
    body = {"knowledge_id": PROJECT, "query": QUESTION, "retrieval_setting": {"top_k": 8}}
    got = await function.client.post("/dify/retrieval", json=body)
    assert got.status_code == 200, got.text
    records = got.json()["records"]
    told = [one["score"] for one in records]
    assert told == sorted(told, reverse=True)
    return [one["metadata"]["chunk_id"] for one in records]


async def test_every_search_asks_it_and_what_it_costs_is_told(
    function: Caller, model_server: ModelServerControl
) -> None:
    for depth in ("quick", "drift"):
        answer = await function.answer(depth=depth, include=INCLUDED)
        assert answer["key_facts"]
        assert "reranking" not in answer["trace"]
        assert answer["usage"]["rerank_calls"] >= 1
    ready = await function.client.get("/health/ready")
    assert ready.json()["reranker"].startswith("ok: drift-affinity answered")

    assert await passages(function)
    asked = [one for one in model_server.requests() if one["kind"] == "rerank"]
    assert {one["headers"]["authorization"] for one in asked} == {"Bearer canary-rerank-key"}
    assert asked[-1]["body"]["query"] == QUESTION
    assert asked[-1]["body"]["top_n"] == len(asked[-1]["body"]["documents"]) > 1
    assert any(text.startswith("Harbour Office\n") for text in asked[-1]["body"]["documents"])


async def test_without_it_answers_stand_and_say_so(
    function: Caller, model_server: ModelServerControl
) -> None:
    with_it = set(await passages(function))
    model_server.fail(DOWN)
    for depth in ("quick", "drift"):
        answer = await function.answer(depth=depth, include=INCLUDED)
        assert answer["key_facts"]
        assert answer["trace"]["reranking"] == "lost"
        assert "canary" not in str(answer)
    assert set(await passages(function)) == with_it
    assert model_server.counts()["rerank"] <= 4  # once in five seconds, and by health
    ready = await function.client.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json()["reranker"].startswith("degraded: ")
