"""Serves an app on loopback, for this machine alone; its end waits for no client."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from drift.core.errors import LocalStackError
from drift.local.hosts.same_machine import SameMachine
from drift.local.stack.loopback import HOST, candidates, listen

GRACE_S = 3.0
"""How long requests that have been told to end may take to do so."""
ARRIVAL_S = 30.0
"""How long a request may take to arrive, head and body, from the connection or the last answer."""
KEEP_ALIVE_S = 20
"""How long a connection without a request is kept; `httpx` keeps its own for five seconds."""
MAX_AHEAD_BYTES = 1 << 17
"""What a client may send before its request is answered: a next one with the largest body, and its
head."""


@asynccontextmanager
async def listening(
    app: ASGIApp,
    port: int | None = None,
    preferred: int | None = None,
    *,
    allowed: Collection[str] = (),
    end: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[str]:
    """Serve an app on loopback, for this machine alone; ports are those of `serving`.

    At the end, `end` tells requests to end, and after a grace those are cut that have not ended.

    Raises:
        LocalStackError: when the port is taken.
    """
    listener = _listener(port, preferred)
    logging.getLogger("uvicorn.error").addFilter(_is_fault)
    # uvicorn writes of faults alone: the command line says what people need to know
    config = uvicorn.Config(
        SameMachine(app, allowed),
        http=_Protocol,
        ws="none",
        log_level="error",
        access_log=False,
        lifespan="off",
        # longer than clients keep one: a request into a connection that is being closed is lost
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    server = _SignalFreeServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn offers a flag, no event
            await asyncio.sleep(0.01)
        if task.done():
            raise LocalStackError("The local host could not be started.") from task.exception()
        yield f"http://{HOST}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        if end:
            await end()

        await asyncio.wait({task}, timeout=GRACE_S)
        if not task.done():  # clients that do not read, or a health check that waits
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            for handling in server.server_state.tasks:
                handling.cancel()

        await task
        listener.close()


def _is_fault(record: logging.LogRecord) -> bool:
    """Tell whether a line is of more than a request that was cut at the end."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


class _SignalFreeServer(uvicorn.Server):
    """Leaves signals to the command that runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Protocol(H11Protocol):
    """Reads on while it answers, to see a client leave; waits `ARRIVAL_S` for a request."""

    _given_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._wait_no_longer()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        """Begin to wait, unless the request is there, is waited for already, or none can come."""
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._wait_no_longer()
        elif self._given_up is None and not self.transport.is_closing():
            self._given_up = self.loop.call_later(ARRIVAL_S, self.transport.abort)

    def _wait_no_longer(self) -> None:
        if self._given_up:
            self._given_up.cancel()
            self._given_up = None

    def data_received(self, data: bytes) -> None:
        """Take data; a connection that sends too much ahead of its answer is cut."""
        super().data_received(data)
        self._wait()
        if self.conn.their_state is h11.DONE and self.flow.read_paused:
            if len(self.conn.trailing_data[0]) > MAX_AHEAD_BYTES:
                self.transport.abort()
            else:
                self.flow.resume_reading()


def _listener(port: int | None, preferred: int | None) -> socket.socket:
    for candidate in (port,) if port == 0 else candidates(port, preferred):
        try:
            return listen(candidate)
        except OSError as error:
            failure = error
    raise LocalStackError(
        f"No port on {HOST} can be used ({failure.strerror}); name one with --port."
    ) from failure
