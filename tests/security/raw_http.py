"""HTTP over a bare socket.

The bytes that are sent are the test's, those that come back are kept, and nothing is logged.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

JSON = {"content-type": "application/json"}
STREAM = {**JSON, "accept": "text/event-stream"}


@dataclass(frozen=True)
class Answer:
    """A whole answer: its bytes as they came, and what they mean."""

    raw: bytes
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def json(self) -> Any:
        """Return the document of the body."""
        return json.loads(self.body)


class _Received:
    """What http.client wants of a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def read(raw: bytes) -> Answer:
    """Read an answer; raises for what is no HTTP."""
    response = http.client.HTTPResponse(_Received(raw))
    response.begin()
    return Answer(
        raw, response.status, [(n.lower(), v) for n, v in response.getheaders()], response.read()
    )


def request(method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request's bytes; the connection ends with the answer."""
    own = {"host": "localhost", "connection": "close", "content-length": str(len(body)), **headers}
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *(f"{n}: {v}" for n, v in own.items())])
    return head.encode("latin-1") + b"\r\n\r\n" + body


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Give a connection to the server."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)  # an aborted connection is closed by the loop's next step


async def call(
    url: str, method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> Answer:
    """Send one request; return its answer."""
    async with connected(url) as (reader, writer):
        writer.write(request(method, target, headers or {}, body))
        return read(await reader.read())


def events(body: bytes) -> list[tuple[str, str]]:
    """Return the events of a stream as the WHATWG's parser reads them.

    Name and data, comments and ids apart.
    """
    found: list[tuple[str, str]] = []
    name, data = "message", []
    text = body.decode().replace("\r\n", "\n").replace("\r", "\n")
    for line in text.split("\n"):
        if not line:
            if data:
                found.append((name, "\n".join(data)))
            name, data = "message", []
            continue
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            name = value
        elif key == "data":
            data.append(value)
    return found
