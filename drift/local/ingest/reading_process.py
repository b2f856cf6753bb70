"""Work on files in a process of its own, which can be ended whatever it is at.

A parser or a pattern cannot be stopped inside a thread, and one that takes long keeps the event
loop from renewing a lease and from noticing Ctrl-C.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Self

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped
from drift.local.ingest.files import MAX_FILE_SECONDS, Result, guarded


class ReadingProcess:
    """One process at a time, begun with the first file, and anew after one that had to be ended."""

    def __init__(self) -> None:
        """Begin nothing yet."""
        self._turn = threading.Lock()
        self._starting = threading.Lock()
        self._child: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        """Return the process, which is ended behind the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the process."""
        self.close()

    def guarded(
        self, name: str, work: Callable[[], Result], seconds: float | None = MAX_FILE_SECONDS
    ) -> Result | Skipped:
        """Return what the work on one file gives, as `files.guarded` does; both are picklable.

        It is a skipped file as well when the work takes longer than so many seconds, or ends its
        process; IngestError when the process was closed meanwhile.
        """
        with self._turn:
            child, connection = self._running()
            try:
                connection.send((name, work, seconds))
                done: Result | Skipped = connection.recv()
            except (EOFError, OSError):
                return Skipped(
                    name, self._why_it_ended(child, connection, seconds), unreadable=True
                )

            return done

    def close(self) -> None:
        """End the process at once, whatever it is at, and whoever waits for it."""
        with self._starting:
            self._is_closed = True
            if self._child:
                child, _ = self._child
                child.kill()
                child.wait()

    def _running(self) -> tuple[subprocess.Popen[bytes], Connection]:
        with self._starting:
            self._require_open()
            if self._child is None:
                ours, theirs = Pipe()
                with theirs:
                    fd = theirs.fileno()
                    command = [sys.executable, "-m", __name__, str(fd)]
                    # Of a session of its own: Ctrl-C is for the command.
                    child = subprocess.Popen(  # noqa: S603 - our own module
                        command, pass_fds=(fd,), stdin=subprocess.DEVNULL, start_new_session=True
                    )

                self._child = child, ours

            return self._child

    def _why_it_ended(
        self, child: subprocess.Popen[bytes], connection: Connection, seconds: float | None
    ) -> str:
        """Forget a process that does not answer any more, and return the reason."""
        connection.close()
        child.kill()
        code = child.wait()
        with self._starting:
            self._child = None
            self._require_open()

        if code == -signal.SIGALRM:
            return f"takes longer than {seconds:g} seconds to read"
        return f"ended the process that read it ({'signal' if code < 0 else 'code'} {abs(code)})"

    def _require_open(self) -> None:
        if self._is_closed:
            raise IngestError("The documents were not read: reading was stopped.")


def _serve(connection: Connection) -> None:
    """Do what is asked for; the system ends this process at the limit of a file, even inside C."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            name, work, seconds = connection.recv()
            signal.setitimer(signal.ITIMER_REAL, seconds or 0)
            done = guarded(name, work)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(done)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
