"""A caller with a filter, and one without, over the function's own routes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, calling
from tests.function.corpus import PROJECT, TEXTS, Corpus
from tests.model_server_fixture import ModelServerControl

SHOWN, HIDDEN = "Lighthouse.md", "Tide Table.md"
QUESTION = "By how much does a storm make the Tide Table wrong?"
ONLY = {"type": "eq", "key": "document_id", "value": SHOWN}
ALL, WHOLE = entry("all", [PROJECT])
SOME, PART = entry("some", [PROJECT], filter=ONLY)


@pytest.fixture
async def guarded(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    use_keys(environment, WHOLE, PART)
    async with serving() as url, calling(url) as caller:
        yield caller


async def get(caller: Caller, key: str, path: str, **query: str) -> httpx2.Response:
    got: httpx2.Response = await caller.client.get(path, params=query, headers={"x-api-key": key})
    return got


async def documents(caller: Caller, key: str, **query: str) -> list[str]:
    got = await get(caller, key, f"/projects/{PROJECT}/documents", **query)
    return [one["id"] for one in got.json()["documents"]]


async def evidence(caller: Caller, key: str, **fields: Any) -> set[str]:
    """The documents that an answer cites."""
    caller.client.headers["x-api-key"] = key
    answer = await caller.answer(QUESTION, depth="quick", **fields)
    return {one["document_name"] for fact in answer["key_facts"] for one in fact["citations"]}


async def test_a_filter_of_a_key_holds_on_every_route(guarded: Caller) -> None:
    assert "Tide Table" in await evidence(guarded, ALL)
    assert await evidence(guarded, SOME) <= {"Lighthouse"}
    hidden = {"type": "eq", "key": "document_id", "value": HIDDEN}
    assert await evidence(guarded, ALL, filter=hidden) == {"Tide Table"}
    assert not await evidence(guarded, SOME, filter=hidden)

    assert len(await documents(guarded, ALL)) == len(TEXTS)
    assert await documents(guarded, ALL, filter=json.dumps(hidden)) == [HIDDEN]
    assert await documents(guarded, SOME) == [SHOWN]
    assert await documents(guarded, SOME, filter=json.dumps(hidden)) == []

    told = (await get(guarded, SOME, f"/projects/{PROJECT}")).json()
    whole = (await get(guarded, ALL, f"/projects/{PROJECT}")).json()
    assert told["documents"] == 1
    assert 0 < told["chunks"] < whole["chunks"]


async def test_what_is_hidden_is_answered_as_what_never_was(guarded: Caller) -> None:
    path = f"/documents/{quote(HIDDEN, safe='')}"
    document = (await get(guarded, ALL, path)).json()
    there = [path, f"/chunks/{quote(document['chunks'][0]['id'], safe='')}"]
    for one in there:
        assert (await get(guarded, ALL, one)).status_code == 200
        absent = f"{one.rpartition('/')[0]}/absent"
        replies = [await get(guarded, SOME, asked) for asked in (one, absent)]
        told = [
            (got.status_code, {**got.json(), "retrieval_id": ""}, sorted(got.headers))
            for got in replies
        ]
        assert told[0] == told[1]
        assert told[0][0] == 404


async def test_a_wrong_filter_is_refused_with_its_field(guarded: Caller) -> None:
    wrong = {"type": "eq", "key": '`__proto__`."a', "value": "x"}
    guarded.client.headers["x-api-key"] = SOME
    asked = await guarded.ask(filter=wrong)
    listed = await get(guarded, SOME, f"/projects/{PROJECT}/documents", filter=json.dumps(wrong))
    unread = await get(guarded, SOME, f"/projects/{PROJECT}/documents", filter="{")
    for got in (asked, listed, unread):
        assert got.status_code == 400
        assert [one["field"] for one in got.json()["errors"]] == ["filter"]
