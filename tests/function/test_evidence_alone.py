"""Evidence without an answer over a socket: of /retrieve, and as a vector store's search."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, assert_is_problem
from tests.function.corpus import PROJECT, QUESTION, Corpus
from tests.function.test_chat_completions import client
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.slow

FIELDS = {"chunk_id", "document_id", "document_name", "text", "score", "via"}


async def test_evidence_comes_without_a_call_to_the_chat_model(
    function: Caller, corpus: Corpus, model_server: ModelServerControl
) -> None:
    told = await function.answer(answer=False, top_k=3)
    assert set(told) == {"evidence", "entities", "communities"}
    assert len(told["evidence"]) == 3
    for one in told["evidence"]:
        assert set(one) == FIELDS
        assert corpus.holds(one["text"])
        assert one["via"]
    scores = [one["score"] for one in told["evidence"]]
    assert scores == sorted(scores, reverse=True)
    assert "refuses a berth" in told["evidence"][0]["text"]
    assert {"vector", "text"} <= set(told["evidence"][0]["via"])
    assert told["entities"] == []  # the corpus has none
    assert [one["level"] for one in told["communities"]] == [0]
    assert "chat" not in model_server.counts()


async def test_places_usage_and_nothing_at_all(function: Caller) -> None:
    told = await function.answer(answer=False, include=["locations", "usage", "trace"])
    assert told["evidence"][0].keys() >= {"label", "heading", "start", "source_uri"}
    assert (told["usage"]["chat_calls"], told["usage"]["graph_round_trips"] > 1) == (0, True)
    assert await function.answer(project_id="nobody's", answer=False) == {
        "evidence": [],
        "entities": [],
        "communities": [],
        "no_data_found": True,
    }
    assert_is_problem(await function.ask(answer="no"), 400, "invalid_request")


async def test_a_stream_ends_with_the_same_document(function: Caller) -> None:
    async with function.streaming(answer=False) as events:
        received = await events.all()
    assert [name for name, _ in received] == ["progress", "progress", "result"]
    assert [data["phase"] for name, data in received[:2]] == ["initializing", "completed"]
    assert received[-1][1] == await function.answer(answer=False)


async def test_openai_s_client_searches_a_project_as_a_vector_store(function: Caller) -> None:
    evidence = (await function.answer(answer=False, top_k=4))["evidence"]
    async with client(function) as asking:
        page = await asking.vector_stores.search(PROJECT, query=QUESTION, max_num_results=4)
        told = [one async for one in page]
        least = told[1].score
        fewer = await asking.vector_stores.search(
            PROJECT,
            query=[QUESTION],
            max_num_results=4,
            ranking_options={"ranker": "none", "score_threshold": least},
            rewrite_query=True,
        )
        nothing = await asking.vector_stores.search("nobody's", query=QUESTION)
    assert [(one.file_id, one.score, one.content[0].text) for one in told] == [
        (one["document_id"], one["score"], one["text"]) for one in evidence
    ]
    assert told[0].attributes
    assert told[0].attributes["chunk_id"] == evidence[0]["chunk_id"]
    assert [one.score for one in fewer.data] == [o.score for o in told if o.score >= least]
    assert (fewer.model_extra or {})["search_query"] == [QUESTION]
    assert nothing.data == []


async def test_openai_s_client_reads_what_a_vector_store_refuses(function: Caller) -> None:
    filters: Any = {"type": "eq", "key": "color", "value": "red"}
    async with client(function) as asking:
        with pytest.raises(openai.BadRequestError) as caught:
            await asking.vector_stores.search(PROJECT, query=QUESTION, filters=filters)
        assert caught.value.param == "filters"
        filters |= {"key": "document_id", "value": "Lighthouse.md"}
        found = await asking.vector_stores.search(PROJECT, query=QUESTION, filters=filters)
        assert {one.file_id for one in found.data} == {"Lighthouse.md"}
        with pytest.raises(openai.BadRequestError) as caught:
            await asking.vector_stores.search("a" * 129, query=QUESTION)
        assert caught.value.param == "vector_store_id"


async def test_a_vector_store_is_refused_to_who_may_not_read_it(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    key, of_other = entry("guest", ["another"])
    use_keys(environment, of_other)
    async with client(function, key) as asking:
        with pytest.raises(openai.PermissionDeniedError):
            await asking.vector_stores.search(PROJECT, query=QUESTION)
    async with client(function, "wrong") as asking:
        with pytest.raises(openai.AuthenticationError):
            await asking.vector_stores.search(PROJECT, query=QUESTION)


async def test_limits_of_a_request_end_it_and_are_told(function: Caller) -> None:
    told = await function.answer(depth="drift", limits={"max_followups": 1}, include=["trace"])
    states = [one["state"] for one in told["trace"]["followups"]]
    assert states.count("answered") == 1
    assert told["key_facts"]
    asked = {"max_seconds": 200, "max_followups": 40, "max_tokens": 900_000}
    assert "ended_by" not in await function.answer(depth="quick", limits=asked)
    tight = await function.answer(depth="drift", limits={"max_tokens": 12_000}, include=["usage"])
    used = tight["usage"]
    assert used["prompt_tokens"] + used["completion_tokens"] <= 12_000
    refused = await function.ask(depth="quick", limits={"max_tokens": 50})
    problem = assert_is_problem(refused, 400, "invalid_request")
    assert problem["errors"][0]["field"] == "limits.max_tokens"
