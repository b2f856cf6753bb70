"""Locks on files that end with the processes that hold them, however they end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.stack.children import wait_until


class FileLock:
    """A lock for one holder; it is held while any process holds its descriptor."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is opened yet."""
        self.path = path
        self.descriptor = -1

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it; the holder's pid stands in the file, for people.

        Raises:
            LocalStackError: the file cannot be opened or locked at all.
        """
        descriptor = self._open()
        try:
            if self._flock(descriptor, fcntl.LOCK_EX):
                self.descriptor = descriptor
        finally:
            if self.descriptor != descriptor:
                os.close(descriptor)

        if self.descriptor != descriptor:
            return False

        with contextlib.suppress(OSError):  # a full disk
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)

        return True

    def is_free(self) -> bool:
        """Say whether nobody holds the lock."""
        if not self.path.exists():
            return True

        descriptor = self._open()
        try:
            return self._flock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def acquire(self, timeout_s: float, cancelled: threading.Event | None = None) -> bool:
        """Wait for the lock; return False when it is still held, or that was cancelled."""
        deadline = time.monotonic() + timeout_s
        while not self.try_acquire():
            if time.monotonic() >= deadline or (cancelled and cancelled.is_set()):
                return False
            wait_until(deadline)
        return True

    def release(self) -> None:
        """Let go; processes that inherited the descriptor may still hold the lock."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def holder(self) -> int | None:
        """Return the pid that last took the lock, as far as the file says."""
        with contextlib.suppress(OSError, ValueError):
            return int(self.path.read_text())
        return None

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalStackError(
                f"The file {self.path} cannot be used ({error.strerror}): free the way, or name "
                f"another folder."
            ) from error

    def _flock(self, descriptor: int, kind: int) -> bool:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise LocalStackError(
                f"The file system of {self.path} cannot lock files ({error.strerror}): name a "
                f"folder on another one."
            ) from error
        return True


class Users:
    """The file whose lock all hold who use servers of another: while one does, they stay.

    Who starts servers makes it, and who ends them removes it; nobody joins them from then on.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is opened yet."""
        self.path = path
        self._descriptor = -1

    def make(self) -> None:
        """Begin anew, without users."""
        self.remove()
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)

    def join(self) -> bool:
        """Be one of them; False where the servers end, or nobody has started them."""
        self.close()
        try:
            self._descriptor = os.open(self.path, os.O_RDWR)
        except OSError:
            return False
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if self.is_current():
                return True
        self.close()
        return False

    def is_current(self) -> bool:
        """Say whether the servers are still those that this file was made for."""
        return self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink > 0

    def is_empty(self) -> bool:
        """Say to who made it whether nobody else uses the servers; nobody begins to after that."""
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Use the servers no longer."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
