"""One contract, whichever host carries the request.

The local host or the real worker library, buffered or as a stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from drift.contracts.request import MAX_BODY_BYTES
from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import PROBLEM_FIELDS, Caller, assert_is_problem, calling
from tests.function.corpus import PROJECT, QUESTION, Corpus
from tests.model_server_fixture import ModelServerControl
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON, WorkerHost, worker_host

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SLOTS = 2
LIMITS = {"MAX_INFLIGHT": str(SLOTS), "MAX_FOLLOWUPS": "1"}
STREAM = {"accept": "text/event-stream"}
ASKING = {"query": QUESTION, "project_id": PROJECT}
needs_the_worker = pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)


@pytest.fixture(scope="module")
def worker(base_settings: dict[str, str], valkey: ValkeyServer) -> Iterator[WorkerHost]:
    """The function in the real worker, with working servers behind it.

    Its one process answers all of these tests, so it keeps no embedding.
    """
    ours = {"REDIS_URL": valkey.url, "CACHE": "off"}
    with worker_host({**base_settings, **LIMITS, **ours}) as host:
        yield host


@pytest.fixture
async def through(
    worker: WorkerHost,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    """A client of the function in the worker: what the local host does of it is tested beside."""
    async with worker.client() as client:
        yield Caller(client)


@pytest.fixture(params=["local", pytest.param("worker", marks=needs_the_worker)])
async def hosted(
    request: pytest.FixtureRequest,
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    """A client of the function on one of the hosts."""
    if request.param == "worker":
        async with request.getfixturevalue("worker").client() as client:
            yield Caller(client)
        return
    for name, value in LIMITS.items():
        environment.setenv(name, value)
    async with serving() as url, calling(url) as caller:
        yield caller


async def outcome(hosted: Caller, way: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Ask, and return what a question comes to, which must not depend on the way.

    `result` or `error`, and the document.
    """
    if way == "stream":
        async with hosted.streaming(**fields) as events:
            assert events.response.status_code == 200
            received = await events.all()
        names = {name for name, _ in received[:-1]}
        assert names <= {"progress", "answer_delta", "citations"}
        return received[-1]
    response = await hosted.ask(**fields)
    name = "result" if response.status_code == 200 else "error"
    return name, response.json()


PIPELINED = "GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
OWN_ID = str(uuid4())
CASES: dict[str, dict[str, Any]] = {
    "an answer": {},
    "a project without data": {"project_id": "unknown"},
    "beyond ASCII": {"query": "Wann fährt das Schiff „Möwe“ zur 港口 🛳?"},
    "a server that refuses us": {"retrieval_id": OWN_ID},
}


# --------------------------------------------------------------------------------- what is answered
@needs_the_worker
async def test_both_hosts_say_the_same_both_ways(
    worker: WorkerHost,
    environment: pytest.MonkeyPatch,
    corpus: Corpus,
    model_server: ModelServerControl,
) -> None:
    refuses = {"fault": "status", "status": 401, "kind": "aggregate_reply", "times": None}
    for name, value in LIMITS.items():
        environment.setenv(name, value)
    said: dict[str, tuple[str, dict[str, Any]]] = {}
    async with worker.client() as client, serving() as url, calling(url) as local:
        for case, fields in CASES.items():
            model_server.reset()
            if "retrieval_id" in fields:
                model_server.fail(refuses)
            outcomes = [
                await outcome(host, way, **fields)
                for host in (local, Caller(client))
                for way in ("buffered", "stream")
            ]
            assert outcomes == [outcomes[0]] * 4, case
            said[case] = outcomes[0]
            if question := fields.get("query"):
                sent = json.dumps([one["body"] for one in model_server.requests()])
                assert sent.count(json.dumps(question)[1:-1]) >= 4

    name, document = said["an answer"]
    assert (name, set(document)) == (
        "result",
        {"final_answer", "key_facts", "residual_uncertainty"},
    )
    assert document["key_facts"]
    assert all(corpus.holds(c["span"]) for fact in document["key_facts"] for c in fact["citations"])
    name, document = said["a project without data"]
    assert (name, document["no_data_found"], document["key_facts"]) == ("result", True, [])
    assert said["beyond ASCII"][0] == "result"
    name, problem = said["a server that refuses us"]
    assert (name, set(problem)) == ("error", PROBLEM_FIELDS)
    assert (problem["status"], problem["code"], problem["retrieval_id"]) == (
        500,
        "model_misconfigured",
        OWN_ID,
    )


# -------------------------------------------------------------------------------- how it is carried
@needs_the_worker
async def test_the_worker_carries_an_answer_and_a_stream_piece_by_piece(through: Caller) -> None:
    given, made = await through.ask(retrieval_id=OWN_ID), await through.ask(project_id="unknown")
    assert given.headers["x-retrieval-id"] == OWN_ID
    assert UUID(made.headers["x-retrieval-id"])
    assert given.headers["content-type"] == "application/json"

    async with through.client.stream("POST", "/retrieve", json=ASKING, headers=STREAM) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        pieces = [piece async for piece in response.aiter_raw()]
    assert pieces[0].startswith(b": open\n\n")
    assert len(pieces) >= 3
    assert b"".join(pieces).endswith(b"\n\n")


