"""Three hundred ways to reach what a key's filter hides, over the function's own routes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from tests.function.access_keys import entry, use_keys
from tests.function.calling import calling
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.slow

SHOWN = ("Harbour Office.md", "Pilot Service.md")
HIDDEN = ("Tide Table.md", "Lighthouse.md")
ONLY = {"type": "in", "key": "document_id", "value": [*SHOWN]}
ALL, WHOLE = entry("all", [PROJECT])
SOME, PART = entry("some", [PROJECT], filter=ONLY)
MARKS = re.compile(
    r"\b(thirty|keeper|spring|storm|computed|publishes|measures|Tide Table\.md|Lighthouse\.md)\b"
)
"""What stands in hidden documents alone."""
QUESTIONS = (
    "What stands beside the Outer Buoy?",
    "How often does the signal sound?",
    "What is this project about?",
    "List all documents and how many there are.",
    "What makes the table wrong, and by how much?",
    "Which documents of the folder end in md?",
)
EVERYTHING = {"type": "ne", "key": "tag", "value": "no such tag"}
WIDER: tuple[Any, ...] = (
    None,
    EVERYTHING,
    {"type": "eq", "key": "document_id", "value": HIDDEN[1]},
    {"type": "or", "filters": [EVERYTHING, ONLY]},
    {"type": "nin", "key": "document_id", "value": [*SHOWN]},
)
INCLUDED = ["usage", "trace", "verdict", "locations", "references"]


@pytest.fixture
async def client(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[httpx2.AsyncClient]:
    use_keys(environment, WHOLE, PART)
    environment.setenv("MAX_INFLIGHT", "4")
    async with serving() as url, calling(url) as caller:
        yield caller.client


async def ids(client: httpx2.AsyncClient, key: str) -> dict[str, list[str]]:
    """Every id that a key is told: of documents, chunks, entities and communities."""
    found: dict[str, list[str]] = {"documents": [], "chunks": [], "entities": []}
    headers, of = {"x-api-key": key}, {"project_id": PROJECT}
    listed = await client.get(f"/projects/{PROJECT}/documents", headers=headers)
    for document in listed.json()["documents"]:
        found["documents"].append(document["id"])
        path = f"/documents/{quote(document['id'], safe='')}"
        read = await client.get(path, headers=headers, params=of)
        for chunk in read.json()["chunks"]:
            found["chunks"].append(chunk["id"])
            path = f"/chunks/{quote(chunk['id'], safe='')}"
            told = await client.get(path, headers=headers, params=of)
            found["entities"] += [one["id"] for one in told.json()["entities"]]
    found["entities"] = sorted(set(found["entities"]))
    return found


def reads(every: dict[str, list[str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Paths and parameters of read routes, with ids of all that there is, written in many ways."""
    of = {"project_id": PROJECT}
    for kind, known in every.items():
        for id_ in known:
            plain = quote(id_, safe="")
            for written in (plain, plain.upper(), f"%20{plain}", f"{plain}%00", quote(plain)):
                yield f"/{kind}/{written}", of
            yield f"/{kind}/{quote(id_, safe='')}", {**of, "limit": "200"}
    for level, limit in itertools.product(map(str, range(10)), ("1", "2", "5", "10", "50", "100")):
        yield f"/projects/{PROJECT}/communities", {"level": level, "limit": limit}
        yield f"/projects/{PROJECT}/documents", {"limit": str(int(level) * 10 + int(limit))}
    for wider, kind in itertools.product(WIDER[1:], ("documents", "communities")):
        yield f"/projects/{PROJECT}/{kind}", {"filter": json.dumps(wider)}
    yield from ((path, {}) for path in ("/projects", f"/projects/{PROJECT}", "/v1/models"))
    yield f"/chunks/{quote(f'project:{PROJECT}', safe='')}", of


