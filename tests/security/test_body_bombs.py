"""Bodies made to cost more than they weigh.

Each is answered 4xx as the contract says, in little memory, and the next call works.

The problems of a body of the wrong shape are in tests/unit/test_http.py; here are those that aim at
the reader itself.
"""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio

from drift.contracts.request import MAX_QUESTION_BYTES, RetrieveRequest
from drift.core.errors import InvalidRequestError
from drift.http import http
from drift.http.dispatcher import Dispatcher
from drift.http.service import Service
from drift.local.hosts.local_host import serving
from drift.model.graph import Evidence, PrimerEvidence
from tests.fake_service import fake_service
from tests.fakes import ScriptedChat, StubGraph, chunk, community, ports
from tests.function.calling import PROBLEM_FIELDS
from tests.runtime.worker_process import KEY, NEEDS_PYTHON_313, REASON, WorkerHost, worker_host
from tests.security.raw_http import JSON, Answer, call, connected, read, request
from tests.unit.searching import script

GOOD = {"query": "Who is asked?", "project_id": "harbour"}
ROOM = MAX_QUESTION_BYTES - 200


def good(**fields: Any) -> bytes:
    """Return a good body with these fields besides."""
    return json.dumps({**GOOD, **fields}).encode()


def beside(field: bytes) -> bytes:
    """Return a good body with this text as one more field."""
    return json.dumps(GOOD).encode()[:-1] + b", " + field + b"}"


def filled(begin: bytes, piece: bytes, end: bytes) -> bytes:
    """Return a body that repeats a piece as often as 128 KiB allow."""
    return begin + piece * ((ROOM - len(begin) - len(end)) // len(piece)) + end


DIGITS = b"9" * 60_000
INCLUDING = b'{"query": "q", "project_id": "p", "include": ['
TALKING, SAID = b'{"query": "q", "history": [', b'{"role": "user", "content": ""}'
BOMBS: Mapping[str, bytes] = {
    "130,000 brackets that open": b"[" * 130_000,
    "brackets in a field": filled(b'{"query": ', b"[", b""),
    "brackets as deep as they are read": beside(b'"include": ' + b"[" * 150 + b"]" * 150),
    "1e400": beside(b'"top_k": 1e400'),
    "an integer of 60,000 digits": beside(b'"top_k": ' + DIGITS),
    "128 KiB of half pairs": filled(b'{"project_id": "p", "query": "', b"\\ud800", b'"}'),
    "very many fields": b"{" + b", ".join(b'"k%d": 1' % n for n in range(9000)) + b"}",
    "very many wrong values": filled(INCLUDING, b'"x",', b'"x"]}'),
    "very many messages": filled(TALKING, SAID + b",", SAID + b"]}"),
    "one name very many times": filled(
        b'{"query": "q", ', b'"project_id": "p",', b'"project_id": "p"}'
    ),
    "the project twice, once in escapes": (
        b'{"query": "q", "project_id": "mine", "project\\u005fid": "yours"}'
    ),
    "128 KiB of bytes that are no text": b"\xff" * ROOM,
    "a bomb in gzip": gzip.compress(b" " * 10_000_000 + good()),
}  # fmt: skip
assert all(len(body) <= MAX_QUESTION_BYTES for body in BOMBS.values())
every_bomb = pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)

MAX_BYTES = 8_000
"""Of an answer to a body of 128 KiB."""
MAX_MEMORY = 24 * 1024 * 1024
"""Python's own while 128 KiB are read; the costliest bodies are lists of small values."""


MAX_PIECES = 1_000
"""Of 64 KiB each; some of them fill the buffers of the network before the connection is closed."""


def assert_refused(
    answer: Answer, status: int = 400, code: str = "invalid_request"
) -> dict[str, Any]:
    """Check that this is the contract's own error, and a short one."""
    document: dict[str, Any] = answer.json()
    assert (answer.status, document["status"], document["code"]) == (status, status, code)
    assert dict(answer.headers)["content-type"] == "application/problem+json"
    assert set(document) == PROBLEM_FIELDS | ({"errors"} if status == 400 else set())
    assert len(answer.raw) < MAX_BYTES
    return document


# --------------------------------------------------------------------------------------- the reader
@every_bomb
def test_a_bomb_is_refused_in_little_memory(body: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRequestError) as caught:
            http.parse(body, RetrieveRequest)
        document = http.problem_body(caught.value, "r")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MAX_MEMORY
    assert len(document) < MAX_BYTES


