"""A model server for one machine, as a process: no network, key or GPU needed.

Run `python -m drift.local.model_server.server`. It prints one line of JSON, `{"url": ..., "pid":
...}`, once it answers, and ends on SIGTERM, on SIGINT and, with `--with-parent`, when its standard
input ends, as it does when the parent dies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette

from drift.core.errors import LocalStackError
from drift.llm import local_embedding as embedding
from drift.local.model_server.api import ModelApi
from drift.local.stack.loopback import HOST, listen

GRACE_S = 1
"""Seconds that running requests get when the server is stopped."""


class _AnnouncingServer(uvicorn.Server):
    """Announces itself once it listens."""

    def announce(self, url: str) -> None:
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        sys.stdout.write(json.dumps({"url": self._url, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; return 0, or 1 with the reason on stderr when it cannot start."""
    options = parser(__doc__ or "").parse_args(arguments)
    return serve(ModelApi().app(), options.port, with_parent=options.with_parent)


def parser(description: str) -> argparse.ArgumentParser:
    """Return what each command line of a model server takes: `--port` and `--with-parent`."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    made.add_argument("--with-parent", action="store_true", help="end when standard input ends")
    return made


def serve(app: Starlette, port: int, *, with_parent: bool) -> int:
    """Serve the routes at a port until told to stop; return the exit code."""
    try:
        embedding.load()
        listening = _listen(port)
    except LocalStackError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1

    config = uvicorn.Config(
        app,
        log_level="critical",  # a client that goes away is no line of log
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _AnnouncingServer(config)
    server.announce(f"http://{HOST}:{listening.getsockname()[1]}")
    if with_parent:
        threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()

    # a shell that starts it in the background has its SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asyncio.run(server.serve(sockets=[listening]))
    except KeyboardInterrupt:
        return 130

    return 0


def _listen(port: int) -> socket.socket:
    """Bind the port; a LocalStackError where it is taken."""
    try:
        return listen(port)
    except (OSError, OverflowError) as error:
        raise LocalStackError(
            f"Port {port} of {HOST} cannot be used ({error}): choose another with --port."
        ) from error


def _end_with_stdin(server: uvicorn.Server) -> None:
    """Stop the server when nobody can write to standard input any more."""
    # Not sys.stdin: a thread that waits in its buffer would hold its lock while the interpreter
    # ends.
    while os.read(0, 4096):
        pass
    server.should_exit = True


if __name__ == "__main__":
    sys.exit(main())
