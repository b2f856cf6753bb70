"""A project as an external knowledge base, by Dify's own contract over a socket."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION


async def dify(function: Caller, **fields: Any) -> Any:
    body = {"knowledge_id": PROJECT, "query": QUESTION, "retrieval_setting": {"top_k": 3}, **fields}
    return await function.client.post("/dify/retrieval", json=body)


def asking(name: str, operator: str, value: str) -> dict[str, Any]:
    condition = {"name": [name], "comparison_operator": operator, "value": value}
    return {"metadata_condition": {"logical_operator": "and", "conditions": [condition]}}


async def test_dify_gets_passages_with_scores(function: Caller) -> None:
    got = await dify(function)
    records = got.json()["records"]
    assert 1 <= len(records) <= 3
    for record in records:
        assert record["content"]
        assert isinstance(record["score"], float)
        assert 0 <= record["score"] <= 1
        assert record["title"] == record["metadata"]["document_name"]
    near = records[0]["score"]
    least = {"top_k": "3", "score_threshold": str(near), "reranking_model": None}
    kept = (await dify(function, retrieval_setting=least)).json()["records"]
    assert [one for one in records if one["score"] >= near] == kept


async def test_dify_gets_errors_of_its_shape(function: Caller) -> None:
    for changes, status, code in (
        ({"knowledge_id": "nobody's"}, 404, 2001),
        ({"query": " "}, 400, "invalid_request"),
        ({"retrieval_setting": {"top_k": 0}}, 400, "invalid_request"),
        ({"retrieval_setting": {"top_k": "many"}}, 400, "invalid_request"),
        ({"retrieval_setting": {"score_threshold": "nan"}}, 400, "invalid_request"),
        ({"retrieval_setting": []}, 400, "invalid_request"),
        ({"metadata_condition": {"conditions": [{"name": ["a"]}]}}, 400, "invalid_request"),
        (asking("tag", "contains", "hr"), 400, "invalid_request"),
        (asking("tag", "is", ""), 400, "invalid_request"),
        (asking("size", "start with", "1"), 400, "invalid_request"),
    ):
        got = await dify(function, **changes)
        assert (got.status_code, got.json()["error_code"]) == (status, code), changes
        assert not re.search("pydantic|Input|valid", got.json()["error_msg"])
    nothing = dict.fromkeys(("retrieval_setting", "metadata_condition", "another"))
    assert (await dify(function, **nothing)).json()["records"]


async def test_dify_gets_passages_of_the_documents_that_fit_its_conditions(
    function: Caller,
) -> None:
    async def documents(operator: str, value: str) -> set[str]:
        got = await dify(function, **asking("document_id", operator, value))
        assert got.status_code == 200
        return {record["metadata"]["document_id"] for record in got.json()["records"]}

    nearest = (await dify(function)).json()["records"][0]["metadata"]["document_id"]
    assert await documents("is", nearest) == {nearest}
    assert nearest not in await documents("is not", nearest)
    assert await documents("is", "absent") == set()


async def test_dify_is_told_which_key_is_wrong(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    other, of_other = entry("guest", ["another"])
    use_keys(environment, of_other)
    seen = []
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Bearer {other}"}):
        body = {"knowledge_id": PROJECT, "query": QUESTION}
        got = await function.client.post("/dify/retrieval", json=body, headers=headers)
        seen.append((got.status_code, got.json()["error_code"]))
    assert seen == [(401, 1001), (401, 1002), (403, 2001)]
