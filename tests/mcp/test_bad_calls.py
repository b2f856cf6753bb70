"""Calls that are wrong, too large, repeated or left: each gets an error of its own protocol."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client, MCPError

from drift.auth.caller import Caller, Grant
from drift.auth.project_keys import hash_of
from drift.core.deadline import Deadline
from drift.http.service import Service, WholeGraph
from drift.http.settings import load
from drift.integrations.mcp_server import Asker, build_server
from drift.model.calls import Embeddings
from drift.model.graph import PrimerEvidence
from tests.fake_service import LOCAL, fake_service
from tests.fakes import HashingEmbedder, StubGraph, ports
from tests.fakes_nodes import FakeNodeFinder
from tests.fakes_reading import FakeReader
from tests.mcp.calling import ERAS, LEGACY, connected, message, reply, tool
from tests.mcp.conftest import Serve
from tests.security.hostile_documents import HOSTILE, evidence_of
from tests.security.raw_http import Answer, call, request
from tests.security.raw_http import connected as socket_to

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "canary-of-an-exception"
KEYS = {"mine": ["mine"], "yours": ["yours"]}
BY_KEY = {
    "AUTH_MODE": "keys",
    "PROJECT_KEYS": json.dumps(
        [
            {"name": name, "sha256": hash_of(name.encode()), "projects": projects}
            for name, projects in KEYS.items()
        ]
    ),
}


class Patient(HashingEmbedder):
    """An embedder that answers when it may, and counts the calls that were cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()
        self.cancelled = 0

    async def embed(self, texts: Any, deadline: Deadline) -> Embeddings:
        self.asked.set()
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return await super().embed(texts, deadline)


def reading(reader: FakeReader) -> Service:
    """Return a service that reads from this."""
    whole, graph = WholeGraph(reader, FakeNodeFinder()), StubGraph(PrimerEvidence())
    return Service(load(LOCAL), ports(graph, object()), whole)


def waiting(embedder: Patient, **settings: object) -> Service:
    return fake_service(ports(StubGraph(PrimerEvidence()), object(), embedder), **settings)


async def post(url: str, sent: tuple[dict[str, str], bytes], **headers: str) -> Answer:
    given, body = sent
    return await call(url, "POST", "/mcp", {**given, **headers}, body)


def said(answer: Answer) -> str:
    """Return the words of a tool's error."""
    result = reply(answer)["result"]
    assert result["isError"] is True
    (text,) = result["content"]
    return str(text["text"])


# ----------------------------------------------------------------------------------- before MCP
@pytest.mark.parametrize("era", ERAS)
async def test_a_large_message_is_refused_before_it_is_read(
    url: str, serve: Serve, era: str
) -> None:
    serve(reading(FakeReader()))
    answer = await post(url, tool("retrieve", era, question="x" * 2**16))
    assert (answer.status, answer.json()["code"]) == (413, "too_large")
    assert ("content-type", "application/problem+json") in answer.headers

    async with connected(url, era) as client:
        with pytest.raises(MCPError):
            await client.call_tool("search", {"question": "x" * 2**20, "project": "p"})
        assert not (await client.call_tool("list_projects", {})).is_error


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_nothing_is_kept_open_or_ended(url: str, serve: Serve, method: str) -> None:
    serve(reading(FakeReader()))
    answer = await call(url, method, "/mcp", {"accept": "text/event-stream"})
    assert (answer.status, ("allow", "POST") in answer.headers) == (405, True)


WORDS_OF_OTHERS = re.compile(b"Traceback|pydantic|Input should|validation error")
NO_MESSAGES = (b"", b"{", b"[]", b"1", b'{"id": 1}', b"\xff", b"[" * 60_000, b'"\\ud800"')


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_no_message_is_said_to_be_none(url: str, serve: Serve, era: str) -> None:
    serve(reading(FakeReader()))
    headers, _ = message("tools/list", {}, era)
    for body in NO_MESSAGES:
        answer = await call(url, "POST", "/mcp", headers, body)
        assert answer.status == 400, body[:20]
        assert reply(answer)["error"]["code"] in {-32700, -32600, -32602}, body[:20]
        assert not WORDS_OF_OTHERS.search(answer.body), body[:20]

    for wrong in (
        message("tools/call", {"name": 1, "arguments": []}, era),
        message("resources/read", {"uri": {}}, era),
    ):
        assert not WORDS_OF_OTHERS.search((await post(url, wrong)).body)


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_method_is_told(url: str, serve: Serve, era: str) -> None:
    serve(reading(FakeReader()))
    answer = await post(url, message("tools/write", {}, era))
    assert reply(answer)["error"]["code"] == -32601


