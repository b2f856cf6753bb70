"""Work on files in a process of its own, which can be ended whatever it is at.

A parser or a pattern cannot be stopped inside a thread, one that takes long keeps the event loop
from renewing a lease and from noticing Ctrl-C, and one that takes all memory ends whoever it is in.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol, Self, TypeVar

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped

MAX_FILE_SECONDS = 120.0
"""What one file may take to read, and again to cut, where it is read in a process of its own."""
MEMORY_MB = 1024
"""What one file may take of memory there."""

_MAX_REASON = 200

Result = TypeVar("Result")


class Guard(Protocol):
    """Does the work on one file as `guarded` does, or `ReadingProcess.guarded`."""

    def __call__(
        self, name: str, work: Callable[[], Result], seconds: float | None = MAX_FILE_SECONDS
    ) -> Result | Skipped:
        """Return what the work gives, or why the file is skipped."""


def guarded(
    name: str,
    work: Callable[[], Result],
    seconds: float | None = None,  # noqa: ARG001 - nothing can be ended in this process
) -> Result | Skipped:
    """Return what the work gives; an error of whatever kind makes it a skipped file.

    It may be readable the next time: what the file itself is to blame for is no error, but told.
    """
    try:
        return work()
    except OSError as error:
        reason = f"cannot be read: {words_of(error)}"
    except MemoryError:
        reason = "takes more memory to read than it may (READING_MEMORY_MB)"
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own, and the next file is not to blame
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        reason = f"cannot be understood ({' '.join(what.split())[:_MAX_REASON]})"

    return Skipped(name, reason, unreadable=True)


def words_of(error: Exception) -> str:
    """Return the system's words for what went wrong, without the path."""
    return getattr(error, "strerror", None) or str(error)


class ReadingProcess:
    """One process at a time, begun with the first file, and anew after one that had to be ended.

    What has a limit of time has one of memory as well, beside what the process has when it begins,
    where the system knows one (Linux). None leaves it without.
    """

    def __init__(self, memory_mb: int | None = MEMORY_MB) -> None:
        """Begin nothing yet."""
        self._memory_mb = memory_mb
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
        """Return what the work on one file gives, as `guarded` does; both are picklable.

        It is a skipped file as well when the work takes longer than so many seconds, more memory
        than it may, or ends its process; IngestError when the process was closed meanwhile.
        """
        with self._turn:
            try:
                child, connection = self._running()
            except OSError as error:
                reason = f"has no process that reads it: {words_of(error)}"
                return Skipped(name, reason, unreadable=True)
            try:
                connection.send((name, work, seconds, self._memory_mb))
                done: Result | Skipped
                done, is_spent = connection.recv()
            except (EOFError, OSError):
                why = _why_it_ended(self._forget(child, connection), seconds)
                return Skipped(name, why, unreadable=True)

            if is_spent:
                self._forget(child, connection)
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
        # A host may have found our modules by a path that its children are not told.
        server = (
            "import sys; sys.path[:] = sys.argv[2:]; "
            "from drift.indexing.reading_process import serve; serve(int(sys.argv[1]))"
        )
        with self._starting:
            self._require_open()
            if self._child is None:
                ours, theirs = Pipe()
                with theirs:
                    fd = theirs.fileno()
                    path = filter(None, sys.path)
                    command = [sys.executable, "-P", "-c", server, str(fd), *path]
                    # Of a session of its own: Ctrl-C is for the command.
                    child = subprocess.Popen(  # noqa: S603 - our own module
                        command, pass_fds=(fd,), stdin=subprocess.DEVNULL, start_new_session=True
                    )

                self._child = child, ours

            return self._child

    def _forget(self, child: subprocess.Popen[bytes], connection: Connection) -> int:
        """End a process that is of no more use, and return the code it ended with."""
        connection.close()
        child.kill()
        code = child.wait()
        with self._starting:
            self._child = None
            self._require_open()
        return code

    def _require_open(self) -> None:
        if self._is_closed:
            raise IngestError("The documents were not read: reading was stopped.")


def _why_it_ended(code: int, seconds: float | None) -> str:
    if code == -signal.SIGALRM:
        return f"takes longer than {seconds:g} seconds to read"
    how = f"{'signal' if code < 0 else 'code'} {abs(code)}"
    return f"ended the process that read it ({how}), maybe for want of memory (READING_MEMORY_MB)"


def serve(fd: int) -> None:
    """Do what is asked for; the system ends this process at the limit of a file, even inside C."""
    connection, own = Connection(fd), _address_space()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            name, work, seconds, memory_mb = connection.recv()
            memory = (memory_mb or 0) * 2**20
            signal.setitimer(signal.ITIMER_REAL, seconds or 0)
            with _limited(memory if seconds else 0):
                done = guarded(name, work)
            signal.setitimer(signal.ITIMER_REAL, 0)
            # What is left of a large file is given back by the end of the process alone.
            connection.send((done, 2 * (_address_space() - own) > (memory or 2**30)))


@contextmanager
def _limited(memory: int) -> Iterator[None]:
    """Give the block so many bytes of addresses more, and then as many as before; 0 is no limit."""
    if not memory or not _address_space():
        yield
        return

    import resource  # noqa: PLC0415 - not on every system

    before, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space() + memory
    limit = min(one for one in (wanted, before, most) if one != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))


def _address_space() -> int:
    """Return the bytes of addresses that this process has; 0 where the system does not say it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0