def test_a_name_given_twice_is_named() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        http.parse(BOMBS["the project twice, once in escapes"], RetrieveRequest)
    assert [(p.field, p.message) for p in caught.value.problems] == [
        ("project_id", "is given twice")
    ]


def test_as_many_problems_are_named_as_a_person_can_read() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        http.parse(BOMBS["very many fields"], RetrieveRequest)
    names = [p.field for p in caught.value.problems]
    assert names[:3] == ["query", "k0", "k1"]
    assert len(names) == http.MAX_PROBLEMS
    with pytest.raises(InvalidRequestError) as caught:
        http.parse(beside(b'"' + b"n" * 5000 + b'": 1'), RetrieveRequest)
    assert [p.field for p in caught.value.problems] == ["n" * http.MAX_NAME_CHARACTERS + "…"]


# --------------------------------------------------------------------------------------- both hosts
@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerHost]:
    """The real worker, without any setting: a bad body is refused before one is read."""
    with worker_host({}) as host:
        yield host


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def local(dispatcher: Dispatcher) -> AsyncIterator[str]:
    """The local host."""
    async with serving(dispatcher=dispatcher) as url:
        yield url


@pytest.fixture(
    params=[
        "local",
        pytest.param(
            "worker", marks=[pytest.mark.slow, pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)]
        ),
    ]
)
def url(request: pytest.FixtureRequest, behind_the_routes: Callable[[Service], None]) -> str:
    """The function on each host in turn; on the local one its requests can be answered."""
    found = PrimerEvidence((community(7, chunk("s1")),))
    graph = StubGraph(found, Evidence((chunk("k"),)))
    behind_the_routes(fake_service(ports(graph, ScriptedChat(script()))))
    host = request.getfixturevalue(request.param)
    return host.url if isinstance(host, WorkerHost) else str(host)


in_one_loop = pytest.mark.asyncio(loop_scope="module")
ENTRY = {**JSON, "x-functions-key": KEY}


async def assert_next_works(url: str) -> None:
    """Check that a good request is answered.

    A worker without settings refuses it for that reason alone.
    """
    answer = await call(url, "POST", "/retrieve", ENTRY, good())
    assert answer.status == 200 or answer.json()["code"] == "not_configured"


@in_one_loop
async def test_every_bomb_is_answered_in_the_contracts_words_and_the_next_request_works(
    url: str,
) -> None:
    for body in BOMBS.values():
        document = assert_refused(await call(url, "POST", "/retrieve", ENTRY, body))
        assert all(set(error) == {"field", "message"} for error in document["errors"])
    await assert_next_works(url)


@in_one_loop
async def test_a_body_in_gzip_is_not_unpacked_whatever_its_headers_say(url: str) -> None:
    for coding in ("gzip", "deflate", "br", "gzip, gzip"):
        headers = ENTRY | {"content-encoding": coding}
        assert_refused(
            await call(url, "POST", "/retrieve", headers, gzip.compress(b" " * 10_000_000 + good()))
        )
    await assert_next_works(url)


# ----------------------------------------------------------------------------- lengths that are not
CHUNKED = request("POST", "/retrieve", {**ENTRY, "transfer-encoding": "chunked"}).replace(
    b"content-length: 0\r\n", b""
)
PIECE = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


@in_one_loop
async def test_a_body_without_end_is_refused_as_soon_as_it_is_over_the_limit(url: str) -> None:
    async with connected(url) as (reader, writer):
        writer.write(CHUNKED + PIECE * 2 + b"1\r\n \r\n")
        assert_refused(read(await reader.read()), 413, "too_large")
    await assert_next_works(url)


@in_one_loop
async def test_a_body_without_end_is_not_taken(url: str) -> None:
    taken = 0
    async with connected(url) as (_, writer):
        writer.write(CHUNKED)
        with suppress(ConnectionError):
            while taken < MAX_PIECES:
                writer.write(PIECE)
                await writer.drain()
                taken += 1
    assert taken < MAX_PIECES
    await assert_next_works(url)


@in_one_loop
@pytest.mark.parametrize("length", [str(MAX_QUESTION_BYTES + 1), "9" * 18])
async def test_a_length_over_the_limit_is_refused_before_a_byte_of_the_body_comes(
    url: str, length: str
) -> None:
    async with connected(url) as (reader, writer):
        writer.write(request("POST", "/retrieve", {**ENTRY, "content-length": length}))
        assert_refused(read(await reader.read()), 413, "too_large")
    await assert_next_works(url)