# --------------------------------------------------------------------------------- wrong arguments
HALF = "half a character"
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no question": ("retrieve", {}, "question"),
    "an empty question": ("retrieve", {"question": ""}, "question"),
    "blanks": ("retrieve", {"question": " \n", "project": "p"}, "question"),
    "a long question": ("search", {"question": "x" * 4001, "project": "p"}, "question"),
    "NUL": ("search", {"question": "a\x00b", "project": "p"}, "must not contain NUL"),
    HALF: ("search", {"question": "\ud800", "project": "p"}, "question"),
    "no JSON": ("search", {"question": "q", "project": "p", "filter": "{"}, "filter must be a"),
    "a key that is none": (
        "retrieve",
        {"question": "q", "project": "p", "filter": '{"type": "eq", "key": "of", "value": "x"}'},
        "filter must have a known `key`",
    ),
    "a number": ("search", {"question": 1, "project": "p"}, "question"),
    "an unknown depth": ("retrieve", {"question": "q", "depth": "deep"}, "'quick' or 'auto'"),
    "a history of text": ("retrieve", {"question": "q", "history": ["x"]}, "history.0"),
    "a system message": (
        "retrieve",
        {"question": "q", "history": [{"role": "system", "content": "x"}]},
        "history.0.role must be user or assistant, not 'system'",
    ),
    "another name": ("retrieve", {"question": "q", "project_id": "p"}, "project_id"),
    "no project": ("search", {"question": "q"}, "list_projects tells"),
    "a project of NUL": ("search", {"question": "q", "project": "\x00"}, "must not contain NUL"),
    "a long project": ("search", {"question": "q", "project": "p" * 129}, "project"),
    "many passages": ("search", {"question": "q", "project": "p", "top_k": 51}, "top_k"),
    "no id": ("read_source", {"chunk_id": "", "project": "p"}, "chunk_id"),
    "an id of NUL": ("read_source", {"chunk_id": "\x00", "project": "p"}, "chunk_id"),
    "an unknown tool": ("delete_project", {"project": "p"}, "Unknown tool"),
}


@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_argument_is_named(url: str, serve: Serve, era: str) -> None:
    serve(reading(FakeReader()))
    for case, (name, arguments, words) in WRONG.items():
        if (case, era) != (HALF, LEGACY):  # its parser refuses the message
            told = said(await post(url, tool(name, era, **arguments)))
            assert words in told, case
            assert not WORDS_OF_OTHERS.search(told.encode()), case


@pytest.mark.parametrize("era", ERAS)
async def test_null_is_absent_and_an_unknown_argument_is_ignored(
    url: str, serve: Serve, era: str
) -> None:
    serve(fake_service(ports(StubGraph(PrimerEvidence()), object())), **BY_KEY)
    more = {"toolCallId": "call_1", "project": None, "top_k": None, "_meta": {}}
    mine = {"x-api-key": "mine"}
    found = await post(url, tool("search", era, question="q", **more), **mine)
    assert reply(found)["result"]["structuredContent"] == {"passages": []}
    nothing = said(await post(url, tool("search", era, question=None, **more), **mine))
    assert "question is required" in nothing
    assert "ignored: _meta, toolCallId." in nothing


