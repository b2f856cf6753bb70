"""Traps in a server's place: what a wrong address or a broken network looks like from outside."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tests.listening import listening

TOKEN = {
    "access_token": "canary-token",
    "expires_on": "4102444800",
    "resource": "r",
    "token_type": "Bearer",
}


@dataclass
class Trap:
    """Listens on loopback; `requests` counts the connections, each of which is one request."""

    how: str
    address: str = ""
    requests: int = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests += 1
        await reader.read(65536)
        if self.how == "silent":
            return
        if self.how == "resetting":
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        if self.how == "babbling":
            writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        elif self.how != "closing":
            writer.write(_token_answer(self.how))
        writer.close()


def _token_answer(how: str) -> bytes:
    """Return what the endpoint for tokens answers: a status, a token, or a body as it is."""
    status = how if how.isdigit() else "200"
    body = (
        json.dumps({"error": {"message": "canary"}} if how.isdigit() else TOKEN)
        if how in _SPOKEN
        else how
    )
    head = (
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close"
    )
    return f"{head}\r\n\r\n{body}".encode()


_SPOKEN = {"gives", "400", "403", "500"}


@asynccontextmanager
async def trap(how: str) -> AsyncIterator[Trap]:
    """Listen while the block runs: silent, resetting, closing, babbling, or an endpoint for tokens.

    `closed` does not listen.
    """
    made = Trap(how)
    async with AsyncExitStack() as listens:
        made.address = await listens.enter_async_context(listening(made._serve))
        if how == "closed":
            await listens.aclose()
        yield made
