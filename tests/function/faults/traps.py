"""Traps in a server's place: what a wrong address or a broken network looks like from outside."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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


_SPOKEN = {"gives", "403"}


@asynccontextmanager
async def trap(how: str) -> AsyncIterator[Trap]:
    """Listen while the block runs: silent, or an endpoint for tokens.

    `closed` does not listen, and keeps its port from everybody else.
    """
    made = Trap(how)
    if how == "closed":
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            made.address = f"127.0.0.1:{taken.getsockname()[1]}"
            yield made
        return
    async with listening(made._serve) as made.address:
        yield made
