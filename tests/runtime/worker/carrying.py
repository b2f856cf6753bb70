"""Bytes of a request carried to the worker's own port, and its answer back."""

from __future__ import annotations

import asyncio
import contextlib
from http import HTTPStatus
from urllib.parse import urlsplit

from drift.http.http import declared_length

BLOCK_BYTES = 65536


def answer(writer: asyncio.StreamWriter, status: HTTPStatus, body: bytes = b"") -> None:
    """Answer in the host's own name."""
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the worker's port, which opens a moment after it is announced."""
    parts = urlsplit(url)
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(parts.hostname, parts.port)
            await asyncio.sleep(0.01)


async def carried_up(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Hand on the body that the head declares, then wait until the client hangs up.

    A next request is not carried: what follows the body is read and dropped.
    """
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if line)
    if headers.get("transfer-encoding", "").lower().endswith("chunked"):
        await piped_chunks(reader, writer)
    else:
        left = declared_length(headers)  # what is no length, the worker's own server refuses
        while left and (data := await reader.read(min(left, BLOCK_BYTES))):
            left -= len(data)
            writer.write(data)
            await writer.drain()
    while await reader.read(BLOCK_BYTES):
        pass


async def piped_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on a chunked body to its end."""
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:  # the worker's own server refuses it
            writer.write(line)
            return
        writer.write(line + (await reader.readexactly(size + 2) if size else b""))
        await writer.drain()
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        writer.write(line)
    writer.write(line)
    await writer.drain()


async def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on bytes until there are no more."""
    while data := await reader.read(BLOCK_BYTES):
        writer.write(data)
        await writer.drain()
