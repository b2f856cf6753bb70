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
    """A lock for one holder, or a shared one for many.

    It is held while any process holds its descriptor.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is opened yet."""
        self.path = path
        self.descriptor = -1

    @property
    def held(self) -> bool:
        """Say whether this object holds the lock."""
        return self.descriptor >= 0

    def try_acquire(self, *, shared: bool = False) -> bool:
        """Take the lock if nobody holds it who excludes us.

        A holder of its own leaves its pid in the file.

        Raises:
            LocalStackError: the file cannot be opened or locked at all.
        """
        descriptor = self._open()
        try:
            if self._flock(descriptor, shared=shared):
                self.descriptor = descriptor
        finally:
            if not self.held:
                os.close(descriptor)

        if self.held and not shared:
            with contextlib.suppress(OSError):  # a full disk: the pid is for people only
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return self.held

    def is_free(self) -> bool:
        """Say whether nobody holds the lock alone.

        Those who look at the same moment do not see each other.
        """
        return self._could_be_taken(shared=True)

    def is_unused(self) -> bool:
        """Say whether nobody holds the lock, alone or shared."""
        return self._could_be_taken(shared=False)

    def acquire(self, timeout_s: float, cancelled: threading.Event | None = None) -> bool:
        """Wait for the lock, at most `timeout_s` seconds.

        Return False when it is still held, or the wait was cancelled.
        """
        deadline = time.monotonic() + timeout_s
        while not self.try_acquire():
            if time.monotonic() >= deadline or (cancelled and cancelled.is_set()):
                return False
            wait_until(deadline)
        return True

    def release(self) -> None:
        """Let go; processes that inherited the descriptor may still hold the lock."""
        if self.held:
            os.close(self.descriptor)
            self.descriptor = -1

    def holder(self) -> int | None:
        """Return the pid that last took the lock for itself, as far as the file says."""
        with contextlib.suppress(OSError, ValueError):
            return int(self.path.read_text())
        return None

    def _could_be_taken(self, *, shared: bool) -> bool:
        if not self.path.exists():
            return True
        descriptor = self._open()
        try:
            return self._flock(descriptor, shared=shared)
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalStackError(
                f"The file {self.path} cannot be used ({error.strerror}): free the way, or name "
                f"another folder."
            ) from error

    def _flock(self, descriptor: int, *, shared: bool) -> bool:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
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
