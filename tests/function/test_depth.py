"""How far a search goes, over HTTP and with the real servers behind it."""

from __future__ import annotations

import pytest

from tests.function.calling import Caller, assert_is_problem
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

INCLUDE = ["trace", "usage", "verdict", "locations"]


async def test_a_quick_answer_is_cited_word_for_word_with_one_call(
    function: Caller, corpus: Corpus
) -> None:
    answer = await function.answer(depth="quick", include=INCLUDE)
    assert answer["key_facts"]
    for fact in answer["key_facts"]:
        for citation in fact["citations"]:
            assert corpus.holds(citation["span"])
            assert citation["place"]
    assert answer["usage"]["chat_calls"] == 1
    # The question names a document, which is searched whole.
    assert answer["usage"]["graph_round_trips"] == 2
    assert set(answer["usage"]["phases"]) == {"expanding_query"}
    assert answer["trace"]["depth"] == {"asked": "quick", "used": "quick", "reason": ""}


async def test_a_question_about_the_whole_goes_on_and_cites_what_the_project_knows_of_itself(
    function: Caller,
) -> None:
    answer = await function.answer(
        "How many chapters are in this collection?", depth="auto", include=[*INCLUDE, "references"]
    )
    assert answer["trace"]["depth"] == {"asked": "auto", "used": "drift", "reason": "whole"}
    known = (await function.client.get(f"/projects/{PROJECT}")).json()
    about = f"/chunks/project:{PROJECT}"
    chunk = (await function.client.get(about, params={"project_id": PROJECT})).json()
    assert (chunk["id"], chunk["document"], chunk["entities"]) == (f"project:{PROJECT}", None, [])
    cited = [c for fact in answer["key_facts"] for c in fact["citations"]]
    assert {c["chunk_id"] for c in cited} == {chunk["id"]}
    assert {item["label"] for item in answer["references"]["items"]} == {"About this project"}
    assert all(c["span"] in chunk["text"] for c in cited)
    assert f"{known['documents']} documents" in answer["final_answer"]
    other = await function.client.get(about, params={"project_id": "absent"})
    assert_is_problem(other, 404, "not_found")


async def test_the_whole_search_finds_topics_by_its_best_chunks_without_a_hypothesis(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.delenv("HYDE")
    answer = await function.answer(depth="drift", include=INCLUDE)
    assert answer["trace"]["communities"]
    assert answer["verdict"]["verdict"] == "answered"
    assert model_server.counts().get("hypothesis", 0) == 0
