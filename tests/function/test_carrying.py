"""What a host may do to a request: pieces, chunks, and clients that leave.

The local host or the real worker library, buffered or as a stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from uuid import UUID, uuid4

import pytest

from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, assert_is_problem, calling
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


PIPELINED = "GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
OWN_ID = str(uuid4())


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
    [("", "application/json", "length"), (PIPELINED, "text/event-stream", "chunked")],
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
