"""Servers that give away what they are told.

The model's, Neo4j's and Redis' error texts, with the secrets in them.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.listening import listening
from tests.security.canaries import SECRETS

WORDS = SECRETS["words of a server"]
Serve = Callable[["Telltale", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Telltale:
    """Listens on loopback at `address`; `heard` is all that it was told."""

    status: int = 0
    address: str = ""
    heard: bytes = b""

    def repeated(self) -> str:
        """Return what it was told so far, on one line, and words of its own."""
        return f"{WORDS} {self.heard.decode('latin-1')}".translate(dict.fromkeys(range(32), " "))


@asynccontextmanager
async def telltale(serve: Serve, status: int = 0) -> AsyncIterator[Telltale]:
    """Have such a server while the block runs."""
    made = Telltale(status)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(made, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has what it wanted
        finally:
            writer.close()

    async with listening(connected) as made.address:
        yield made


async def model(told: Telltale, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request with an error that repeats it, in the body and in headers.

    Status 200 is no answer of the API.
    """
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line[15:])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    )
    told.heard += head + await reader.readexactly(length)
    key = next(
        (
            line[15:].decode()
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"authorization:")
        ),
        "",
    )
    error = {
        "message": f"Incorrect API key: {told.repeated()}",
        "type": key,
        "code": key,
        "param": WORDS,
    }
    body = json.dumps({"error": error}).encode()
    headers = [
        f"HTTP/1.1 {told.status} {WORDS}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        f"set-cookie: session={WORDS}",
        f"www-authenticate: Bearer realm={key.strip()}",
        f"x-request-id: {WORDS}",
        "connection: close",
    ]
    writer.write("\r\n".join([*headers, "", ""]).encode() + body)
    await writer.drain()


async def redis(told: Telltale, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every command with an error that repeats it."""
    while data := await reader.read(65536):
        told.heard += data
        commands = sum(line.startswith(b"*") for line in data.split(b"\r\n"))
        writer.write(f"-ERR {told.repeated()}\r\n".encode() * commands)


# ------------------------------------------------------------------------------------- Neo4j's Bolt
_HELLO, _LOGON, _RESET, _ROUTE = 0x01, 0x6A, 0x0F, 0x66
_ENDS = (0x02, 0x6B)  # GOODBYE, LOGOFF
_SUCCESS, _FAILURE, _IGNORED = 0x70, 0x7F, 0x7E


async def graph(told: Telltale, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Speak Bolt 5.4: refuse the login (status 401) or the first statement.

    The words of the refusal repeat what was said.
    """
    await reader.readexactly(20)  # the magic number and the versions that the driver offers
    writer.write(bytes((0, 0, 4, 5)))
    failed = False
    while True:
        message = await _message(reader)
        told.heard += message
        kind = message[1]
        if kind in _ENDS:
            return
        if kind == _RESET:
            failed = False
        if failed:
            writer.write(_chunk(bytes((0xB0, _IGNORED))))
        elif kind == _RESET:
            writer.write(_chunk(bytes((0xB1, _SUCCESS)) + _map({})))
        elif kind == _HELLO or (kind == _LOGON and told.status != 401):
            writer.write(
                _chunk(
                    bytes((0xB1, _SUCCESS))
                    + _map({"server": "Neo4j/5.26.0", "connection_id": "bolt-1"})
                )
            )
        else:
            failed = True
            refused = "Security.Unauthorized" if kind == _LOGON else "Statement.SyntaxError"
            error = {"code": f"Neo.ClientError.{refused}", "message": told.repeated()}
            writer.write(_chunk(bytes((0xB1, _FAILURE)) + _map(error)))


async def _message(reader: asyncio.StreamReader) -> bytes:
    message = b""
    while size := struct.unpack(">H", await reader.readexactly(2))[0]:
        message += await reader.readexactly(size)
    return message or await _message(reader)  # an empty one keeps the connection alive


def _chunk(message: bytes) -> bytes:
    return struct.pack(">H", len(message)) + message + b"\x00\x00"


def _map(values: dict[str, str]) -> bytes:
    """Pack a map of strings as PackStream does."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return b"\xd1" + struct.pack(">H", len(raw)) + raw

    return bytes((0xA0 + len(values),)) + b"".join(text(k) + text(v) for k, v in values.items())