def questions() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Path, body and what is accepted of every route that finds evidence."""
    plain, stream = "application/json", "text/event-stream"
    for question, depth, wider in itertools.product(QUESTIONS, ("quick", "drift", "auto"), WIDER):
        asked = {"query": question, "project_id": PROJECT, "depth": depth, "include": INCLUDED}
        accepted = stream if depth == "auto" else plain
        yield "/retrieve", asked | ({"filter": wider} if wider else {}), accepted
    for question, wider in itertools.product(QUESTIONS, WIDER):
        more = {"filter": wider} if wider else {}
        yield "/api/rag/query", {"question": question, "project_id": PROJECT, **more}, plain
    for question in QUESTIONS:
        messages = [{"role": "user", "content": question}]
        yield "/v1/chat/completions", {"model": f"{PROJECT}:quick", "messages": messages}, plain
        setting = {"top_k": 20, "score_threshold": 0}
        knowledge = {"knowledge_id": PROJECT, "query": question, "retrieval_setting": setting}
        yield "/dify/retrieval", knowledge, plain


def tool_calls(every: dict[str, list[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools of the Model Context Protocol with their arguments."""
    yield "list_projects", {}
    for question in QUESTIONS:
        yield "search", {"question": question, "project": PROJECT, "top_k": 20}
        yield "retrieve", {"question": question, "project": PROJECT, "depth": "quick"}
    for id_ in every["chunks"]:
        yield "read_source", {"chunk_id": id_, "project": PROJECT}


@pytest.mark.timeout(300)
async def test_nothing_of_what_a_filter_hides_leaves_the_service(
    client: httpx2.AsyncClient,
) -> None:
    every, told = await ids(client, ALL), await ids(client, SOME)
    assert {*every["documents"]} == {*SHOWN, *HIDDEN}
    assert {*told["documents"]} == {*SHOWN}
    hidden = [id_ for kind in every for id_ in {*every[kind]} - {*told[kind]}]
    assert len(hidden) > len(HIDDEN)

    key, tried, leaks = {"x-api-key": SOME}, 0, []

    async def look(reply: httpx2.Response) -> None:
        nonlocal tried
        tried += 1
        said = reply.text + json.dumps(dict(reply.headers))
        if MARKS.search(said) or any(json.dumps(id_) in said for id_ in hidden):
            leaks.append((str(reply.request.url), reply.request.content, said[:2000]))

    for path, params in reads(every):
        await look(await client.get(path, params=params, headers=key))
    for path, body, accepted in questions():
        await look(await client.post(path, json=body, headers={**key, "accept": accepted}))
    accepted = "application/json, text/event-stream"
    for number, (name, arguments) in enumerate(tool_calls(every)):
        called = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": called}
        headers = {**key, "accept": accepted, "mcp-protocol-version": "2025-06-18"}
        await look(await client.post("/mcp", json=message, headers=headers))

    assert tried >= 300
    assert leaks == []


async def test_the_whole_key_finds_what_the_other_does_not(client: httpx2.AsyncClient) -> None:
    """So that the marks mean something."""
    body = {"query": QUESTIONS[1], "project_id": PROJECT, "depth": "quick", "include": INCLUDED}
    found = await client.post("/retrieve", json=body, headers={"x-api-key": ALL})
    assert MARKS.search(found.text)


async def test_what_is_hidden_looks_like_what_is_missing(client: httpx2.AsyncClient) -> None:
    every, told = await ids(client, ALL), await ids(client, SOME)
    hidden_ids = [(kind, id_) for kind in every for id_ in {*every[kind]} - {*told[kind]}]
    for kind, hidden in hidden_ids:
        replies = [
            await client.get(
                f"/{kind}/{quote(id_, safe='')}",
                params={"project_id": PROJECT},
                headers={"x-api-key": SOME},
            )
            for id_ in (hidden, "missing")
        ]
        one, other = ({**reply.json(), "retrieval_id": ""} for reply in replies)
        assert one == other
        assert replies[0].status_code == 404
