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

from drift.core.errors import LocalStackError
from drift.local.model_server import embedding
from drift.local.model_server.api import ModelApi
from drift.local.stack.loopback import HOST, listen

GRACE_S = 1
"""Seconds that running requests get when the server is stopped."""


class _Server(uvicorn.Server):
    """Announces itself once it listens."""

    def announce(self, url: str) -> None:
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        sys.stdout.write(json.dumps({"url": self._url, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; return 0, or 1 with the reason on stderr when it cannot start."""
    options = _parser().parse_args(arguments)
    try:
        embedding.load()
        listening = _listen(options.port)
    except LocalStackError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    api = ModelApi(
        chat_s=options.chat_ms / 1000,
        embed_s=options.embed_ms / 1000,
        token_s=options.token_ms / 1000,
        remembers=options.remember,
    )
    # An interrupted answer is what the faults are for: no line of log for it.
    config = uvicorn.Config(
        api.app(),
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config)
    server.announce(f"http://{HOST}:{listening.getsockname()[1]}")
    if options.with_parent:
        threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
    asyncio.run(server.serve(sockets=[listening]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m drift.local.model_server.server", description=__doc__
    )
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    parser.add_argument("--chat-ms", type=float, default=0.0, help="latency of a chat completion")
    parser.add_argument(
        "--embed-ms", type=float, default=0.0, help="latency of an embedding request"
    )
    parser.add_argument(
        "--token-ms", type=float, default=0.0, help="latency of each token of a chat reply"
    )
    parser.add_argument(
        "--remember", action="store_true", help="answer what was asked before without any work"
    )
    parser.add_argument("--with-parent", action="store_true", help="end when standard input ends")
    return parser


def _listen(port: int) -> socket.socket:
    """Bind the port.

    Raises:
        LocalStackError: when it is taken.
    """
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
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
