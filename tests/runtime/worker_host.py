"""A loopback Functions host around the real worker library (Python 3.13).

It indexes the app in a folder and carries HTTP to it. As on the platform, the request itself is
forwarded to the worker's own port, beside an invocation that holds only the route's parameters.

Run `python -m tests.runtime.worker_host FOLDER [KEY]`: it prints one JSON line with its URL
and what the worker has named, then serves until its standard input ends. `GET /-/state` says what
the worker holds, `POST /-/timers/NAME` lets a timer fire and waits for its function.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from drift.local.stack.loopback import HOST, listen
from tests.runtime.worker.front import Front
from tests.runtime.worker.functions import INVOCATION, Worker


class InvocationLines(logging.Formatter):
    """One JSON line a record, with the invocation that the code which wrote it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = {
            "logger": record.name,
            "message": record.getMessage(),
            "invocation": INVOCATION.get(),
            "retrieval_id": getattr(record, "retrieval_id", None),
        }
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields)


@contextlib.asynccontextmanager
async def serving(folder: Path, key: str) -> AsyncIterator[dict[str, Any]]:
    """Serve the app of a folder on loopback while the block runs.

    Yields its `url`, and the `capabilities`, `triggers` and `timers` that the worker has named.
    """
    sys.path.insert(0, str(folder))
    behind = Worker()
    await behind.start(folder)
    listener = listen(0)
    async with await asyncio.start_server(Front(behind, key).serve, sock=listener):
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        told = {"capabilities": behind.capabilities, "triggers": behind.triggers}
        yield {"url": url, **told, "timers": behind.timers}


async def main(folder: Path, key: str) -> None:
    """Serve until standard input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what the worker prints belongs into the log
    lines = logging.StreamHandler()
    lines.setFormatter(InvocationLines())
    logging.basicConfig(level=logging.INFO, handlers=[lines])
    async with serving(folder, key) as worker:
        answers.write(json.dumps(worker) + "\n")
        answers.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), *sys.argv[2:3] or [""]))
