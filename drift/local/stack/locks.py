"""A lock on a file that ends with the processes that hold it, however they end."""

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