# ---------------------------------------------------------------------------------------- failures
@pytest.mark.parametrize("era", ERAS)
async def test_nothing_of_an_inner_error_leaks(
    url: str, serve: Serve, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    reader = FakeReader()
    reader.failure = RuntimeError(CANARY)
    serve(reading(reader))
    calls = {"read_source": {"chunk_id": "k", "project": "p"}, "list_projects": {}}
    for name, arguments in calls.items():
        answer = await post(url, tool(name, era, **arguments))
        assert "An internal error ended the request" in said(answer)
        assert CANARY.encode() not in answer.raw
    uri = "drift://p/documents/d"
    read = message("resources/read", {"uri": uri}, era)
    resource = await post(url, read, **{"mcp-name": uri})
    assert CANARY.encode() not in resource.raw
    assert reply(resource)["error"]["code"] == -32603
    assert "request_crashed" in caplog.text
    assert CANARY not in caplog.text


async def test_admission_and_quotas_are_those_of_the_routes(url: str, serve: Serve) -> None:
    embedder = Patient()
    serve(waiting(embedder, MAX_INFLIGHT=1))
    first = asyncio.create_task(post(url, tool("search", question="q", project="p")))
    await embedder.asked.wait()
    assert "try again later" in said(await post(url, tool("search", question="q", project="p")))
    embedder.may.set()
    assert reply(await first)["result"]["structuredContent"] == {"passages": []}


async def test_a_quota_is_counted_over_tools_and_routes(url: str, serve: Serve) -> None:
    keys = json.loads(BY_KEY["PROJECT_KEYS"])
    keys[0]["requests_per_minute"] = 2
    serve(reading(FakeReader()), AUTH_MODE="keys", PROJECT_KEYS=json.dumps(keys))
    mine = {"x-api-key": "mine"}
    first = reply(await post(url, tool("list_projects"), **mine))["result"]
    assert first["structuredContent"] == {"projects": [], "further": [], "more": False}
    assert (await call(url, "GET", "/projects", mine)).status == 200
    assert "2 requests per minute" in said(await post(url, tool("list_projects"), **mine))
    assert reply(await post(url, message("tools/list", {}), **mine))["result"]["tools"]


# ----------------------------------------------------------------------------------- clients
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_ends_the_work(url: str, serve: Serve, era: str) -> None:
    embedder = Patient()
    service = waiting(embedder)
    serve(service)
    headers, body = tool("search", era, question="q", project="p")
    async with socket_to(url) as (_, writer):
        writer.write(request("POST", "/mcp", headers, body))
        await embedder.asked.wait()
        assert service.admission.in_flight == 1
    while service.admission.in_flight or not embedder.cancelled:  # noqa: ASYNC110 - the test's time limit ends it
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("era", ERAS)
async def test_the_same_call_twice_is_answered_twice(url: str, serve: Serve, era: str) -> None:
    embedder = Patient()
    serve(waiting(embedder))
    sent = tool("search", era, question="q", project="p")
    both = [asyncio.create_task(post(url, sent)) for _ in range(2)]
    await embedder.asked.wait()
    embedder.may.set()
    for one in await asyncio.gather(*both):
        assert reply(one)["result"]["structuredContent"] == {"passages": []}


# ------------------------------------------------------------------------------------ other tenants
@pytest.mark.parametrize("era", ERAS)
async def test_a_key_of_others_opens_nothing(url: str, serve: Serve, era: str) -> None:
    serve(reading(FakeReader()), **BY_KEY)
    for headers in ({}, {"x-api-key": "wrong"}):
        answer = await post(url, tool("list_projects", era), **headers)
        assert (answer.status, answer.json()["code"]) == (401, "unauthenticated")
        assert dict(answer.headers)["www-authenticate"] == "Bearer"

    async with connected(url, era, **{"x-api-key": "yours"}) as client:
        for name, arguments in {
            "retrieve": {"question": "q"},
            "search": {"question": "q"},
            "read_source": {"chunk_id": "k"},
        }.items():
            refused = await client.call_tool(name, {**arguments, "project": "mine"})
            assert refused.is_error
            assert "no read right on this project" in refused.content[0].text
        with pytest.raises(MCPError, match="no read right on this project"):
            await client.read_resource("drift://mine/documents/d")


async def test_over_stdio_the_process_says_who_calls() -> None:
    """As `drift mcp --project mine` has it, without the process: see `test_stdio`."""
    mine = Caller("stdio", (Grant("mine", frozenset({"read"})),))
    service = fake_service(ports(StubGraph(PrimerEvidence()), object()))
    async with Client(build_server(lambda _: Asker(mine, service, str(uuid4())))) as client:
        found = await client.call_tool("search", {"question": "q"})
        assert found.structured_content == {"passages": []}
        refused = await client.call_tool("search", {"question": "q", "project": "yours"})
        assert refused.is_error


# ------------------------------------------------------------------------------- hostile documents
async def test_a_passage_of_orders_stays_a_value_in_one_document(url: str, serve: Serve) -> None:
    for (case, text), era in product(HOSTILE.items(), ERAS):
        serve(fake_service(ports(StubGraph(PrimerEvidence(), evidence_of(text)), object())))
        result = reply(await post(url, tool("search", era, question="q", project="p")))["result"]
        (block,) = result["content"]
        assert block["type"] == "text", case
        assert json.loads(block["text"]) == result["structuredContent"], case
        told = [one["text"] for one in result["structuredContent"]["passages"]]
        assert told == [text.replace("\f", "\n")] * 2, case
