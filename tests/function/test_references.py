"""References through the function: for who asks, in all depths, as JSON and as a stream."""

from __future__ import annotations

from typing import Any

import pytest

from drift.http.description import EXAMPLES
from drift.routes import document
from tests.function.calling import Caller
from tests.function.corpus import PROJECT, TEXTS, Corpus

QUESTION, ANSWER = EXAMPLES["retrieve"]["body"], EXAMPLES["retrieve"]["answer"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def assert_refers(response: dict[str, Any]) -> None:
    """Check that numbers, labels, lines and signals belong to the answer's own citations."""
    references = response["references"]
    items = references["items"]
    assert [item["number"] for item in items] == [*range(1, len(items) + 1)]
    by_number = {item["number"]: (item["chunk_id"], item["span"]) for item in items}
    cited = set()
    for fact in response["key_facts"]:
        own = {(one["chunk_id"], one["span"]) for one in fact["citations"]}
        assert {by_number[number] for number in fact["references"]} == own
        cited |= own
    assert cited == set(by_number.values())

    for item in items:
        lines = TEXTS[item["document_name"]].split("\n")
        stands = "\n".join(lines[item["first_line"] - 1 : item["last_line"]])
        assert item["span"] in stands
        first, last = item["first_line"], item["last_line"]
        place = f"{first}" if first == last else f"{first}-{last}"
        assert item["label"] == f"{item['document_name']}.md:{place}"
        assert 0 < item["match"] == item["signals"]["similarity"] <= 1
        assert set(item["signals"]) >= {"similarity", "freshness", "model"}
        line = f"[{item['number']}] {item['label']} ({item['match']:.0%} match)"
        assert line in references["answer"].split("\n")
    assert 0 < references["confidence"] <= 1


async def test_both_depths_have_references_with_lines_and_signals(
    function: Caller, corpus: Corpus
) -> None:
    assert corpus.texts == TEXTS
    for depth in ("drift", "quick"):
        assert_refers(await function.answer(depth=depth, include=["references"]))


async def test_a_stream_tells_the_numbers_with_the_citations_and_the_rest_with_the_result(
    function: Caller,
) -> None:
    async with function.streaming(include=["references", "locations"]) as events:
        told = await events.all()
    *_, (name, result) = told
    assert name == "result"
    (facts,) = [data["key_facts"] for name, data in told if name == "citations"]
    assert facts == result["key_facts"]
    for fact in result["key_facts"]:
        for citation in fact["citations"]:
            assert "start" in citation
    assert_refers(result)


async def test_the_example_of_the_description_is_what_the_function_answers(
    function: Caller, corpus: Corpus
) -> None:
    del corpus
    operation = document()["paths"]["/retrieve"]["post"]
    assert operation["requestBody"]["content"]["application/json"]["example"] == QUESTION
    described = operation["responses"]["200"]["content"]["application/json"]["example"]
    assert described == ANSWER
    asked = {**QUESTION, "project_id": PROJECT}
    answered = (await function.client.post("/retrieve", json=asked)).json()
    assert answered == ANSWER