@needs_the_worker
async def test_the_first_event_comes_while_the_search_still_runs(
    through: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": None})
    async with through.streaming() as events:
        async for name, message in events:
            assert (name, message["phase"]) == ("progress", "initializing")
            await model_server.until(lambda seen: seen["in_flight"] == 1)
            break
    await model_server.until(lambda seen: seen["abandoned"] == 1)


async def test_a_body_in_chunks_is_read_whole(hosted: Caller) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b'{"query": "Who is asked?", '
        yield b'"project_id": "unknown"}'

    response = await hosted.client.post(
        "/retrieve", content=parts(), headers={"content-type": "application/json"}
    )
    assert response.json()["no_data_found"] is True


async def test_a_bad_request_is_refused_before_the_first_byte_of_either_way(hosted: Caller) -> None:
    for body, content_type, status, code in (
        (b"\xff\xfe", "application/json", 400, "invalid_request"),
        (b" " * (MAX_BODY_BYTES + 1), "application/json", 413, "too_large"),
        (b"{}", "text/plain", 415, "unsupported_media_type"),
    ):
        for accept in ({}, STREAM):
            # A server that has not read all of a body ends the connection: none is used again.
            headers = {"content-type": content_type, "connection": "close", **accept}
            assert_is_problem(await _posted(hosted, body, headers), status, code)


async def _posted(hosted: Caller, body: bytes, headers: dict[str, str]) -> httpx2.Response:
    """Post, again where the connection ended while the body was still being sent.

    TCP may then drop the answer that was on its way (RFC 9112, section 9.6).
    """
    for _ in range(4):
        with suppress(httpx2.RemoteProtocolError, httpx2.WriteError, httpx2.ReadError):
            return await hosted.client.post("/retrieve", content=body, headers=headers)
    return await hosted.client.post("/retrieve", content=body, headers=headers)


async def test_a_wrong_method_or_route_is_refused_and_health_is_served(hosted: Caller) -> None:
    # the platform says 404 to a method that no function has
    assert (await hosted.client.get("/retrieve")).status_code in {404, 405}
    assert (await hosted.client.get("/docs")).status_code == 404
    live = await hosted.client.get("/health/live")
    assert (live.status_code, live.content) == (200, b"")
    assert (await hosted.client.get("/health/ready")).json()["status"] == "ready"
    assert (await hosted.client.get("/health/neo4j")).json()["status"] == "healthy"
    assert "/retrieve" in (await hosted.client.get("/openapi.yaml")).json()["paths"]


# ------------------------------------------------------------------------------------ who may enter
@needs_the_worker
async def test_one_more_than_the_slots_is_busy_and_whoever_leaves_frees_one(
    through: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": SLOTS})
    asked = [asyncio.create_task(through.ask()) for _ in range(SLOTS)]
    await model_server.until(lambda seen: seen["in_flight"] == SLOTS)
    assert_is_problem(await through.ask(), 429, "busy")
    assert_is_problem(
        await through.client.post("/retrieve", json=ASKING, headers=STREAM), 429, "busy"
    )
    for task in asked:
        task.cancel()
    await model_server.until(lambda seen: seen["abandoned"] == SLOTS)
    while (response := await through.ask(project_id="unknown")).status_code == 429:  # noqa: ASYNC110 - only asking shows it
        await asyncio.sleep(0.01)
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("ahead", "accept", "framing"),
    [
        ("", "application/json", "length"),
        (PIPELINED, "text/event-stream", "chunked"),
    ],
)
async def test_who_leaves_frees_a_slot_however_the_request_was_sent(
    hosted: Caller, model_server: ModelServerControl, ahead: str, accept: str, framing: str
) -> None:
    model_server.fail({"fault": "hang", "kind": "hypothesis", "times": 1})
    url, body = hosted.client.base_url, json.dumps(ASKING)
    length = f"content-length: {len(body)}" if framing == "length" else "transfer-encoding: chunked"
    key = f"x-functions-key: {hosted.client.headers.get('x-functions-key', '')}"
    head = [
        "POST /retrieve HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"accept: {accept}",
        key,
    ]
    sent = body if framing == "length" else f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    _, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(("\r\n".join([*head, length, "", ""]) + sent + ahead).encode())
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    writer.close()
    await model_server.until(lambda seen: seen["abandoned"] == 1)


async def test_a_stream_that_is_refused_by_its_weight_is_json(hosted: Caller) -> None:
    for accept in (
        [("accept", "text/event-stream;q=0")],
        [("accept", "text/event-stream;q=0.1"), ("accept", "*/*")],
    ):
        body = {**ASKING, "project_id": "unknown"}
        response = await hosted.client.post("/retrieve", json=body, headers=accept)
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
