"""The objects of programs over one scripted service, and a server that answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from drift import Drift, DriftClient
from drift.client.methods import ServiceMethods
from drift.contracts.reading import DocumentOut
from drift.http.service import Service, WholeGraph
from drift.local.hosts.local_host import build_dispatcher, serving
from tests.fake_service import put_behind
from tests.fakes_nodes import FakeNodeFinder
from tests.fakes_reading import FakeReader, Held
from tests.listening import listening
from tests.unit.test_telemetry import searching

EVERYTHING = ("usage", "trace", "verdict", "locations", "references", "query")
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
Connect = Callable[[Service], Any]


def service(**settings: str) -> Service:
    """Return a service that answers by a script, with projects of three pages."""
    names = [f"d{n:03}.md" for n in range(450)]
    documents = {n: DocumentOut(id=n, name=n, source_uri=None, chunk_count=1) for n in names}
    made = searching(**settings)
    held = {f"p{n:03}": Held(documents=documents) for n in range(450)}
    made.graph = WholeGraph(FakeReader(held), FakeNodeFinder())
    return made


@asynccontextmanager
async def in_process(over: Service) -> AsyncIterator[ServiceMethods]:
    """Give the object that works in this process."""
    async with Drift(over.settings, build=lambda _: over) as drift:
        yield drift


@asynccontextmanager
async def over_http(over: Service) -> AsyncIterator[ServiceMethods]:
    """Give the object that works over HTTP, with a server."""
    dispatcher = build_dispatcher()
    put_behind(dispatcher, over)
    async with serving(dispatcher=dispatcher) as url, DriftClient(url) as drift:
        yield drift


def answered(body: bytes, head: bytes = JSON) -> bytes:
    """Return a whole answer with this body."""
    return (
        head
        + b"x-retrieval-id: 6f1f623a-eee2-4b44-ad5b-baef7032791b\r\nconnection: close\r\n"
        + (b"content-length: %d\r\n\r\n" % len(body) + body)
    )


@asynccontextmanager
async def replying(*replies: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Serve one connection after the other with these bytes, then cut it; the last one stays.

    Gives the address, and what was sent to it.
    """
    asked: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        asked.append(head + await reader.readexactly(int(length or 0)))
        writer.write(replies[min(len(asked), len(replies)) - 1])
        await writer.drain()
        writer.close()

    async with listening(connected) as address:
        yield f"http://{address}", asked
