"""A server of a test's own, for one block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from drift.local.stack.loopback import HOST
from tests.proxy import STEPS

Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(connected: Connected) -> AsyncIterator[str]:
    """Have each connection served by `connected` while the block runs; yield the address.

    What is open at the end is cut.
    """
    writers: list[asyncio.StreamWriter] = []

    async def remembered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await connected(reader, writer)

    server = await asyncio.start_server(remembered, HOST, 0)
    try:
        yield f"{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for _ in range(STEPS):  # what was accepted before begins to be served
            await asyncio.sleep(0)
        for writer in writers:
            if not writer.transport.is_closing():
                writer.transport.abort()
        await asyncio.sleep(0)
