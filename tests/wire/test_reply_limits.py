"""A model server that sends too much.

What it costs in memory, how often it is asked, and what is said.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.llm.caller import ModelCaller
from drift.llm.openai.client import ModelServer, build_client
from drift.llm.openai.embedder import OpenAIEmbedder
from drift.llm.retry import RetryPolicy
from drift.prompting import prompts
from tests.listening import listening
from tests.wire.openai_clients import chat_over

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
LIMIT = 4 * MIB
ENOUGH = 40 * MIB
"""What a call may take: the limit some times over, as it is read, joined and parsed; a tenth of the
smallest bomb."""
ATTEMPTS = 3
DIMENSIONS = 256
PROMPT = prompts.hypothesis("How are names resolved?")
OK = "200 OK"


@dataclass
class Flood:
    """Answers every request with a head and then these pieces, until the caller has had enough.

    `sent` is in bytes.
    """

    pieces: Callable[[], Iterable[bytes]]
    status: str = OK
    head: str = "content-type: application/json"
    end_of_head: str = "\r\n\r\n"
    requests: int = 0
    sent: list[int] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests += 1
        self.sent.append(0)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert length
        await reader.readexactly(int(length[1]))

        try:
            writer.write(f"HTTP/1.1 {self.status}\r\n{self.head}{self.end_of_head}".encode())
            for piece in self.pieces():
                writer.write(piece)
                await writer.drain()
                self.sent[-1] += len(piece)
            writer.close()
        except ConnectionError:
            return


LAST_BLOCK = b"\x03\x00"
"""Of a deflate stream: it ends it."""


@cache
def bomb(wbits: int) -> bytes:
    """Return 400 MiB of blanks in some 400 kB.

    Raw deflate, with the head of zlib or of gzip before it.
    """
    if wbits > 0:
        return zlib.compressobj(1, zlib.DEFLATED, wbits).flush()[
            : 10 if wbits > zlib.MAX_WBITS else 2
        ] + bomb(-15)
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    part = packer.compress(b" " * 4 * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    return part * 100 + LAST_BLOCK


def folded_twice() -> list[bytes]:
    """Return gzip in gzip: a few kilobytes, some 400, 400 MB."""
    return [gzip.compress(bomb(31))]


def chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
"""Of a deflate stream: it stands for nothing."""


def gzip_of_nothing() -> Iterator[bytes]:
    yield from chunked([gzip.compress(b"")[:10]])
    yield from chunked(repeat(EMPTY_BLOCK * 10_000))


JSON = "content-type: application/json"
CHUNKED = f"{JSON}\r\ntransfer-encoding: chunked"
FLOODS: dict[str, Flood] = {
    "a gzip bomb": Flood(lambda: [bomb(31)], head=f"{JSON}\r\ncontent-encoding: gzip"),
    "a deflate bomb": Flood(lambda: [bomb(-15)], head=f"{JSON}\r\ncontent-encoding: deflate"),
    "a bomb in a bomb": Flood(folded_twice, head=f"{JSON}\r\ncontent-encoding: gzip, gzip"),
    "a bomb in two headers": Flood(
        folded_twice, head=f"{JSON}\r\ncontent-encoding: gzip\r\ncontent-encoding: gzip"
    ),
    "gzip that never unfolds": Flood(gzip_of_nothing, head=f"{CHUNKED}\r\ncontent-encoding: gzip"),
    "an endless body in chunks": Flood(lambda: chunked(repeat(b"[" * 65536)), head=CHUNKED),
    "a gigabyte as announced": Flood(
        lambda: repeat(b" " * MIB, 1024), head=f"{JSON}\r\ncontent-length: {1024 * MIB}"
    ),
    "a page that is no JSON": Flood(lambda: repeat(b"<p>" * 65536), head="content-type: text/html"),
}  # fmt: skip


@asynccontextmanager
async def client_of(flood: Flood) -> AsyncIterator[Any]:
    flood.requests, flood.sent = 0, []
    async with (
        listening(flood.serve) as address,
        build_client(
            ModelServer(f"http://{address}", "canary-key", max_reply_bytes=LIMIT)
        ) as client,
    ):
        yield client


async def failing(client: Any, kind: str) -> DriftError:
    caller = ModelCaller(20.0, RetryPolicy(ATTEMPTS, 0.0))
    call = (
        chat_over(client, caller).complete(PROMPT, Deadline.after(60))
        if kind == "chat"
        else OpenAIEmbedder(client, "local", DIMENSIONS, None, caller).embed(
            ["a", "b"], Deadline.after(60)
        )
    )
    with pytest.raises(DriftError) as caught:
        await call
    return caught.value


@asynccontextmanager
async def in_little_memory() -> AsyncIterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < ENOUGH


@pytest.mark.parametrize(
    ("flood", "kind"),
    [*((name, "chat") for name in FLOODS), ("an endless body in chunks", "embeddings")],
)
async def test_more_than_the_limit_is_read_once_up_to_it_and_refused(flood: str, kind: str) -> None:
    sent = FLOODS[flood]
    async with client_of(sent) as client, in_little_memory():
        error = await failing(client, kind)

    assert isinstance(error, ModelMisconfiguredError)
    assert "longer than" in error.detail or "compressed more than once" in error.detail
    assert "OAI_BASE_URL" in error.detail
    assert sent.requests == 1
    assert sent.sent[0] < LIMIT + 8 * MIB  # beyond the limit there is what the sockets hold


STATUSES = {
    "500 Internal Server Error": (ModelUnavailableError, "HTTP 500", ATTEMPTS),
    "429 Too Many Requests": (ModelUnavailableError, "HTTP 429", ATTEMPTS),
    "401 Unauthorized": (ModelMisconfiguredError, "OAI_KEY", 1),
    "404 Not Found": (ModelMisconfiguredError, "HTTP 404", 1),
}


@pytest.mark.parametrize("status", STATUSES)
async def test_an_error_without_an_end_is_the_error_that_its_status_says(status: str) -> None:
    expected, says, requests = STATUSES[status]
    flood = Flood(lambda: chunked(repeat(b"x" * 65536)), status, CHUNKED)

    async with client_of(flood) as client, in_little_memory():
        error = await failing(client, "chat")

    assert isinstance(error, expected)
    assert says in error.detail
    assert flood.requests == requests
    assert max(flood.sent) < 8 * MIB


async def test_headers_without_an_end_are_given_up() -> None:
    flood = Flood(
        lambda: (b"x-%d: %b\r\n" % (n, b"y" * 1000) for n in range(10**9)), end_of_head="\r\n"
    )

    async with client_of(flood) as client, in_little_memory():
        error = await failing(client, "chat")

    assert isinstance(error, ModelUnavailableError)
    assert flood.requests == ATTEMPTS
    assert max(flood.sent) < 8 * MIB


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
async def test_a_reply_just_under_the_limit_is_read(encoding: str) -> None:
    text = "x" * (LIMIT - 1000)
    body = json.dumps(
        {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    ).encode()
    packed = {"": body, "gzip": gzip.compress(body), "deflate": zlib.compress(body)}[encoding]
    head = f"{JSON}\r\ncontent-length: {len(packed)}" + (
        f"\r\ncontent-encoding: {encoding}" if encoding else ""
    )

    async with client_of(Flood(lambda: [packed], head=head)) as client:
        chat = chat_over(client, ModelCaller(20.0))
        assert (await chat.complete(PROMPT, Deadline.after(60))).text == text


async def test_vectors_may_take_what_as_many_numbers_take_with_every_digit() -> None:
    vector = [-0.12345678901234567e-12] * DIMENSIONS
    data = [{"index": n, "embedding": vector} for n in range(2)]
    body = json.dumps({"data": data}, indent=2).encode()

    async with client_of(Flood(lambda: [body])) as client:
        embedder = OpenAIEmbedder(client, "local", DIMENSIONS, None, ModelCaller(20.0))
        assert len((await embedder.embed(["a", "b"], Deadline.after(60))).vectors) == 2
