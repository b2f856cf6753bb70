"""A TCP proxy for tests, in front of a server.

It can cut the connections through it, or swallow what they carry.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

STEPS = 10
"""Of the event loop, in which a connection that it has accepted begins to be served."""


@dataclass(eq=False)
class _Pair:
    """A connection of a client and the one that belongs to it at the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    swallowed: bool = False

    def abort(self, *, reset: bool) -> None:
        for writer in (self.client, self.server):
            connection: socket.socket | None = writer.get_extra_info("socket")
            if reset and connection is not None:
                with suppress(OSError):  # closed already
                    connection.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
            writer.transport.abort()


@dataclass
class Proxy:
    """Listens on `port`; `accepted` counts the connections that clients have opened so far."""

    host: str
    server_port: int
    port: int = 0
    accepted: int = 0
    swallows_new: bool = False
    _pairs: set[_Pair] = field(default_factory=set)

    def finish(self) -> None:
        """Close every open connection as a server does that ends in good order (FIN)."""
        self._cut(reset=False)

    def reset(self) -> None:
        """Reset every open connection (RST)."""
        self._cut(reset=True)

    def swallow(self, *, new: bool = False) -> None:
        """From now on no byte gets through on the open connections, and neither end is told.

        `new`: on later ones too.

        This is what a load balancer does that has forgotten an idle connection.
        """
        self.swallows_new = new
        for pair in self._pairs:
            pair.swallowed = True

    def heal(self) -> None:
        """Let new connections through again; those that were swallowed stay so."""
        self.swallows_new = False

    @property
    def open(self) -> int:
        """How many connections clients have open, as far as the proxy knows."""
        return len(self._pairs)

    def _cut(self, *, reset: bool) -> None:
        for pair in self._pairs:
            pair.abort(reset=reset)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            server_reader, server_writer = await asyncio.open_connection(
                self.host, self.server_port
            )
        except OSError:
            return
        pair = _Pair(writer, server_writer, self.swallows_new)
        self._pairs.add(pair)
        ways = [
            asyncio.create_task(self._carry(pair, reader, server_writer)),
            asyncio.create_task(self._carry(pair, server_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._pairs.discard(pair)
            pair.abort(reset=False)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    @staticmethod
    async def _carry(
        pair: _Pair, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65536):
            if not pair.swallowed:
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def proxied(server_port: int, host: str = "127.0.0.1") -> AsyncIterator[Proxy]:
    """Have a proxy in front of a server on loopback while the block runs."""
    proxy = Proxy(host, server_port)
    calls: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        calls.add(task)
        try:
            with suppress(asyncio.CancelledError):
                await proxy._serve(reader, writer)
        finally:
            writer.transport.abort()  # also where it ends before the server is reached
            calls.discard(task)

    server = await asyncio.start_server(serve, host, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for _ in range(STEPS):  # what was accepted before begins to be served
            await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.sleep(0)  # aborted connections are closed by the loop's next step
